"""Each real client: what one session decides, the next one is told; once, and without being slowed or harvested."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson
import pytest
from tests.clients.conftest import DECISION, FENCE, QUESTION, REPORT, ROUNDS, Desk
from tests.clients.programs import PROGRAMS, Program
from tests.clients.wire import Say
from tests.e2e.conftest import until

from flywheel.model import Session

HELLO = "Please say hello."


@dataclass(slots=True)
class Story:
    """What happened to one user of one client."""

    desk: Desk
    program: Program
    before: Mapping[str, bytes] = field(default_factory=dict)  # the home before the installation
    told: list[str] = field(default_factory=list)  # requests of the second session
    messages: list[str] = field(default_factory=list)  # prompts and replies known after it


@pytest.fixture(scope="module", params=PROGRAMS)
def story(request: pytest.FixtureRequest, desk_for: Callable[[Sequence[str]], Desk]) -> Iterator[Story]:
    """Somebody greets the client three times, installs us, takes a decision, and asks about it in a new session."""
    program = PROGRAMS[request.param]
    story = Story(desk_for([program.name]), program)
    desk = story.desk
    for _ in range(ROUNDS):
        desk.say(program, HELLO, timed=f"{program.name} without hooks")
    story.before = _settings(story)
    desk.install(program)
    desk.model.reply = "Noted."
    desk.say(program, DECISION)
    desk.decided()
    desk.house.client.context(cwd=str(desk.repository))  # the first look at a folder may take longer than a hook waits
    asked = len(desk.model.asked)
    desk.say(program, QUESTION)
    until("the second session", lambda: any(QUESTION in text for text in desk.spoken()))
    desk.settle()
    story.told = desk.model.heard(asked)
    story.messages = desk.spoken()
    yield story


def _results(value: object) -> Iterator[str]:
    """What tools answered, anywhere in a request."""
    if isinstance(value, dict):
        if value.get("type") in ("tool_result", "function_call_output"):
            yield orjson.dumps(value).decode()
        for inner in value.values():
            yield from _results(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _results(inner)


def _settings(story: Story) -> Mapping[str, bytes]:
    """The client's settings; what it writes by itself is left out."""
    homes = {"claude": ".claude/settings.json", "codex": ".codex", "gemini": ".gemini", "opencode": ".config/opencode"}
    folder = story.desk.user / homes[story.program.name]
    kept = ("config.toml", "hooks.json", "settings.json", "opencode.json")
    if folder.suffix:
        return {folder.name: folder.read_bytes()} if folder.exists() else {}
    return {name: data for name, data in story.desk.files(folder).items() if name in kept}


def test_the_second_session_is_told_what_the_first_decided(story: Story) -> None:
    """The model's input of session 2 holds our fence and the decision in it."""
    told = [body for body in story.told if FENCE in body and QUESTION in body]  # some clients escape the fence's "<"
    assert any("Valkey for the price cache" in body and "unconfirmed" in body for body in told)


def test_the_transcript_is_imported_exactly_once(story: Story) -> None:
    """Both prompts and both answers, each once; importing everything again changes nothing."""
    desk = story.desk
    assert sum(DECISION in text for text in story.messages) == 1
    assert sum(QUESTION in text for text in story.messages) == 1
    before = [message.id for message in desk.messages()]
    progress = desk.house.client.import_path(agent=story.program.name)
    until("the end of the import", lambda: desk.house.client.import_progress(id=progress.id).done)
    desk.settle()
    assert [message.id for message in desk.messages()] == before
    agents = {session.agent for session in desk.rows(Session)}
    assert agents == {story.program.name}


def test_what_we_injected_is_not_harvested(story: Story) -> None:
    """No message holds a briefing of ours, and no record or line was unreadable."""
    for message in story.desk.messages():
        assert "flywheel-briefing" not in message.text
        assert "fw:" not in message.text
    status = story.desk.house.client.status()
    assert status.bad_lines == 0
    assert status.jobs["dead"] == 0
    assert not status.problems


def test_a_client_can_ask(story: Story) -> None:
    """The model calls our tool through the client, reads the answer, and nothing of it is harvested."""
    desk, program = story.desk, story.program
    namespace, tool = program.mcp_tool
    if not tool:
        pytest.skip("asked by Claude Code and Codex")
    desk.model.planned = Say(calls=[(tool, {"question": "why Valkey for the price cache?"})], namespace=namespace)
    asked = len(desk.model.asked)
    desk.say(program, "Please ask the memory.")
    desk.settle()
    results = [text for body in desk.model.asked[asked:] for text in _results(body)]
    assert any(DECISION in text and FENCE in text for text in results), results
    assert not any("flywheel-briefing" in message.text for message in desk.messages())


def test_the_client_is_not_slowed(story: Story) -> None:
    """Reports the wall time with our hooks against the one without; the answer is the same."""
    desk, program = story.desk, story.program
    for _ in range(ROUNDS):
        assert "Noted." in desk.say(program, HELLO, timed=f"{program.name} with hooks")
    bare, hooked = (statistics.median(desk.seconds[f"{program.name} {how} hooks"]) for how in ("without", "with"))
    REPORT.append(f"{program.name}: {bare:.3f} s without hooks, {hooked:.3f} s with them, ratio {hooked / bare:.2f}")


def test_a_killed_daemon_costs_nothing(story: Story) -> None:
    """With the daemon killed the client behaves as without Flywheel, and nothing of ours reaches its model."""
    desk, program = story.desk, story.program
    desk.house.stop(kill=True)
    asked = len(desk.model.asked)
    assert "Noted." in desk.say(program, HELLO)
    assert not any(FENCE in body for body in desk.model.heard(asked))
    desk.house.start()


def test_uninstalling_leaves_the_settings_as_they_were(story: Story) -> None:
    """Byte for byte."""
    story.desk.install(story.program, "--uninstall")
    assert _settings(story) == story.before
