"""The hook client: copies a hook's stdin to the daemon's socket, and the daemon's answer to stdout.

Run as ``python -I -S flywheel-hook.py EVENT [AGENT]``. It has no logic and imports builtins and ``_socket`` only: the
agent waits for it. It always exits 0, and prints a complete answer or nothing. Where no daemon answers, the event
goes to the spool folder, and a daemon is started if ``hook.conf`` says how. ``hook.conf`` lies beside this file,
``name=value`` per line: ``socket``, ``spool``, ``spool_files``, ``deadline_ms``, and any number of ``start`` (the
daemon's command, one argument a line) and ``env`` (``NAME=value`` for it).
"""

import _signal  # type: ignore[import-not-found]  # the builtin below `signal`, which would import enum
import _socket
import posix
import sys
import time

PROTOCOL = b"x-flywheel-hook: 1"  # sent, and demanded of the answer: another version's answer is not ours to print
MAX_PAYLOAD = 1 << 20  # bytes of stdin
MAX_ANSWER = 60_000  # bytes: fits an empty pipe, so that printing never blocks
MAX_SPOOLED = 65536  # bytes of an event that is spooled
GUARD = b"FLYWHEEL_SPAWNED"  # set in an agent that the daemon itself started (llm/agent_cli.py): not ours to answer
START_EVERY = 30.0  # seconds between two attempts at starting a daemon
HOSTS = (
    b"CLAUDECODE COPILOT_CLI CURSOR_VERSION GEMINI_SESSION_ID TERM_PROGRAM VSCODE_PID".split()
)  # markers of programs
KEPT = (
    b"HOME PATH LANG LC_ALL LC_CTYPE USER LOGNAME TZ TMPDIR CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME COPILOT_HOME"
    b" CURSOR_CONFIG_DIR OPENCODE_DB AIDER_CHAT_HISTORY_FILE"
).split()  # what a daemon must know of the user, and where agents keep their transcripts


class Late(Exception):
    """The deadline passed."""


def _late(signum: int, frame: object) -> None:
    """First alarm: give up waiting. Second alarm, a deadline later: give up everything."""
    _signal.signal(_signal.SIGALRM, lambda signum, frame: posix._exit(0))
    raise Late


def read_conf(path: str) -> dict[str, list[str]]:
    """Every ``name=value`` line of the file, values in order of appearance; raises OSError."""
    fd = posix.open(path, posix.O_RDONLY)
    text = posix.read(fd, 65536).decode("utf-8", "surrogateescape")
    posix.close(fd)
    conf: dict[str, list[str]] = {}
    for line in text.split("\n"):
        name, found, value = line.partition("=")
        if found:
            conf.setdefault(name, []).append(value)
    return conf


def read_stdin() -> bytes | None:
    """All of stdin, read to its end so that the agent can write all; None when it is longer than `MAX_PAYLOAD`."""
    parts, size = [], 0
    while part := posix.read(0, 65536):
        size += len(part)
        if size <= MAX_PAYLOAD:
            parts.append(part)
    return b"".join(parts) if size <= MAX_PAYLOAD else None


def body_of(data: bytes) -> bytes | None:
    """The body of a complete answer, empty unless it is a 200 of our own protocol; None while it is incomplete."""
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return None
    lines = head.lower().split(b"\r\n")
    lengths = [line[15:].strip() for line in lines if line.startswith(b"content-length:")]
    length = int(lengths[0]) if len(lengths) == 1 and lengths[0].isdigit() else -1
    if not lines[0].startswith(b"http/1.1 200 ") or PROTOCOL not in lines or not 0 <= length <= MAX_ANSWER:
        return b""
    return None if len(body) < length else body[:length]


def connect(path: str) -> _socket.socket:
    """A connection to the daemon; raises OSError. A path longer than the kernel takes is reached from its folder."""
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    if len(path.encode("utf-8", "surrogateescape")) > 100:
        folder, _, path = path.rpartition("/")
        posix.chdir(folder)
    sock.connect(path)
    return sock


