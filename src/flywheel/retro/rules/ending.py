"""How a session ended: done, failed, abandoned or unclear, by what sign, and what it left open; pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules import drafts_of
from flywheel.harvest.rules.values import Quote, quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.model import Category, Clean, Message, MessageKind
from flywheel.retro.rules.steps import CHECKS, EDIT, Step
from flywheel.retro.rules.trajectory import ticked
from flywheel.retro.rules.values import OPEN, Point
from flywheel.text.compose import fixed, join
from flywheel.text.prose import QUOTE, sentences

ENDS: Final = 5
"""Open ends of one session that are kept."""

_THANKS: Final = re.compile(
    r"(?<!not )(?<!n't )(?<!nothing )(?<!no longer )(?<!never )(?<!only )\b(?:thanks|thank\s+you|thx|perfect"
    r"|great|awesome|excellent|lovely|nice(?:\s+work)?|well\s+done|lgtm|ship\s+it|works(?:\s+now)?"
    r"|that\s+(?:fixed|did|solved)\s+it"
    r"|that's\s+(?:it|all)|all\s+good|looks\s+good|good\s+(?:job|work)|merged|approved)\b",
    re.IGNORECASE,
)
_AGREES: Final = re.compile(
    r"\s*(?:(?:very|really|so)\s+)?(?:good(?!\s+(?:question|morning|evening|point))|fine|right|exactly|yes|yep|yeah|ok(?:ay)?"
    r"|correct|cool|super|wonderful|brilliant|agreed|sounds\s+good|makes\s+sense)(?:\s+(?:catch|call|one|then|by\s+me"
    r"|with\s+me))?\s*(?:[.!,;:\u2014-]|$)",
    re.IGNORECASE,
)
"""An answer to what was done; of what follows it must be no new work."""
_ASKS: Final = re.compile(
    r"\?\s*$|\b(?:please|now|next|also|then|but|instead|can\s+you|could\s+you|let's|go\s+(?:on|ahead)|do\s+(?:that|it|this)"
    r"|add|fix|make|change|remove|try|use|put|run|write|move)\b",
    re.IGNORECASE | re.MULTILINE,
)
_UNHAPPY: Final = re.compile(
    r"\b(?:still\s+(?:broken|failing|fails|wrong|not|doesn't|the\s+same)|doesn't\s+work|does\s+not\s+work|didn't\s+work|not\s+what\s+i|wrong\s+again|no\s+luck|same\s+error|worse)\b",
    re.IGNORECASE,
)
_GIVES_UP: Final = re.compile(
    r"\bnever\s?mind\b|\b(?:i\s+give\s+up|stop\s+here|scrap\s+(?:it|that|this))\b|(?:^|[.!,;:]\s+|\b(?:then|so|let's|please|just|ok(?:ay)?)\s+)"
    r"(?:(?:forget|leave|abort|cancel)\s+(?:it|that|this)\b|forget\s+about\b|abort\b\s*[.!]?$|cancel\b\s*[.!]?$)",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n")
_CLAIMS_DONE: Final = re.compile(
    r"\b(?:all\s+(?:\d+\s+)?tests?\s+(?:now\s+)?pass|(?:is|are)\s+(?:now\s+)?(?:done|fixed|complete|in\s+place|finished|green)|done\b|fixed\b|implemented|make\s+check\s+passes|passes\b|completed)",
    re.IGNORECASE,
)
_CANNOT: Final = re.compile(
    r"\b(?:(?:could\s+not|couldn't|can't|cannot|unable\s+to|was\s+not\s+able)\b|failed\s+to\b|still\s+fail(?:s|ing)\b|gave\s+up)",
    re.IGNORECASE,
)


@dataclass(slots=True, kw_only=True)
class Ending:
    """Takes what was said and done in, in order."""

    subagent: bool = False
    turns: int = 0
    words: deque[Message] = field(default_factory=lambda: deque(maxlen=4))
    interrupted: bool = False  # and nothing after it
    edited: bool = False
    failed_last: bool = False  # whether the last tool call failed
    last_check: Step | None = None
    checked_since: bool = False  # whether that was after the last prompt

    @property
    def checked(self) -> bool | None:
        """Whether the last test, check or build succeeded; None when there was none."""
        return None if self.last_check is None else not self.last_check.failed

    def notice(self, message: Message) -> None:
        """An interruption ends a session unless something follows."""
        self.interrupted = self.interrupted or message.meta.get("notice") == "interrupted"

    def say(self, message: Message) -> None:
        """A prompt or a reply."""
        if message.kind is MessageKind.PROMPT:
            self.turns += 1
            self.checked_since = False
        self.words.append(message)

    def step(self, step: Step) -> None:
        """Take one step in."""
        self.failed_last = step.failed
        self.edited = self.edited or step.kind == EDIT
        if step.purpose in CHECKS and step.answered:
            self.last_check = step
            self.checked_since = True

    def outcome(self) -> tuple[str, str]:
        """done, failed, abandoned or unclear, and by what sign."""
        last = self.words[-1] if self.words else None
        if last is None or self.interrupted:
            return ("abandoned", "interrupted") if self.interrupted else ("unclear", "nothing was said")
        prompt = next((one.text for one in reversed(self.words) if one.kind is MessageKind.PROMPT), fixed(""))
        brief = prompt[:400]
        if self.turns > 1 and _GIVES_UP.search(brief):
            return "abandoned", "the user left it"
        if _UNHAPPY.search(brief):
            return "failed", "the user says it does not work"
        if self.turns > 1 and not (self.checked_since and self.checked is False) and _is_content(brief):
            return "done", "the user is content"
        if last.kind is MessageKind.PROMPT:
            return "abandoned", "the last prompt has no answer"
        if self.checked is False or (self.failed_last and _CANNOT.search(last.text)):
            return "failed", "the last check failed" if self.checked is False else "an error was left unresolved"
        if self.checked and self.edited:
            return "done", "the last check passed"
        if self.edited and not self.failed_last and _CLAIMS_DONE.search(last.text):
            return "done", "the agent says so and its last tool did not fail"
        return "unclear", "no sign either way"

    def open_ends(self) -> list[tuple[Clean, Quote]]:
        """What was left: a question without an answer, and what was said to be still to do; each with its span."""
        ends: dict[Clean, Quote] = {}
        last = self.words[-1] if self.words else None
        if last is not None and last.kind is MessageKind.REPLY:
            said = [one for one in sentences(last.text) if one.kind != QUOTE]
            if said and said[-1].plain.rstrip("\"'*) ").endswith("?"):
                ends[shorten(stated(last.text, said[-1]))] = quote(last, said[-1].start, said[-1].stop)
        for draft in drafts_of(self.words, floor=0.4, subagent=self.subagent).drafts:
            if draft.category is Category.TASKS:
                ends.setdefault(draft.statement, draft.points[0].quotes[0])
        return list(ends.items())[:ENDS]

    def points(self, outcome: str) -> Iterator[Point]:
        """Open ends, and a check that failed last."""
        for text, spot in self.open_ends():
            yield Point(section=OPEN, kind="open", subject=shorten(text, 80), text=text, cites=[spot])
        check = self.last_check
        if check is not None and check.failed and outcome != "done" and check.here is not None:
            cites = [one for one in (check.here, check.error) if one is not None]
            yield Point(
                section=OPEN,
                kind="check fails",
                subject=check.command,
                text=join((fixed("The last check failed:"), ticked(check.command))),
                cites=cites,
            )


def _is_content(prompt: str) -> bool:
    """Whether a person thanks for what was done, or agrees to it and asks for nothing more."""
    if any(_THANKS.search(line) for line in _SENTENCE.split(prompt) if not line.rstrip().endswith("?")):
        return True
    agrees = _AGREES.match(prompt)
    return agrees is not None and _ASKS.search(prompt[agrees.end() :]) is None
