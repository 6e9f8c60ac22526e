"""The hook entry: what is injected, what is set going, and what is ignored."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from flywheel.api import Briefing, Item, Slice
from flywheel.hooks.claude import UNITS, answer
from flywheel.hooks.events import HookDeps, Hooks, worth_asking
from flywheel.hooks.moment import Ended, Harvest, Injected, Observe
from flywheel.model import Micros
from flywheel.text.redact import Redactor

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def briefing(*ids: str, text: str = "what is known") -> Briefing:
    items = [Item(kind="entry", id=i, short=i[:6], level="title", text=i, tokens=1) for i in ids]
    part = Slice(source="entries", items=items, tokens=len(ids), share=10)
    return Briefing(
        id="b", project_id="p", project="shop", text=text if ids else "", tokens=1, budget=9, slices=[part], micros=1
    )


@dataclass
class World:
    """A memory of ids that gives each session what it does not have yet."""

    known: list[str] = field(default_factory=lambda: ["e1", "e2"])
    ledger: dict[str, list[str]] = field(default_factory=dict)
    asked: list[dict[str, object]] = field(default_factory=list)
    now: int = 1_000_000_000
    roots: list[Path] = field(default_factory=list)
    broken: bool = False

    def assemble(
        self, *, cwd: str, query: str, agent: str, budget: int | None, session: str, exclude: Collection[str]
    ) -> Briefing:
        self.asked.append({"cwd": cwd, "query": query, "agent": agent, "budget": budget, "session": session})
        if self.broken:
            raise RuntimeError("no index")
        return briefing(*(i for i in self.known if i not in exclude))

    def hooks(self) -> Hooks:
        return Hooks(
            HookDeps(
                assemble=self.assemble,
                injected=lambda session: self.ledger.get(session, []),
                roots=lambda agent: self.roots,
                redact=Redactor(),
                now=lambda: Micros(self.now),
                reads=lambda agent, path: path.suffix == ".jsonl",
            )
        )

    def later(self, seconds: float = 60) -> None:
        self.now += int(seconds * 1_000_000)


@pytest.fixture
def world() -> World:
    return World()


def payload(event: str, **more: object) -> bytes:
    base = {"session_id": "s1", "cwd": "/w/shop", "transcript_path": "", "hook_event_name": event}
    return json.dumps(base | more).encode()


def start(hooks: Hooks, source: str = "startup", **more: object) -> bytes:
    return hooks.handle("claude", "SessionStart", payload("SessionStart", source=source, **more))[0]


def ask(hooks: Hooks, prompt: str = "why was redis dropped", **more: object) -> bytes:
    return hooks.handle("claude", "UserPromptSubmit", payload("UserPromptSubmit", prompt=prompt, **more))[0]


def text_of(answer: bytes) -> str:
    found: str = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
    return found


def test_session_start_gets_the_exact_bytes(world: World) -> None:
    """The answer is Claude Code's, key by key."""
    expected = (
        b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"what is known"},'
        b'"suppressOutput":true}'
    )
    assert start(world.hooks()) == expected
    assert world.asked == [{"cwd": "/w/shop", "query": "", "agent": "claude", "budget": None, "session": "s1"}]


def test_prompt_gets_its_own_event_name_query_and_budget(world: World) -> None:
    """A prompt is the query, under the small budget."""
    answer = ask(world.hooks())
    assert json.loads(answer)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert (world.asked[0]["query"], world.asked[0]["budget"]) == ("why was redis dropped", 600)


def test_nothing_is_injected_twice_in_a_session(world: World) -> None:
    """What the start gave, no prompt gives again; what is new, it does; another session starts afresh."""
    hooks = world.hooks()
    start(hooks)
    assert ask(hooks) == b""
    world.known.append("e3")
    world.later()
    assert ask(hooks) != b""
    world.later()
    assert ask(hooks) == b""
    assert hooks.handle("claude", "SessionStart", payload("SessionStart", session_id="s2", source="startup"))[0]


