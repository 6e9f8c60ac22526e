"""The hook client as a real process, against real servers on loopback sockets."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from flywheel.hooks import client
from flywheel.readers import READERS

PAYLOAD = b'{"session_id":"s1","hook_event_name":"SessionStart","source":"startup"}'
Answer = Callable[[socket.socket, bytes], None]


class Box:
    """A folder with the client, its configuration and a socket path."""

    def __init__(self, folder: Path, **conf: str) -> None:
        self.folder, self.spool, self.socket = folder, folder / "spool", folder / "fw.sock"
        self.script = folder / "flywheel-hook.py"
        shutil.copyfile(client.__file__, self.script)
        self.configure(**conf)

    def configure(self, *lines: str, **conf: str) -> None:
        given = {"socket": str(self.socket), "spool": str(self.spool), "deadline_ms": "200"} | conf
        text = "".join(f"{name}={value}\n" for name, value in given.items())
        (self.folder / "hook.conf").write_text(text + "".join(line + "\n" for line in lines))

    def command(self, event: str = "SessionStart") -> list[str]:
        return [sys.executable, "-I", "-S", str(self.script), event]

    def run(self, event: str = "SessionStart", payload: bytes = PAYLOAD, env: dict[str, str] | None = None) -> bytes:
        """What the client printed; it must exit 0 and keep its standard error empty."""
        done = subprocess.run(self.command(event), input=payload, capture_output=True, timeout=60, env=env, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def spooled(self) -> list[Path]:
        return sorted(self.spool.iterdir()) if self.spool.is_dir() else []


@contextmanager
def serving(path: Path, answer: Answer) -> Iterator[list[bytes]]:
    """A server that reads one whole request per connection and lets ``answer`` do the rest; gives the requests."""
    seen: list[bytes] = []
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen(8)

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                seen.append(read_request(connection))
                answer(connection, seen[-1])

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def saying(*parts: bytes) -> Answer:
    def answer(connection: socket.socket, request: bytes) -> None:
        for part in parts:
            connection.sendall(part)

    return answer


def ok(body: bytes, length: int | None = None, head: bytes = b"x-flywheel-hook: 1\r\n") -> bytes:
    size = len(body) if length is None else length
    return b"HTTP/1.1 200 OK\r\n" + head + b"content-length: %d\r\n\r\n" % size + body


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_answer_is_copied_to_the_last_byte(box: Box) -> None:
    """A complete answer of our protocol is printed verbatim, and the daemon got the payload verbatim."""
    body = bytes(range(256)) * 30 + "日本語\n".encode()
    with serving(box.socket, saying(ok(body)[:40], ok(body)[40:5000], ok(body)[5000:])) as seen:
        assert box.run() == body
    head, _, sent = seen[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/hook/claude/SessionStart HTTP/1.1\r\n")
    assert b"connection: close" in head.lower() and b"x-flywheel-hook: 1" in head
    assert sent == PAYLOAD
    assert box.spooled() == []


def test_agent_is_the_second_argument(box: Box) -> None:
    """Another agent's name goes into the path."""
    with serving(box.socket, saying(ok(b"hi"))) as seen:
        done = subprocess.run([*box.command("Stop"), "codex"], input=b"{}", capture_output=True, check=False)
    assert done.stdout == b"hi" and seen[0].startswith(b"POST /v1/hook/codex/Stop ")


def test_the_names_of_marker_variables_are_told(box: Box) -> None:
    """Who runs the hook can be seen by which variables are set; their values, and other names, stay where they are."""
    env = {"CURSOR_VERSION": "secret-1", "CLAUDECODE": "1", "CLAUDE_CODE_MESSAGING_TOKEN": "secret-2", "HOME": "/h"}
    with serving(box.socket, saying(ok(b"hi"))) as seen:
        box.run(env=env)
        box.run(env={})
    head, bare = (request.partition(b"\r\n\r\n")[0] for request in seen)
    assert b"\r\nX-Flywheel-Host: CLAUDECODE CURSOR_VERSION" in head and b"X-Flywheel-Host: \r\n" in bare + b"\r\n"
    assert b"secret" not in head and b"TOKEN" not in head and b"HOME" not in head


