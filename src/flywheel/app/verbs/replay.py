"""The verbs of `api.replay` in process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api import ReplayReport
from flywheel.app.replays import Replays
from flywheel.app.verbs.base import Verbs
from flywheel.errors import BadInput

MOST: Final = 1000
"""Sessions of one replay."""

LONGEST: Final = 3600
"""Seconds of one replay."""


class ReplayingVerbs(Verbs):
    """See `api.Replaying`."""

    replays: Replays

    def replay(
        self,
        *,
        cwd: str = "",
        project: str = "",
        agent: str = "",
        last: int = 20,
        compare: Sequence[str] = (),
        seconds: int = 600,
    ) -> ReplayReport:
        if not 1 <= last <= MOST:
            raise BadInput(f"the field 'last' must be between 1 and {MOST}", field="last")
        if not 1 <= seconds <= LONGEST:
            raise BadInput(f"the field 'seconds' must be between 1 and {LONGEST}", field="seconds")
        among = self.family(cwd, project) if cwd or project else ()
        return self.replays.begin(among, agent=agent, last=last, compare=compare, seconds=seconds)

    def replay_progress(self, *, id: str, stop: bool = False) -> ReplayReport:
        return self.replays.progress(id, stop=stop)