@pytest.mark.parametrize(
    ("source", "again"), [("startup", True), ("clear", True), ("compact", True), ("resume", False)]
)
def test_what_a_second_start_injects(world: World, source: str, again: bool) -> None:
    """After a compaction or a clear the context is empty; a resumed one still holds what it got."""
    hooks = world.hooks()
    start(hooks)
    world.later()
    assert bool(start(hooks, source)) is again


def test_resumed_session_gets_what_is_new(world: World) -> None:
    """A resumed session gets an entry that did not exist when it began."""
    hooks = world.hooks()
    start(hooks)
    world.later()
    world.known.append("e3")
    _, actions = hooks.handle("claude", "SessionStart", payload("SessionStart", source="resume"))
    (injected,) = actions
    assert isinstance(injected, Injected)
    assert [item.id for item in injected.briefing.slices[0].items] == ["e3"]


def test_the_ledger_speaks_for_what_an_earlier_process_injected(world: World) -> None:
    """After a restart of the daemon, a prompt does not repeat what the ledger says went in."""
    world.ledger["s1"] = ["e1"]
    _, actions = world.hooks().handle(
        "claude", "UserPromptSubmit", payload("UserPromptSubmit", prompt="drop redis now")
    )
    assert [item.id for a in actions if isinstance(a, Injected) for item in a.briefing.slices[0].items] == ["e2"]


def test_double_firing_is_answered_once(world: World) -> None:
    """The same event within seconds, as other programs that run these hooks send it, is answered and counted once."""
    hooks = world.hooks()
    assert start(hooks) and not start(hooks)
    assert hooks.counts["twin"] == 1
    hooks.handle("claude", "PostToolUse", payload("PostToolUse", tool_name="Bash", tool_use_id="t1"))
    _, actions = hooks.handle("claude", "PostToolUse", payload("PostToolUse", tool_name="Bash", tool_use_id="t1"))
    assert not actions
    _, actions = hooks.handle("claude", "PostToolUse", payload("PostToolUse", tool_name="Bash", tool_use_id="t2"))
    assert actions


def test_subagents_that_end_side_by_side_are_no_twins(world: World, tmp_path: Path) -> None:
    """Two subagents of one prompt end within the same second: both transcripts are read."""
    world.roots = [tmp_path]
    hooks = world.hooks()
    for agent in ("a1", "a2"):
        path = tmp_path / f"agent-{agent}.jsonl"
        path.touch()
        data = payload("SubagentStop", prompt_id="p1", agent_id=agent, agent_transcript_path=str(path))
        (action,) = hooks.handle("claude", "SubagentStop", data)[1]
        assert isinstance(action, Harvest) and action.path == path


def test_remembered_sessions_and_events_are_bounded(world: World) -> None:
    """A thousand sessions with many events each do not grow the memory without end, and the newest is still known."""
    hooks = world.hooks()
    for number in range(1_000):
        hooks.handle("claude", "SessionStart", payload("SessionStart", session_id=f"s{number}", source="startup"))
    for number in range(100):
        hooks.handle("claude", "PostToolUse", payload("PostToolUse", session_id="s999", tool_use_id=str(number)))
    assert len(hooks._sessions._known) <= 256
    assert len(hooks._sessions._known["s999"].seen) <= 32
    assert ask(hooks, session_id="s999") == b""


def test_subagents_get_no_briefing(world: World) -> None:
    """Settings hooks run inside subagents, too: nothing is injected there."""
    hooks = world.hooks()
    assert start(hooks, agent_id="a1") == b"" and ask(hooks, agent_id="a1") == b""
    assert hooks.counts["subagent"] == 2 and not world.asked


def test_another_program_running_these_hooks_gets_nothing(world: World) -> None:
    """Cursor runs Claude Code's hooks and would show the answer to nobody who understands it."""
    assert start(world.hooks(), cursor_version="2.0", conversation_id="c") == b""