@pytest.mark.parametrize(
    "parts",
    [
        [b"\x00\xff garbage \r\n\r\n" * 20],
        [b"HTTP/1.1 200 OK\r\n"],
        [ok(b"half an answ", length=400)],
        [ok(b"another version", head=b"x-flywheel-hook: 2\r\n")],
        [ok(b"no version at all", head=b"")],
        [ok(b"two lengths", head=b"x-flywheel-hook: 1\r\ncontent-length: 3\r\n")],
        [ok(b"negative", length=-4)],
        [ok(b"x" * 60_001)],
        [ok(b"gone").replace(b"200 OK", b"404 Not Found")],
        [ok(b"broken").replace(b"200 OK", b"500 Internal Server Error")],
        [b"HTTP/1.1 200 OK\r\nx-flywheel-hook: 1\r\ntransfer-encoding: chunked\r\n\r\n4\r\nnope\r\n0\r\n\r\n"],
        [b"y" * 300_000],
        [],
    ],
    ids=str.split(
        "garbage head-only half-a-body other-version no-version two-lengths negative-length too-big 404 500 chunked "
        "endless-head hangs-up"
    ),
)
def test_anything_but_a_complete_answer_prints_nothing(box: Box, parts: list[bytes]) -> None:
    """Garbage, half answers, errors and other versions: no output, exit 0."""
    with serving(box.socket, saying(*parts)):
        assert box.run() == b""


def test_slow_daemon_is_given_up_and_not_spooled(box: Box) -> None:
    """A daemon that took the event and does not answer costs the deadline, no more; the event is in its hands."""
    released = threading.Event()
    began = time.monotonic()

    def answer(connection: socket.socket, request: bytes) -> None:
        released.wait(60)

    with serving(box.socket, answer):
        try:
            assert box.run() == b""
            assert time.monotonic() - began < 10
        finally:
            released.set()
    assert box.spooled() == []


def test_half_an_answer_and_then_silence_prints_nothing(box: Box) -> None:
    """A daemon that stops in the middle of its answer costs the deadline and prints nothing."""
    released = threading.Event()

    def answer(connection: socket.socket, request: bytes) -> None:
        connection.sendall(ok(b'{"half":', length=100))
        released.wait(60)

    with serving(box.socket, answer):
        try:
            assert box.run() == b""
        finally:
            released.set()


def test_daemon_whose_queue_is_full_is_no_daemon(box: Box) -> None:
    """A socket that nobody accepts on: the event is spooled after the deadline at the latest."""
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as first:
        server.bind(str(box.socket))
        server.listen(0)
        first.connect(str(box.socket))
        assert box.run() == b""
    assert len(box.spooled()) == 1


@pytest.mark.parametrize("left", ["nothing", "stale socket", "plain file"])
def test_without_a_daemon_the_event_is_spooled(box: Box, left: str) -> None:
    """No socket, a stale one, or a file in its place: the payload waits, private, under a name that says what it is."""
    if left == "stale socket":
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(box.socket))
    if left == "plain file":
        box.socket.write_text("not a socket")
    assert box.run("Stop") == b""
    (event,) = box.spooled()
    assert event.read_bytes() == PAYLOAD
    assert event.name.split(".")[1:] == ["claude", "Stop"]
    assert stat.S_IMODE(event.stat().st_mode) == 0o600
    assert stat.S_IMODE(box.spool.stat().st_mode) == 0o700


def test_spool_is_bounded(box: Box) -> None:
    """A full spool takes no more files, and no event larger than 64 KB is spooled."""
    box.configure(spool_files="2")
    for _ in range(4):
        box.run("Stop")
    assert len(box.spooled()) == 2
    box.configure(spool_files="9")
    box.run("Stop", b"x" * 70_000)
    assert len(box.spooled()) == 2


def test_unwritable_spool_is_no_error(box: Box) -> None:
    """Where the spool cannot be made, nothing is printed and the exit is 0."""
    box.configure(spool=str(box.folder / "missing" / "spool"))
    assert box.run() == b""


def test_socket_path_longer_than_the_kernel_takes(tmp_path: Path) -> None:
    """A socket deep in the file system is reached from its folder."""
    deep = tmp_path / ("d" * 90) / ("e" * 90)
    deep.mkdir(parents=True)
    box = Box(tmp_path, socket=str(deep / "fw.sock"))
    before = Path.cwd()
    os.chdir(deep)
    try:
        with serving(Path("fw.sock"), saying(ok(b"deep"))):
            assert box.run() == b"deep"
    finally:
        os.chdir(before)


def test_oversized_payload_is_read_and_dropped(box: Box) -> None:
    """More than 1 MB on stdin is read to its end, so that the agent does not get a broken pipe, and not sent."""
    with serving(box.socket, saying(ok(b"hi"))) as seen:
        assert box.run("PostToolUse", b"x" * (3 << 20)) == b""
    assert seen == [] and box.spooled() == []


def test_stdin_that_never_ends_is_given_up(box: Box) -> None:
    """An agent that keeps stdin open costs the deadline."""
    with serving(box.socket, saying(ok(b"hi"))):
        reader, writer = os.pipe()
        try:
            done = subprocess.run(box.command(), stdin=reader, capture_output=True, timeout=60, check=False)
        finally:
            os.close(reader)
            os.close(writer)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_closed_streams(box: Box) -> None:
    """Closed stdin, stdout and stderr: the answer goes nowhere, least of all to the daemon."""
    with serving(box.socket, saying(ok(b"hi"))) as seen:
        script = '"$0" -I -S "$1" SessionStart <&- >&- 2>&-'
        done = subprocess.run(["/bin/sh", "-c", script, sys.executable, str(box.script)], timeout=60, check=False)
    assert done.returncode == 0
    assert [request.partition(b"\r\n\r\n")[2] for request in seen] == [b""]


