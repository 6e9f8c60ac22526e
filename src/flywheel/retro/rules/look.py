"""Looking back at one session: its messages in, what it came to out; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from flywheel.harvest.rules import Draft
from flywheel.harvest.rules.values import Quote
from flywheel.model import Clean, Message, MessageKind, Micros, Retrospective, Session
from flywheel.retro.rules.abandoned import Abandoned
from flywheel.retro.rules.correcting import Corrections
from flywheel.retro.rules.discoveries import Discoveries, Discovery
from flywheel.retro.rules.ending import Ending
from flywheel.retro.rules.failures import Failures
from flywheel.retro.rules.procedure import Procedure
from flywheel.retro.rules.rereads import OFTEN as READ_OFTEN
from flywheel.retro.rules.rereads import Rereads
from flywheel.retro.rules.steps import Step, Steps, Tail
from flywheel.retro.rules.task import asked, condense
from flywheel.retro.rules.trajectory import Trajectory
from flywheel.retro.rules.values import ATTEMPTED, MOST, Point, Tally
from flywheel.retro.telling import VERSION
from flywheel.text.compose import fixed, reworded


@dataclass(slots=True, kw_only=True)
class Look:
    """Takes a session's messages in, in order; `finish` and `points` say what it came to. Memory is bounded."""

    session: Session
    task: Clean = fixed("")
    calls: Tally = field(default_factory=Tally)
    errors: Tally = field(default_factory=Tally)
    tool_calls: int = 0
    tool_errors: int = 0
    steps: Steps = field(init=False)
    ending: Ending = field(init=False)
    abandoned: Abandoned = field(init=False)
    trajectory: Trajectory = field(default_factory=Trajectory)
    failures: Failures = field(default_factory=Failures)
    rereads: Rereads = field(default_factory=Rereads)
    procedure: Procedure = field(default_factory=Procedure)
    corrections: Corrections = field(init=False)
    discoveries: Discoveries = field(default_factory=Discoveries)
    _asked: Quote | None = None
    _started: Micros | None = None

    def __post_init__(self) -> None:
        subagent = self.session.parent_id is not None
        self.steps = Steps(session=self.session)
        self.ending = Ending(subagent=subagent)
        self.abandoned = Abandoned(lowered=subagent)
        self.corrections = Corrections(root=str(self.session.cwd))

    def hear(self, message: Message, tail: Tail | None = None) -> None:
        """Take one message in; ``tail``: the end of a failed result that was cut."""
        if message.kind is MessageKind.NOTICE:
            self.ending.notice(message)
            return
        self.ending.interrupted = False
        match message.kind:
            case MessageKind.PROMPT:
                self._prompt(message)
            case MessageKind.REPLY:
                self.ending.say(message)
                self.corrections.act(message)
                self.abandoned.say(message)
            case MessageKind.TOOL_CALL:
                self.corrections.act(message)
                self._called(message)
            case MessageKind.TOOL_RESULT:
                self._returned(message, tail)
            case _:
                pass

    def finish(self, now: Micros, tokens: int = 0) -> Retrospective:
        """The retrospective; ``updated_at`` is the session's last message, so that the same session gives the same.

        ``tokens``: what was said until the first edit, about; see `first_edit`.
        """
        self._flush()
        outcome, because = self.ending.outcome()
        first = self.trajectory.first_edit
        facts: dict[str, object] = {
            "tools": {tool: {"calls": count, "errors": self.errors[tool]} for tool, count in self.calls.often(1)},
            "failing": [
                {"command": one.command, "failures": one.failures, "successes": one.wins}
                for one in self.failures.often()
            ],
            "reread": [{"file": path, "reads": count} for path, count in self.rereads.reads.often(READ_OFTEN)],
            "edited": list(self.rereads.edited.counts)[:MOST],
            "read": [name for name in self.rereads.reads.counts if not self.rereads.edited[name]][:MOST],
            "found": [f"`{one.name}`" for one in self.discoveries.found if one.kind == "command"][:MOST],
            "open": [text for text, _ in self.ending.open_ends()],
            "because": because,
            "phases": self.trajectory.phases,
            "loops": self.trajectory.loops,
            "first_edit": {
                "seconds": max(0, first.at - self._began) // 1_000_000,
                "steps": first.number,
                "tokens": tokens,
            }
            if first is not None
            else {},
        }
        return Retrospective(
            session_id=self.session.id,
            project_id=self.session.project_id,
            task=self.task or self.session.title,
            outcome=outcome,
            turns=self.ending.turns,
            tool_calls=self.tool_calls,
            tool_errors=self.tool_errors,
            facts={name: value for name, value in facts.items() if value},
            created_at=now,
            updated_at=self.session.last_at,
            version=VERSION,
        )

    @property
    def _began(self) -> Micros:
        """When the first prompt came."""
        return self.session.started_at if self._started is None else self._started

    @property
    def first_edit(self) -> Step | None:
        """The first useful edit."""
        self._flush()
        return self.trajectory.first_edit

    def points(self, known: Sequence[Discovery], tokens: int = 0) -> list[Point]:
        """What is to be told, section by section, without what memory had: that is `rediscovery`'s."""
        self._flush()
        outcome = self.ending.outcome()[0]
        points: list[Point] = []
        if self._asked is not None and self.task:
            points.append(
                Point(section=ATTEMPTED, kind="task", subject=fixed("task"), text=self.task, cites=[self._asked])
            )
        points += self.trajectory.points(self._began, tokens)
        points += self.procedure.points(done=outcome == "done")
        points += self.corrections.points()
        points = _told_once(points, list(self.failures.points()))
        points += self.abandoned.points()
        points += self.rereads.points()
        points += self.discoveries.points(known)
        points += self.ending.points(outcome)
        return points

    def drafts(self) -> list[Draft]:
        """Candidate knowledge that only the whole way shows: what mended a failure, what led nowhere."""
        return [*self.failures.drafts(), *self.abandoned.drafts()]

    def _prompt(self, message: Message) -> None:
        self._started = message.created_at if self._started is None else self._started
        self.ending.say(message)
        self.task = self.task or condense(message.text)
        self._asked = self._asked or asked(message)
        self.discoveries.prompt(message)
        if self.session.parent_id is None:
            self.corrections.prompt(message)
            self.abandoned.say(message)

    def _called(self, message: Message) -> None:
        step = self.steps.called(message)
        self.tool_calls += 1
        self.calls.add(step.tool)

    def _returned(self, message: Message, tail: Tail | None) -> None:
        step = self.steps.returned(message, tail)
        if step is None:  # its call was lost
            self._called(message)
            step = self.steps.returned(message, tail)
        if step is not None:
            if step.failed:
                self.tool_errors += 1
                self.errors.add(step.tool)
            self._follow(step)

    def _follow(self, step: Step) -> None:
        for one in (self.ending, self.trajectory, self.failures, self.rereads, self.procedure, self.discoveries):
            one.step(step)
        self.abandoned.step(step)

    def _flush(self) -> None:
        """Calls without a result were made all the same."""
        for step in list(self.steps.open.values()):
            self._follow(step)
        self.steps.open.clear()


def _told_once(points: list[Point], failing: list[Point]) -> list[Point]:
    """Both, without the loops of commands that are told as failing: those say how often it was mended instead."""
    loops = {one.subject: one for one in points if one.kind == "loop"}
    left = [one for one in points if one.kind != "loop" or one.subject not in {other.subject for other in failing}]
    return left + [_mended(one, loops[one.subject]) if one.subject in loops else one for one in failing]


def _mended(one: Point, loop: Point) -> Point:
    how = f"; mended and run again {loop.times} times"
    head, worked, rest = one.text.partition("; then it worked")
    text = f"{head}{how} until it worked{rest}" if worked else f"{one.text}{how}"
    return replace(one, text=reworded(text, one.text), cost=max(one.cost, loop.cost))


def look_back(messages: Iterable[Message], session: Session, now: Micros) -> Retrospective:
    """What a session came to; ``messages`` in order, without retracted ones."""
    look = Look(session=session)
    for message in messages:
        look.hear(message)
    return look.finish(now)
