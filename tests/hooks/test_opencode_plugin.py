"""Our opencode plugins as a JavaScript runtime runs them, against servers that answer, hang, lie or are not there."""

from __future__ import annotations

import itertools
import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.hooks.test_client import ok, read_request, saying, serving

from flywheel.hooks import client, opencode

DRIVER = Path(__file__).with_name("opencode_driver.mjs")
NODE = shutil.which("node") or ""
pytestmark = pytest.mark.skipif(not NODE, reason="no node is installed: THE OPENCODE PLUGINS ARE NOT TESTED")

ANSWER = b'{"additionalContext":"told"}'


class Box:
    """A folder with a plugin, the hook client, its configuration and a socket path."""

    def __init__(self, folder: Path, generation: int, deadline_ms: int = 5000) -> None:
        self.folder, self.generation = folder, generation
        self.socket, self.spool = folder / "fw.sock", folder / "spool"
        shutil.copyfile(client.__file__, folder / "flywheel-hook.py")
        lines = [f"socket={self.socket}", f"spool={self.spool}", f"deadline_ms={deadline_ms}"]
        (folder / "hook.conf").write_text("\n".join(lines) + "\n")
        self.plugin = folder / "plugin.mjs"
        self.install(sys.executable)

    def install(self, program: str) -> None:
        """Write the plugin; ``program`` runs the hook client."""
        asset = opencode.ASSETS[str(self.generation)][{1: "flywheel.js", 2: "flywheel/index.ts"}[self.generation]]
        script = str(self.folder / "flywheel-hook.py")
        self.plugin.write_bytes(opencode.plugin(asset, [program, "-I", "-S", script]))

    def run(self, steps: Sequence[Any], parents: Mapping[str, str] | None = None) -> tuple[list[Any], list[float]]:
        """The outputs after each step, and the milliseconds of each; nothing may be printed to the screen."""
        given = {"plugin": str(self.plugin), "generation": self.generation, "steps": steps, "parents": parents or {}}
        done = subprocess.run(
            [NODE, str(DRIVER)], input=json.dumps(given).encode(), capture_output=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), done
        found = json.loads(done.stdout)
        return found["results"], found["spent"]

    def spooled(self) -> list[str]:
        """Events in the spool, in order."""
        return [path.name.rpartition(".")[2] for path in sorted(self.spool.iterdir())] if self.spool.is_dir() else []


def told(requests: Sequence[bytes]) -> list[tuple[str, dict[str, Any]]]:
    """Event and payload of each request, which is for opencode and of our protocol."""
    found = []
    for request in requests:
        head, _, body = request.partition(b"\r\n\r\n")
        first, *fields = head.decode().lower().split("\r\n")
        assert first.startswith("post /v1/hook/opencode/") and "x-flywheel-hook: 1" in fields
        found.append((head.decode().split(" ")[1].rpartition("/")[2], json.loads(body)))
    return found


def message(session: str = "ses_1", number: int = 1, words: str = "why was redis dropped") -> list[Any]:
    """opencode 1.x: a person's message."""
    part = {"id": f"prt_{number}", "sessionID": session, "messageID": f"msg_{number}", "type": "text", "text": words}
    return ["chat.message", {"sessionID": session}, {"message": {"id": f"msg_{number}"}, "parts": [part]}]


def system(session: str = "ses_1", text: str = "You are opencode.") -> list[Any]:
    """opencode 1.x: a request to the model is made."""
    return ["experimental.chat.system.transform", {"sessionID": session}, {"system": [text]}]


def event(kind: str, **properties: object) -> list[Any]:
    """opencode 1.x: something happened."""
    return ["event", {"event": {"type": kind, "properties": properties}}]


def request(session: str = "ses_1", kind: str = "primary") -> list[Any]:
    """opencode 2.x: a request to the model is made."""
    return ["context", {"sessionID": session, "kind": kind, "system": [], "messages": []}]