def test_reader_that_went_away(box: Box) -> None:
    """A closed pipe at stdout ends in exit 0, not in a signal."""
    with serving(box.socket, saying(ok(b"z" * 50_000))):
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.Popen(box.command(), stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        _, errors = process.communicate(PAYLOAD, timeout=60)
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.parametrize("conf", ["", "socket", "deadline_ms=soon\n", "socket=\nspool=\n", "\x00\xff"])
def test_broken_configuration_is_silent(box: Box, conf: str) -> None:
    """An empty, half or binary hook.conf: no output, exit 0."""
    (box.folder / "hook.conf").write_text(conf)
    assert box.run() == b""


def test_missing_configuration_and_arguments_are_silent(box: Box) -> None:
    """No hook.conf, no event, an event that is no word: no output, exit 0."""
    assert box.run("../../etc") == b"" and box.spooled() == []
    for command in (box.command()[:-1], box.command()):
        (box.folder / "hook.conf").unlink(missing_ok=True)
        done = subprocess.run(command, input=b"{}", capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_daemon_is_told_where_every_agent_keeps_its_transcripts() -> None:
    """Whatever variable moves an agent's folder, the daemon that a hook starts has it; else it would read nothing."""
    asked: set[str] = set()

    class Asked(dict[str, str]):
        def get(self, name: str, default: Any = None) -> Any:
            asked.add(name)
            return default

    for reader in READERS.values():
        reader.roots("/home/dev", Asked())
    assert {"CODEX_HOME", "COPILOT_HOME", "AIDER_CHAT_HISTORY_FILE"} <= asked
    assert {name for name in asked if not name.startswith("XDG_")} <= {name.decode() for name in client.KEPT}


def test_daemon_is_started_once_with_a_clean_environment(box: Box) -> None:
    """The command runs in a session of its own, without the agent's secrets, once per 30 s."""
    said, hold = box.folder / "said", box.folder / "hold"
    os.mkfifo(said)
    os.mkfifo(hold)
    script = f"{{ env; echo FOLDER=$(pwd -P); }} > {said}; cat {hold}"
    box.configure("start=/bin/sh", "start=-c", f"start={script}", "env=FLYWHEEL_HOME=/some/where")
    env = {"PATH": os.environ["PATH"], "HOME": "/h", "CLAUDE_CODE_MESSAGING_TOKEN": "secret", "CLAUDECODE": "1"}
    box.run("Stop", env=env)  # ends although the started program still runs
    environment = dict(line.split("=", 1) for line in said.read_text().splitlines())
    hold.write_text("done")
    assert environment["FLYWHEEL_HOME"] == "/some/where" and environment["HOME"] == "/h"
    assert not any(name.startswith("CLAUDE") for name in environment)
    assert environment["FOLDER"] == "/"
    stamp = (box.folder / "last-start").stat().st_mtime_ns
    box.run("Stop", env=env)
    assert (box.folder / "last-start").stat().st_mtime_ns == stamp
    assert len(box.spooled()) == 2


def test_stopped_daemon_stays_stopped(box: Box) -> None:
    """A file ``no-start`` beside the client keeps it from starting a daemon."""
    (box.folder / "no-start").touch()
    box.configure("start=/bin/sh", "start=-c", f"start=touch {box.folder}/started")
    box.run("Stop")
    assert not (box.folder / "last-start").exists() and len(box.spooled()) == 1


def test_imports_next_to_nothing(box: Box) -> None:
    """The client's process loads builtins and _socket only: no os, json, socket, argparse, enum."""
    probe = (
        f"import sys; code = compile(open({str(box.script)!r}).read(), 'client', 'exec');"
        "before = set(sys.modules); exec(code, {'__name__': 'client'}); print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['_socket']"


def test_killed_server_in_the_middle_of_the_request(box: Box) -> None:
    """A daemon that dies before it has read the event: the event is spooled."""

    def vanish(connection: socket.socket, request: bytes) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")

    with serving(box.socket, vanish):
        assert box.run("Stop") == b""
    assert len(box.spooled()) == 1


@pytest.mark.parametrize("event", ["UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt", "userPromptSubmitted"])
def test_a_prompt_is_never_left_on_the_disk(box: Box, event: str) -> None:
    """What a person typed while no daemon ran may hold a secret, and nothing is done with it later."""
    assert box.run(event) == b"" and box.spooled() == []
