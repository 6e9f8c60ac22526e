"""The review at a terminal: one key each for a person, a list for everybody else, nothing for an agent."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console
from tests.faces.conftest import Faces, faces, served, short  # noqa: F401 - fixtures

from flywheel.api import Api, Done, Page, ReviewItem
from flywheel.cli.decide import plain, until
from flywheel.cli.review import Walk, show_item
from flywheel.errors import BadInput, Conflict, FlywheelError
from flywheel.knowledge.doors import marks
from flywheel.model import Micros

ITEM = ReviewItem(
    kind="entry", id="e1", short="7f3a1c", entry="7f3a1c", title="Valkey for the cache", statement="We use Valkey.",
    type="decision", status="candidate", scope="", category="decisions", evidence=3, at=Micros(1_780_000_000_000_000),
    said_by="user", where="session [fw:555555] A talk", quote="We use Valkey.", before="Before it.\nListen: ",
    after=" Go on.", diff=["+# Valkey", "-old", " same"], contradicts=["[fw:111111] Redis (confirmed)"],
    why=["contradicts what is confirmed"],
)  # fmt: skip


@dataclass
class Stub:
    """An Api that remembers what it was told to do."""

    done: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    error: FlywheelError | None = None

    def __getattr__(self, verb: str) -> Callable[..., Done]:
        def act(**given: Any) -> Done:
            if self.error is not None:
                error, self.error = self.error, None
                raise error
            self.done.append((verb, given))
            return Done(ok=True, message=f"{verb} done", counts={"changed": 1})

        return act


def walk(
    keys: str, answers: Sequence[str] = (), items: Sequence[ReviewItem] = (ITEM,), stub: Stub | None = None
) -> Stub:
    """Walk through items with these keys and lines."""
    api, pressed, given = stub or Stub(), iter(keys), iter(answers)
    paper = Console(file=io.StringIO(), width=100)
    one = Walk(
        api=cast(Api, api), who="mara", paper=paper, key=lambda: next(pressed), ask=lambda q, default: next(given),
        now=lambda: 1_000_000.0,
    )  # fmt: skip
    one.all(items)
    return api


WHO = {"who": "mara", "door": "terminal"}


@pytest.mark.parametrize(
    ("keys", "answers", "verb", "given"),
    [
        ("c", [], "confirm", {"ids": ["e1"], "reread": []}),
        ("r", ["not so"], "reject", {"ids": ["e1"], "reason": "not so"}),
        ("e", ["fact", "plan:pro"], "confirm", {"ids": ["e1"], "type": "fact", "scope": "plan:pro", "reread": []}),
        ("m", ["[fw:222222]"], "merge", {"ids": ["7f3a1c"], "into": "222222"}),
        ("d", ["2d"], "defer", {"ids": ["7f3a1c"], "until": 1_172_800_000_000}),
    ],
)
def test_one_key_decides(keys: str, answers: Sequence[str], verb: str, given: Mapping[str, Any]) -> None:
    """Each key is one verb, by the person, through the terminal."""
    assert walk(keys, answers).done == [(verb, {**given, **WHO})]


def test_keys_that_mean_nothing_are_passed_over_and_one_can_skip_and_end() -> None:
    """Nothing is decided by them."""
    items = [replace(ITEM, id=f"e{n}") for n in range(4)]
    assert [given["ids"] for _, given in walk("xyzscq", items=items).done] == [["e1"]]
    assert walk("\x03").done == [] and walk(" ").done == []


def test_similar_ones_go_in_one_go() -> None:
    """A capital takes them along, and they are not asked about again."""
    similar = [Page(id="e2", short="222222", title="Valkey", status="candidate")]
    items = [replace(ITEM, similar=similar), replace(ITEM, id="e2"), replace(ITEM, id="e3")]
    assert [given["ids"] for _, given in walk("Cc", items=items).done] == [["e1", "e2"], ["e3"]]


def test_an_error_is_told_and_another_key_is_awaited() -> None:
    """What cannot be done now is not the end of the walk."""
    done = walk("cr", [""], stub=Stub(error=Conflict("it is disputed"))).done
    assert [verb for verb, _ in done] == ["reject"]


def test_a_stale_page_is_confirmed_by_what_stood_on_the_screen() -> None:
    """The person has read the words again: that is recorded."""
    (call,) = walk("c", items=[replace(ITEM, status="stale")]).done
    assert call[1]["reread"] == ["session [fw:555555] A talk"]


def test_an_item_shows_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Statement, type, repetition, quote with its lines, the change, and what it contradicts."""
    show_item(
        Console(width=100, color_system=None),
        replace(ITEM, similar=[Page(id="x", short="222222", title="V", status="")]),
    )
    told = capsys.readouterr().out
    for part in (
        "[fw:7f3a1c] Valkey for the cache", "decision · candidate", "said in 3 sessions", "We use Valkey.",
        "│ Before it.", "│ Listen: We use Valkey. Go on.", "— user, session [fw:555555] A talk", "+# Valkey", "-old",
        "against [fw:111111] Redis (confirmed)", "! contradicts what is confirmed", "similar: [fw:222222] V",
    ):  # fmt: skip
        assert part in told, part