@pytest.mark.parametrize("prompt", ["yes", "ok, go on", "/compact", "!ls -la src", "<task-notification>x y z", "", "…"])
def test_prompts_that_ask_nothing(world: World, prompt: str) -> None:
    """Assent, commands and notifications are not searched for."""
    assert ask(world.hooks(), prompt) == b"" and not world.asked


def test_what_counts_as_a_question() -> None:
    """Two words with meaning are enough, in any script."""
    assert worth_asking("fix login") and worth_asking("登录失败") and not worth_asking("and then do it")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"42", b'"x"', b"\xff\xfe", b"{}", b"[" * 50_000, b'{"session_id": 7}', b"null"]
)
def test_malformed_payloads_are_counted_and_ignored(world: World, data: bytes) -> None:
    """No payload raises, none is answered, each is counted."""
    hooks = world.hooks()
    for event in ("SessionStart", "Stop", "Nonsense"):
        assert hooks.handle("claude", event, data) == (b"", ())
    assert hooks.counts["malformed"] == 3


def test_fields_of_wrong_types_are_empty(world: World) -> None:
    """Numbers and lists in the place of texts are no error."""
    data = payload("PostToolUse", tool_name=7, tool_input=[1], duration_ms="x", cwd=None, error={}, transcript_path=[])
    _, (action,) = world.hooks().handle("claude", "PostToolUse", data)
    assert isinstance(action, Observe) and action.subject == "" and action.facts == {}


def test_lone_surrogates_pass(world: World) -> None:
    """A prompt with half an emoji, which strict parsers refuse, is a prompt."""
    data = payload("UserPromptSubmit", prompt="drop redis").replace(b"drop", b"drop \\ud83d")
    assert world.hooks().handle("claude", "UserPromptSubmit", data)[0]


def test_failing_assembly_is_an_empty_answer(world: World) -> None:
    """Whatever breaks behind the hook, the agent goes on."""
    world.broken = True
    hooks = world.hooks()
    assert start(hooks) == b"" and hooks.counts["failed"] == 1


def test_what_an_event_sets_going_happens_though_nothing_can_be_told(world: World, tmp_path: Path) -> None:
    """The store is away at a session's start: its transcript is read all the same, once it is back."""
    world.broken, world.roots = True, [tmp_path]
    path = tmp_path / "s1.jsonl"
    path.touch()
    event = payload("SessionStart", source="resume", transcript_path=str(path))
    body, actions = world.hooks().handle("claude", "SessionStart", event)
    assert body == b"" and [type(one) for one in actions] == [Harvest]


def test_unknown_agent_is_counted(world: World) -> None:
    """An agent without a file here gets nothing."""
    hooks = world.hooks()
    assert hooks.handle("nobody", "SessionStart", payload("SessionStart")) == (b"", ())
    assert hooks.counts["unknown"] == 1


def test_events_that_end_something_harvest(world: World, tmp_path: Path) -> None:
    """Stop, SessionEnd, PreCompact and SubagentStop have their transcript read; SessionEnd ends the session."""
    world.roots = [tmp_path]
    path = tmp_path / "p" / "s1.jsonl"
    path.parent.mkdir()
    path.touch()
    child = path.with_name("agent-1.jsonl")
    child.touch()
    hooks = world.hooks()
    for event in ("Stop", "PreCompact"):
        body, actions = hooks.handle("claude", event, payload(event, transcript_path=str(path)))
        assert body == b"" and [type(a) for a in actions] == [Harvest]
    _, actions = hooks.handle("claude", "SubagentStop", payload("SubagentStop", agent_transcript_path=str(child)))
    assert [a.path for a in actions if isinstance(a, Harvest)] == [child]
    end = payload("SessionEnd", transcript_path=str(path), reason="clear")
    body, actions = hooks.handle("claude", "SessionEnd", end)
    harvest, ended = actions
    assert isinstance(harvest, Harvest) and harvest.ended and harvest.delay > 0
    assert ended == Ended(agent="claude", session="s1", reason="clear")


