"""What one pass over some records has learned of a session, while it is being learned."""

from __future__ import annotations

from dataclasses import dataclass, field

from flywheel.model import Micros
from flywheel.readers.seam import SessionFacts


@dataclass(slots=True)
class Facts:
    """The working form of `SessionFacts`; times in microseconds."""

    parent: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    model: str = ""
    version: str = ""
    forked_from: str = ""
    started: int | None = None
    last: int | None = None
    ended: int | None = None
    extra: dict[str, object] = field(default_factory=dict)

    def span(self, first: int | None, last: int | None) -> None:
        """It was under way at these times."""
        if first is not None:
            self.started = first if self.started is None else min(first, self.started)
        if last is not None:
            self.last = last if self.last is None else max(last, self.last)

    def told(self, native: str) -> SessionFacts:
        """The facts of the session with this native id."""
        return SessionFacts(
            native_id=native,
            parent=self.parent,
            title=self.title,
            cwd=self.cwd,
            branch=self.branch,
            model=self.model,
            version=self.version,
            forked_from=self.forked_from,
            started_at=_micros(self.started),
            last_at=_micros(self.last),
            ended_at=_micros(self.ended),
            extra=self.extra,
        )


def _micros(value: int | None) -> Micros | None:
    return None if value is None else Micros(value)