@pytest.mark.parametrize(
    ("text", "days"), [("1d", 1), ("2w", 14), ("1m", 30), ("1970-01-11", 10), ("soon", None), ("7", None)]
)
def test_until_when(text: str, days: int | None) -> None:
    """A span from now, or a day."""
    if days is None:
        with pytest.raises(BadInput, match="7d, 2w, 1m"):
            until(text, 0.0)
    else:
        assert until(text, 0.0) == days * 86_400_000_000


def test_ids_are_taken_as_they_are_printed() -> None:
    """With and without their ornaments."""
    assert {plain(id) for id in ("7f3a1c", "fw:7f3a1c", "[fw:7f3a1c]", " 7f3a1c ")} == {"7f3a1c"}


# ---- the program itself


def env_of(faces: Faces, **more: str) -> dict[str, str]:  # noqa: F811
    """The environment of a person whose daemon is the faces' one."""
    clean = {name: value for name, value in os.environ.items() if name not in marks(os.environ)}
    return {
        **clean,
        "FLYWHEEL_HOME": str(faces.socket.parent),
        "USER": "mara",
        "LOGNAME": "mara",
        "TERM": "dumb",
        **more,
    }


@pytest.fixture
def home(faces: Faces) -> Faces:  # noqa: F811
    """A configuration by which the command line finds the served socket."""
    (faces.socket.parent / "flywheel.toml").write_text(f'[daemon]\nsocket = "{faces.socket}"\n')
    return faces


def candidate(faces: Faces, statement: str) -> str:  # noqa: F811
    """A fresh candidate of the demo."""
    quote = faces.app.why(question="why did we move off Redis?", cwd=faces.project).reasons[0].receipts[0].quote
    given = {"statement": statement, "quote": quote, "cwd": faces.project, "type": "hypothesis", "scope": "cli"}
    return faces.app.propose(**given, agent="claude", session="s").id


def status(faces: Faces, id: str) -> str:  # noqa: F811
    """What it is now."""
    return faces.app.show(id=id).facts["status"]


