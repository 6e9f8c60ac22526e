"""The verbs of the embedding models: which there are, which serves, and how good they are on one's own memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.api.done import Done


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """An embedding model."""

    name: str  # as `models_use` takes it
    id: str = ""  # of weights and treatment; "" while it is not known
    state: str  # serves, takes over, code, there, missing
    dim: int = 0  # numbers of a vector; 0 while it is not known
    languages: str = ""
    where: str = ""  # bundled, an extra, a server's address
    texts_per_second: float = 0.0  # passages of about 60 words, on this machine; 0 where it was not measured
    vectors: int = 0  # that the store has by it
    note: str = ""  # what to do where it is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSwitch:
    """A model on its way."""

    wanted: str
    serving: str  # answers until the other is complete
    done: int  # vectors made
    total: int  # vectors that the serving model has
    seconds_left: float | None = None  # None while nothing was measured
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    """What there is to choose from."""

    models: Sequence[ModelInfo]
    chosen: str  # "configuration" (embed.model) or "here" (`models_use`)
    switch: ModelSwitch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    """How well one model finds, on this store's own knowledge, what is known to belong together."""

    name: str
    id: str
    links: int  # linked pages whose partner was looked for among all pages
    links_mrr: float  # mean of 1 / rank of the partner
    cited: int  # pages whose cited message was looked for among other messages
    cited_mrr: float
    seconds: float  # of encoding
    note: str = ""  # why there is no score


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScores:
    """The comparison."""

    scores: Sequence[ModelScore]
    pages: int  # among which partners were looked for
    messages: int  # among which cited messages were


class Embedders(Protocol):
    """The verbs of the embedding models; see `Api`."""

    def models(self, *, measure: bool = False) -> ModelList:
        """The embedding models: what serves, what could, with width, languages and speed.

        ``measure`` measures the speed of those that are installed, anew; it takes a few seconds.
        """

    def models_use(self, *, name: str) -> Done:
        """Have another model embed everything, in the background; the former serves until that is complete.

        ``name``: as `models` lists them; "configuration" is what ``embed.model`` says. Idempotent. Raises BadInput for
        a name that is none, Unavailable where the model cannot be used, with what to do.
        """

    def models_test(self, *, names: Sequence[str] = (), limit: int = 200) -> ModelScores:
        """How well models find what is known to belong together here: linked pages, and what confirmed pages cite.

        Without ``names`` the one that serves and those that are bundled; ``limit``: pages that are asked about.
        """