def test_a_conversation_in_opencode_1(tmp_path: Path) -> None:
    """The start is asked for once, before the prompt; requests carry the same text; a second copy does nothing."""
    box = Box(tmp_path, 1)
    steps = [
        event("session.created", info={"id": "ses_1", "directory": "/w/shop"}),
        message(),
        system(text="You are a title generator. You output"),
        system(),
        system(),
        ["tool.execute.after", {"tool": "bash", "sessionID": "ses_1", "callID": "c1", "args": {"command": "x", "n": 1}},
         {"metadata": {"exit": 2}}],
        event("message.part.updated", part={"type": "tool", "sessionID": "ses_1", "tool": "read", "callID": "c2",
                                            "state": {"status": "error", "error": "gone", "input": {"path": "/a"}}}),
        event("message.part.updated", part={"type": "tool", "sessionID": "ses_1", "state": {"status": "completed"}}),
        message(number=2),
        event("session.idle", sessionID="ses_1"),
        event("session.deleted", info={"id": "ses_1", "directory": "/w/shop"}),
    ]  # fmt: skip
    with serving(box.socket, saying(ok(ANSWER))) as seen:
        results, _ = box.run(steps)
    first = results[1]["parts"]
    assert [part["text"] for part in first] == ["why was redis dropped", "told"]
    assert first[1] == {"id": "prt_10", "sessionID": "ses_1", "messageID": "msg_1", "type": "text",
                        "synthetic": True, "text": "told"}  # fmt: skip
    assert [result["system"][1:] for result in results[2:5]] == [[], ["told"], ["told"]]
    found = told(seen)
    asked = [name for name, _ in found if name in ("SessionStart", "UserPromptSubmit")]
    assert asked == ["SessionStart", "UserPromptSubmit", "UserPromptSubmit"]
    assert sorted(name for name, _ in found if name not in asked) == [
        "PostToolUse", "PostToolUseFailure", "SessionEnd", "Stop",
    ]  # fmt: skip
    by = dict(found)
    assert by["SessionStart"]["source"] == "startup" and by["SessionStart"]["cwd"] == "/w/shop"
    assert by["PostToolUse"]["tool_input"] == {"command": "x"} and by["PostToolUse"]["exit"] == 2
    assert by["PostToolUseFailure"]["error"] == "gone"
    assert all(payload["session_id"] == "ses_1" for _, payload in found)


def test_a_compaction_in_opencode_1(tmp_path: Path) -> None:
    """The request after it has the briefing fetched anew."""
    box = Box(tmp_path, 1)
    with serving(box.socket, saying(ok(ANSWER))) as seen:
        box.run([system(), event("session.compacted", sessionID="ses_1"), system()])
    starts = [payload for name, payload in told(seen) if name == "SessionStart"]
    assert [start["source"] for start in starts] == ["startup", "compact"]
    assert starts[0]["twin"] != starts[1]["twin"]
    assert "PostCompact" in dict(told(seen))


@pytest.mark.parametrize("announced", [True, False])
def test_a_subagent_in_opencode_1(tmp_path: Path, announced: bool) -> None:
    """A session with a parent is told nothing, whether its creation was seen or it is older; its turn's end is told."""
    box = Box(tmp_path, 1)
    info = {"id": "ses_2", "parentID": "ses_1", "directory": "/w/shop"}
    steps = [*([event("session.created", info=info)] if announced else []), message("ses_2"), system("ses_2"),
             event("session.idle", sessionID="ses_2")]  # fmt: skip
    with serving(box.socket, saying(ok(ANSWER))) as seen:
        results, _ = box.run(steps, {"ses_2": "ses_1"})
    assert results[-2]["system"] == ["You are opencode."] and len(results[-3]["parts"]) == 1
    assert [(name, payload["parent_id"]) for name, payload in told(seen)] == [("Stop", "ses_1")]


def test_a_conversation_in_opencode_2(tmp_path: Path) -> None:
    """Prompts add to the system texts in order; titles and subagents get none; a compaction starts anew."""
    box = Box(tmp_path, 2)
    prompt = ["prompt", {"sessionID": "ses_1", "messageID": "m1", "prompt": {"text": "why was redis dropped"}}]
    tool = {"sessionID": "ses_1", "tool": "bash", "id": "c1", "input": {"command": "x"}}
    steps = [
        prompt,
        request(),
        request(kind="title"),
        ["execute.after", tool | {"status": "completed", "result": {}}],
        ["execute.after", tool | {"status": "error", "error": {"message": "no"}, "id": "c2"}],
        request("ses_2"),
        ["event", {"type": "session.execution.succeeded", "data": {"sessionID": "ses_1"}}],
        ["event", {"type": "session.text.ended", "data": {"sessionID": "ses_1"}}],
        ["event", {"type": "session.compaction.ended", "data": {"sessionID": "ses_1"}}],
        request(),
        ["event", {"type": "session.deleted", "data": {"sessionID": "ses_1"}}],
    ]
    with serving(box.socket, saying(ok(ANSWER))) as seen:
        results, _ = box.run(steps, {"ses_2": "ses_1"})
    text = {"type": "text", "text": "told"}
    assert [result["system"] for result in results if "system" in result] == [[text, text], [], [], [text]]
    names = [name for name, _ in told(seen)]
    assert names[:2] == ["SessionStart", "UserPromptSubmit"]
    assert sorted(names[2:]) == [
        "PostCompact", "PostToolUse", "PostToolUseFailure", "SessionEnd", "SessionStart", "Stop",
    ]  # fmt: skip