def at_terminal(words: Sequence[str], env: Mapping[str, str], keys: bytes = b"", cwd: str = "/") -> tuple[int, str]:
    """Run the command line with a terminal as its stdin, stdout and stderr; (exit code, what it printed)."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "flywheel.cli", *words]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=dict(env), cwd=cwd, close_fds=True)
    os.close(slave)
    said, quiet = b"", 0
    while True:
        ready, _, _ = select.select([master], [], [], 0.25)
        if not ready:  # what is typed before the program listens is lost
            quiet += 1
            assert quiet < 240, said.decode("utf-8", "replace")
            if keys and b"[q]uit" in said:
                os.write(master, keys)
            continue
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(master)
    return process.wait(60), said.decode("utf-8", "replace")


AGENT_MARKS = [
    {"CLAUDECODE": "1"}, {"CLAUDE_CODE_ENTRYPOINT": "cli"}, {"CODEX_SANDBOX": "x"}, {"GEMINI_CLI": "1"},
    {"OPENCODE": "1"}, {"CURSOR_AGENT": "1"}, {"COPILOT_CLI": "1"},
]  # fmt: skip


@pytest.mark.parametrize("mark", AGENT_MARKS, ids=lambda mark: next(iter(mark)))
def test_inside_an_agent_a_terminal_confirms_nothing(home: Faces, mark: dict[str, str]) -> None:
    """`flywheel confirm` refuses with exit 4 and says how a person does it; nothing is decided."""
    id = candidate(home, "Airships are guessed to be slow.")
    code, told = at_terminal(["confirm", id], env_of(home, **mark))
    assert code == 4 and "inside an agent" in told and next(iter(mark)) in told and "flywheel review" in told
    assert status(home, id) == "candidate"


@pytest.mark.parametrize(
    "words",
    [["confirm", "X"], ["reject", "X"], ["invalidate", "X", "--reason", "r"], ["supersede", "X", "X"], ["pin", "X"],
     ["unpin", "X"], ["merge", "X", "X"], ["split", "X", "X"], ["defer", "X"], ["revert", "X", "1"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_through_a_pipe_nothing_is_decided(home: Faces, words: list[str]) -> None:
    """Every verb of a person refuses without a terminal, before anything is sent."""
    id = candidate(home, "Airships are guessed to be slow.")
    given = [id if word == "X" else word for word in words]
    command = [sys.executable, "-m", "flywheel.cli", *given]
    done = subprocess.run(command, env=env_of(home), capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 4 and b"no terminal" in done.stderr and done.stdout == b""
    assert status(home, id) == "candidate"


@pytest.mark.parametrize("mark", [{}, {"CLAUDECODE": "1"}], ids=["pipe", "agent"])
def test_a_review_without_a_person_only_lists(home: Faces, mark: dict[str, str]) -> None:
    """Through a pipe, and inside an agent that has a terminal: the list, and that nothing is decided here."""
    id = candidate(home, "Zeppelins are guessed to be slow.")
    words = ["review", "--cwd", home.project, "--limit", "200"]
    if mark:
        code, told = at_terminal(words, env_of(home, **mark), keys=b"ccc")
    else:
        command = [sys.executable, "-m", "flywheel.cli", *words]
        done = subprocess.run(command, env=env_of(home), capture_output=True, input=b"ccc", check=False)
        code, told = done.returncode, (done.stdout + done.stderr).decode()
    assert code == 0 and "Nothing is decided here" in told and "Zeppelins are guessed" in told
    assert "waiting" in told and status(home, id) == "candidate"


def test_a_person_at_a_terminal_confirms(home: Faces) -> None:
    """By one key in the review, and by `flywheel confirm`; the record names the person and the door."""
    id = candidate(home, "Blimps are guessed to be round.")
    code, told = at_terminal(["confirm", id, "--reason", "seen"], env_of(home))
    assert code == 0 and "confirmed" in told and status(home, id) == "confirmed"
    assert "by user:mara via terminal" in home.app.show(id=id).facts["decided"]
    code, told = at_terminal(["review", "--cwd", home.project, "--limit", "1"], env_of(home), keys=b"c")
    assert code == 0 and "1 decision." in told, told


def test_the_list_as_json(home: Faces) -> None:
    """For programs: the queue as the Api gives it."""
    candidate(home, "Kites are guessed to be light.")
    command = [sys.executable, "-m", "flywheel.cli", "review", "--cwd", home.project, "--json"]
    done = subprocess.run(command, env=env_of(home), capture_output=True, check=True)
    assert done.stdout.startswith(b'{"items":[{"kind":') and done.stderr == b""
    assert Path(home.project).is_dir()
