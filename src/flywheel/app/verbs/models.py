"""The verbs of `api.models` in process."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.api import Done, ModelList, ModelScores
from flywheel.app.models import compare, list_models, use_model
from flywheel.app.verbs.base import Verbs
from flywheel.errors import BadInput


class EmbedderVerbs(Verbs):
    """See `api.Embedders`."""

    def models(self, *, measure: bool = False) -> ModelList:
        return list_models(self.parts, measure)

    def models_use(self, *, name: str) -> Done:
        done = use_model(self.parts, name)
        self.poke()
        return done

    def models_test(self, *, names: Sequence[str] = (), limit: int = 200) -> ModelScores:
        if not 1 <= limit <= 1000:
            raise BadInput("the field 'limit' must be from 1 to 1000", field="limit")
        return compare(self.parts, names, limit)
