"""What a person corrected: the agent's act and the words that say what is right; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from flywheel.harvest.rules.corrections import Acts, correction_in
from flywheel.harvest.rules.values import quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.model import Clean, Message
from flywheel.retro.rules.values import MOST, WRONG, Point
from flywheel.text.compose import fixed, join, reworded, squeeze


@dataclass(slots=True)
class Corrections:
    """Takes calls, replies and prompts in, in order. The candidates are extraction's, which reads the same rules."""

    root: str = ""  # of the session's folder: paths below it are told from there on
    acts: Acts = field(default_factory=Acts)
    found: list[Point] = field(default_factory=list)

    def act(self, message: Message) -> None:
        """A call or a reply."""
        self.acts.hear(message)

    def prompt(self, message: Message) -> None:
        """A person's words."""
        correction = correction_in(message, self.acts) if len(self.found) < MOST else None
        self.acts.clear()
        if correction is None:
            return
        right = stated(message.text, correction.right)
        here = quote(message, correction.right.start, correction.right.stop)
        wrong = correction.wrong
        act = squeeze(self._within(wrong.quote)) if wrong else fixed("")
        parts = [fixed("You corrected"), join((_OPEN, shorten(act, 70), _CLOSE), "")] if wrong else []
        self.found.append(
            Point(
                section=WRONG,
                kind="correction",
                subject=shorten(right, 80),
                text=join((*(parts or [fixed("You corrected:")]), shorten(right, 200))),
                cites=[here] if wrong is None else [here, wrong],
            )
        )

    def _within(self, act: Clean) -> Clean:
        root = f"{self.root.rstrip('/')}/"
        return reworded(act.removeprefix(root), act) if len(root) > 1 else act

    def points(self) -> Iterator[Point]:
        """The corrections, in order."""
        yield from self.found


_OPEN = fixed("“")
_CLOSE = fixed("”:")
