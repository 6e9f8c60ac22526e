"""Which embedder a setting means."""

from __future__ import annotations

from typing import Final

from flywheel.embed import Embedder, ModelMissing

NEURAL: Final = "sentence-transformers:"


def open_embedder(model: str = "static") -> Embedder:
    """The embedder that ``embed.model`` names: ``static``, ``none`` or ``sentence-transformers:NAME``.

    Raises ModelMissing, whose message says what to do; whoever asks goes on with full text only and shows it.
    """
    if model == "static":
        from flywheel.embed.static import load_static

        return load_static()
    if model.startswith(NEURAL):
        from flywheel.embed.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(model.removeprefix(NEURAL))
    if model == "none":
        raise ModelMissing('embedding is switched off (embed.model = "none")')
    raise ModelMissing(f'embed.model = {model!r} is none of "static", "none" and "sentence-transformers:NAME"')
