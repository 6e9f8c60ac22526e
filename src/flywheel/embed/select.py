"""Which embedder a setting means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from flywheel.config import EmbedConfig, not_a_model
from flywheel.embed import Embedder, ModelMissing
from flywheel.model import Clean

if TYPE_CHECKING:
    from flywheel.embed.metering import Meter

NEURAL: Final = "sentence-transformers:"

ASKING: Final = 1.5
"""Seconds that a question waits for a server at most; then full text has to do."""

REMOTE: Final = ("openai:", "voyage:")
"""What stands before the names of models that a server computes."""


def open_embedder(
    model: str = "static",
    config: EmbedConfig | None = None,
    *,
    env: Mapping[str, str] | None = None,
    redact: Callable[[str], Clean] | None = None,
    offline: bool = False,
    meter: Callable[[str], Meter] | None = None,
) -> Embedder:
    """The embedder that a name means.

    Names: ``static``, ``minilm``, ``none``, ``sentence-transformers:NAME``; of a server ``openai:NAME`` and
    ``voyage:NAME``, which need ``redact``, and a key in ``env``; ``meter`` gives by name who accounts for them.
    ``minilm`` is loaded, and a server asked, at the first use. Raises ModelMissing, whose message says what to do;
    whoever asks goes on with full text only and shows it.
    """
    config = config or EmbedConfig()
    if model == "static":
        from flywheel.embed.static import load_static

        return load_static()
    if model == "minilm":
        from flywheel.embed.minilm import TextMiniLM

        return TextMiniLM()
    if model.startswith(NEURAL):
        from flywheel.embed.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(
            model.removeprefix(NEURAL),
            device=config.device or None,
            query=config.query_prompt,
            passage=config.passage_prompt,
        )
    if model.startswith(REMOTE):
        return _remote(model, config, env or {}, redact, offline, meter(model) if meter is not None else None)
    if model == "none":
        raise ModelMissing('embedding is switched off (embed.model = "none")')
    raise ModelMissing(f"embed.model = {model!r}: it {not_a_model(model)}")


def _remote(
    model: str,
    config: EmbedConfig,
    env: Mapping[str, str],
    redact: Callable[[str], Clean] | None,
    offline: bool,
    meter: Meter | None,
) -> Embedder:
    from flywheel.embed.calling import Server
    from flywheel.embed.remote import WIRES, Prompts, RemoteEmbedder

    if offline:
        raise ModelMissing(f"offline = true: nothing leaves this machine, and {model!r} is a server's model")
    if redact is None:
        raise ModelMissing(f"the embedding model {model!r} is a server's, which is not asked from here")
    kind, _, name = model.partition(":")
    wire = WIRES[kind]
    url, key = config.url or wire.url, env.get(config.key_env or wire.key_env, "")
    server = Server(url, key=key, seconds=config.seconds)
    return RemoteEmbedder(
        wire,
        server,
        name,
        redact=redact,
        dimensions=config.dimensions,
        prompts=Prompts(query=config.query_prompt, passage=config.passage_prompt),
        asking=Server(url, key=key, seconds=min(config.seconds, ASKING)),
        meter=meter,
    )