def exchange(sock: _socket.socket, agent: str, event: str, payload: bytes) -> bytes | None:
    """Send the event, give the answer's body; None when the daemon hung up before it had answered."""
    head = f"POST /v1/hook/{agent}/{event} HTTP/1.1\r\nHost: flywheel\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n"
    around = b" ".join([name for name in HOSTS if name in posix.environ])  # who runs this; names, never values
    sock.sendall(head.encode() + PROTOCOL + b"\r\nX-Flywheel-Host: " + around + b"\r\n\r\n" + payload)
    data = b""
    try:
        while (body := body_of(data)) is None and len(data) <= 2 * MAX_ANSWER and (part := sock.recv(65536)):
            data += part
    except Late:
        return b""  # the daemon has the event
    return body


def is_prompt(event: str) -> bool:
    """Whether it holds a person's prompt, which nothing is done with later: it is not left on the disk unredacted."""
    low = event.lower()
    return event == "BeforeAgent" or ("prompt" in low and "submit" in low)


def spool(folder: str, limit: int, agent: str, event: str, payload: bytes) -> None:
    """Leave the event for the daemon to find, unless ``limit`` files wait already; raises OSError."""
    try:
        posix.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    if len(payload) > MAX_SPOOLED or len(posix.listdir(folder)) >= limit:
        return
    name = f"{time.time_ns():020}-{posix.getpid()}.{agent}.{event}"
    fd = posix.open(f"{folder}/.{name}", posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600)
    while payload:
        payload = payload[posix.write(fd, payload) :]
    posix.close(fd)
    posix.rename(f"{folder}/.{name}", f"{folder}/{name}")


def start_daemon(command: list[str], env: list[str], folder: str) -> None:
    """Start a daemon of its own session, once per `START_EVERY`; not where a file ``no-start`` lies in ``folder``."""
    if not command or "no-start" in (names := posix.listdir(folder)):
        return
    stamp = f"{folder}/last-start"
    if "last-start" in names and 0 <= time.time() - posix.stat(stamp).st_mtime < START_EVERY:
        return
    posix.close(posix.open(stamp, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC, 0o600))
    posix.utime(stamp)
    if child := posix.fork():
        posix.waitpid(child, 0)
        return
    try:
        posix.setsid()
        posix.chdir("/")  # neither hold the project's folder nor import from it
        if posix.fork() == 0:
            null = posix.open("/dev/null", posix.O_RDWR)
            for fd in (0, 1, 2):  # the agent waits for the other end of these
                posix.dup2(null, fd)
            posix.closerange(3, 1024)
            _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
            kept = {name: value for name, value in posix.environ.items() if name in KEPT or name[:4] == b"XDG_"}
            for pair in env:
                name, _, value = pair.encode("utf-8", "surrogateescape").partition(b"=")
                kept[name] = value
            posix.execve(command[0], command, kept)
    finally:
        posix._exit(0)


def run(argv: list[str]) -> bytes:
    """What to print for this event; raises anything."""
    event, agent = argv[1], argv[2] if len(argv) > 2 else "claude"
    folder = argv[0].rpartition("/")[0] or "."
    if not (event.isalnum() and agent.isalnum() and event.isascii() and agent.isascii()):
        return b""
    conf = read_conf(folder + "/hook.conf")
    deadline = min(max(int(conf.get("deadline_ms", ["200"])[0]), 1), 10_000) / 1000
    _signal.signal(_signal.SIGALRM, _late)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])
    _signal.setitimer(_signal.ITIMER_REAL, deadline, deadline)
    payload = read_stdin()
    if payload is None or GUARD in posix.environ:
        return b""
    answer = None
    try:
        answer = exchange(connect(conf["socket"][0]), agent, event, payload)
    except (OSError, Late):
        pass
    if answer is None:
        try:
            if not is_prompt(event):
                spool(conf["spool"][0], int(conf.get("spool_files", ["1000"])[0]), agent, event, payload)
        except OSError:  # no space, no right: a daemon may help
            pass
        start_daemon(conf.get("start", []), conf.get("env", []), folder)
    return answer or b""


def main() -> None:
    """Print the answer in one write, or nothing, and exit 0 whatever happens."""
    try:
        for fd in (0, 1, 2):  # a closed one would be given to the socket
            try:
                posix.fstat(fd)
            except OSError:
                posix.open("/dev/null", posix.O_RDWR)
        answer = run(sys.argv)
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        while answer:
            answer = answer[posix.write(1, answer) :]
    except BaseException:  # whatever it is, the agent goes on
        pass
    finally:
        posix._exit(0)


if __name__ == "__main__":
    main()