def test_transcripts_outside_the_known_roots_are_not_followed(world: World, tmp_path: Path) -> None:
    """Neither directly, nor by dots, nor through a link; nor what is no transcript, or not there."""
    root, secret = tmp_path / "projects", tmp_path / "secret.jsonl"
    (root / "dir.jsonl").mkdir(parents=True)
    (root / "notes.txt").touch()
    secret.touch()
    (root / "link.jsonl").symlink_to(secret)
    world.roots = [root]
    hooks = world.hooks()
    bad = [
        secret,
        root / ".." / "secret.jsonl",
        root / "link.jsonl",
        root / "dir.jsonl",
        root / "notes.txt",
        root / "no.jsonl",
    ]
    for path in [*map(str, bad), "secret.jsonl", "/a\0.jsonl", "/dev/zero"]:
        world.later()
        assert hooks.handle("claude", "Stop", payload("Stop", transcript_path=path))[1] == []


def test_link_to_the_roots_is_followed(world: World, tmp_path: Path) -> None:
    """A home that is itself a link leads to transcripts all the same."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "s.jsonl").touch()
    (tmp_path / "home").symlink_to(tmp_path / "real")
    world.roots = [tmp_path / "home"]
    _, (action,) = world.hooks().handle("claude", "Stop", payload("Stop", transcript_path=f"{tmp_path}/home/s.jsonl"))
    assert isinstance(action, Harvest) and action.path == tmp_path / "real" / "s.jsonl"


def test_tools_are_observed_without_secrets_and_contents(world: World) -> None:
    """A tool's run becomes a small redacted observation; what a file held does not."""
    data = payload(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": f"curl -H 'Authorization: token {SECRET}' x", "content": "the whole file"},
        error=f"denied for {SECRET} " + "e" * 1000,
        duration_ms=12,
    )
    body, (seen,) = world.hooks().handle("claude", "PostToolUseFailure", data)
    assert body == b"" and isinstance(seen, Observe)
    assert (seen.kind, seen.subject, seen.facts["ms"]) == ("tool_failure", "Bash", 12)
    assert SECRET not in repr(seen) and "content" not in seen.facts and len(str(seen.facts["error"])) <= 320


def test_spooled_events_do_their_work_and_assemble_nothing(world: World, tmp_path: Path) -> None:
    """An event from the spool harvests; a start from the spool is not answered, for nobody listens."""
    world.roots = [tmp_path]
    (tmp_path / "s.jsonl").touch()
    hooks = world.hooks()
    assert hooks.handle("claude", "SessionStart", payload("SessionStart"), live=False) == (b"", [])
    data = payload("Stop", transcript_path=str(tmp_path / "s.jsonl"))
    assert len(hooks.handle("claude", "Stop", data, live=False)[1]) == 1 and not world.asked


def test_installers_test_event_leaves_no_trace(world: World) -> None:
    """It is answered, assembles nothing, and no ledger hears of it."""
    body, actions = world.hooks().handle("claude", "SessionStart", payload("SessionStart", flywheel_test=True))
    assert text_of(body) and not actions and not world.asked


@pytest.mark.parametrize(("text", "fits"), [("x" * UNITS, True), ("x" * (UNITS + 1), False), ("😀" * 5001, False)])
def test_answer_never_passes_the_agents_limit(text: str, fits: bool) -> None:
    """10,000 UTF-16 units reach the model whole; one more would become a preview, so nothing is said instead."""
    assert bool(answer("SessionStart", {}, briefing("e1", text=text))) is fits


def test_no_briefing_no_bytes() -> None:
    """An empty briefing is an empty answer, not an empty context."""
    assert answer("SessionStart", {}, briefing()) == b""
