"""The Api in process: every verb, over the parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flywheel.api import Api
from flywheel.app import progress as tracking
from flywheel.app.hooking import Hooking
from flywheel.app.lasting import Standing
from flywheel.app.parts import Parts, wall_clock
from flywheel.app.replays import Replays
from flywheel.app.reviewing import Reviewing
from flywheel.app.showing import Printed
from flywheel.app.unanswered import Unanswered
from flywheel.app.verbs.adding import AddingVerbs
from flywheel.app.verbs.asking import AskingVerbs
from flywheel.app.verbs.beacons import LightingVerbs
from flywheel.app.verbs.behaviour import BehaviourVerbs
from flywheel.app.verbs.cockpit import OverseeingVerbs
from flywheel.app.verbs.code import CodingVerbs
from flywheel.app.verbs.effect import EffectVerbs
from flywheel.app.verbs.linting import LintingVerbs
from flywheel.app.verbs.llm import ModellingVerbs
from flywheel.app.verbs.models import EmbedderVerbs
from flywheel.app.verbs.questions import QuestionsVerbs
from flywheel.app.verbs.replay import ReplayingVerbs
from flywheel.app.verbs.retro import RetroVerbs
from flywheel.app.verbs.reviewing import ReviewingVerbs
from flywheel.app.verbs.running import RunningVerbs
from flywheel.app.verbs.terms import TermsVerbs
from flywheel.app.verbs.threads import ThreadsVerbs
from flywheel.app.verbs.topology import ChartingVerbs
from flywheel.app.verbs.trees import TreesVerbs
from flywheel.context.assemble import Assembler


class App(
    ModellingVerbs,
    AskingVerbs,
    RunningVerbs,
    AddingVerbs,
    ReviewingVerbs,
    TreesVerbs,
    OverseeingVerbs,
    CodingVerbs,
    ChartingVerbs,
    LightingVerbs,
    LintingVerbs,
    QuestionsVerbs,
    TermsVerbs,
    BehaviourVerbs,
    ReplayingVerbs,
    RetroVerbs,
    EffectVerbs,
    ThreadsVerbs,
    EmbedderVerbs,
):
    """Satisfies `Api`. For any number of threads."""

    def __init__(
        self,
        parts: Parts,
        *,
        poke: Callable[[], None] = lambda: None,
        workers: Callable[[], Sequence[Mapping[str, object]]] = lambda: (),
    ) -> None:
        super().__init__(parts, poke=poke, workers=workers)
        self.started = wall_clock()
        self.watching = tuple
        self.imports = tracking.Imports()
        self.printed = Printed()
        self.assembler = Assembler(parts.db, self.readers.searcher, parts.config, wall_clock, home=parts.home)
        self.hooking = Hooking(parts, self.assembler, poke)
        self.always_on = Standing(parts)
        self.unanswered = Unanswered(parts.db, parts.redact, wall_clock)
        self.replays = Replays(parts)
        self.desk = Reviewing(parts, lambda: self.poke())

    def close(self) -> None:
        """Write what is still to be written and let go."""
        self.hooking.close()
        self.replays.close()
        self.unanswered.close()
        self.assembler.close()
        super().close()


def _proof(app: App) -> Api:
    """Held by the type checker: the app offers every verb."""
    return app