@pytest.mark.parametrize("generation", [1, 2])
def test_without_a_daemon_the_client_takes_over(tmp_path: Path, generation: int) -> None:
    """Nothing is injected; the hook client spools what is no prompt and starts a daemon as it is configured to."""
    box = Box(tmp_path, generation)
    with (tmp_path / "hook.conf").open("a") as conf:
        conf.write(f"start=/bin/sh\nstart=-c\nstart=echo yes > {tmp_path}/started\n")
    if generation == 1:
        steps = [message(), system(), event("session.idle", sessionID="ses_1")]
        before, wanted = [message()[2], system()[2]], ["SessionStart", "Stop"]
    else:
        steps, before, wanted = [request()], [request()[1]], ["SessionStart"]
    results, _ = box.run(steps)
    assert results[: len(before)] == before
    waited(lambda: sorted(box.spooled()) == wanted and (tmp_path / "started").exists())


def test_a_daemon_that_came_later_is_asked_at_the_next_prompt(tmp_path: Path) -> None:
    """A briefing that nobody could give is asked for again when the person says something, not at every request."""
    box = Box(tmp_path, 1)
    box.install("/bin/true")  # in the hook client's place, which would ask the same server
    starts = itertools.count()

    def answer(connection: socket.socket, request: bytes) -> None:
        if b"/SessionStart " in request and next(starts):
            connection.sendall(ok(ANSWER))

    with serving(box.socket, answer) as seen:
        results, _ = box.run([message(), system(), system(), message(number=2), system()])
    assert [results[number]["system"][1:] for number in (1, 2, 4)] == [[], [], ["told"]]
    assert [name for name, _ in told(seen)].count("SessionStart") == 2


@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize(
    "answer",
    [
        ok(b"not json"),
        ok(b"[1]"),
        ok(b'{"additionalContext": 7}'),
        ok(b"null"),
        ok(b"half", length=400),
        ok(ANSWER, head=b"x-flywheel-hook: 2\r\n"),
        ok(ANSWER).replace(b"200 OK", b"500 Internal Server Error"),
        b"garbage",
        ok(b'{"additionalContext": "' + b"x" * 70_000 + b'"}'),
    ],
    ids=["text", "list", "number", "null", "half", "version", "500", "garbage", "long"],
)
def test_wrong_answers_inject_nothing(tmp_path: Path, generation: int, answer: bytes) -> None:
    """Only a complete answer of our own protocol with a text in it is believed."""
    box = Box(tmp_path, generation)
    with serving(box.socket, saying(answer)):
        results, _ = box.run([system() if generation == 1 else request()])
    assert results[0]["system"] == (["You are opencode."] if generation == 1 else [])


@pytest.mark.parametrize("generation", [1, 2])
def test_a_hanging_daemon_costs_the_deadline(tmp_path: Path, generation: int) -> None:
    """The request to the model goes out after the deadline without our text, and the event is not sent twice."""
    box = Box(tmp_path, generation, deadline_ms=100)
    released = threading.Event()

    def hang(connection: socket.socket, request: bytes) -> None:
        released.wait(30)

    with serving(box.socket, hang):
        try:
            results, spent = box.run([system() if generation == 1 else request()])
        finally:
            released.set()
    assert results[0]["system"] == (["You are opencode."] if generation == 1 else [])
    assert spent[0] < 5_000 and box.spooled() == []


@pytest.mark.parametrize("generation", [1, 2])
def test_odd_events_are_survived(tmp_path: Path, generation: int) -> None:
    """Missing fields and a plugin that was never told the command: nothing throws, nothing is printed."""
    box = Box(tmp_path, generation)
    if generation == 1:
        steps: list[Any] = [
            event("session.created"),
            event("message.part.updated", part=None),
            event("something.else"),
            ["chat.message", {}, {}],
            ["experimental.chat.system.transform", {}, {"system": ["x"]}],
            ["tool.execute.after", {}, {}],
        ]
    else:
        steps = [["prompt", {}], ["context", {"sessionID": "ses_1"}], ["execute.after", {}], ["event", {"type": "x"}]]
    with serving(box.socket, saying(ok(ANSWER))):
        box.run(steps)
    box.plugin.write_bytes(opencode.plugin("opencode.js" if generation == 1 else "opencode-v2/index.ts", []))
    box.run(steps)
    assert box.spooled() == []


def test_requests_are_read_as_the_daemon_reads_them() -> None:
    """The helper that these tests read requests with gives the whole body."""
    one, other = socket.socketpair()
    with one, other:
        other.sendall(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        assert read_request(one).endswith(b"{}")


def waited(check: Any) -> None:
    """Look until it is so; the clients run on their own."""
    patience = threading.Event()
    for _ in range(2000):
        if check():
            return
        patience.wait(0.01)
    raise AssertionError("it never came")
