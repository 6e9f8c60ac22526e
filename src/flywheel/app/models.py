"""Listing, choosing and comparing embedding models."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import numpy as np
import orjson

from flywheel.api import Done, ModelInfo, ModelList, ModelScore, ModelScores, ModelSwitch
from flywheel.app.parts import Parts, wall_clock
from flywheel.config import not_a_model
from flywheel.embed import Embedder, EmbedderDown, ModelMissing, Vectors, encode_queries
from flywheel.errors import BadInput, FlywheelError
from flywheel.model import SERVED, Clean, Setting
from flywheel.search.choice import Choice, drop_choice, read_choice, write_choice
from flywheel.store import Tx, mapper
from flywheel.text.compose import fixed, join, span

CONFIGURED: Final = "configuration"

BUNDLED: Final = ("static", "minilm")

LANGUAGES: Final = {"static": "English best; names and numbers of any", "minilm": "English"}
"""What the bundled models were trained for."""

SAMPLE: Final = 64
"""Texts of a measurement."""

CROWD: Final = 1000
"""Pages, and messages, among which something is looked for at most."""

CHARS: Final = 2000
"""Characters of a text that are compared."""

_WORDS: Final = fixed(
    "The nightly import reads orders row by row and takes forty minutes, so we batch five hundred rows with COPY now. "
    "Redis stays for the queue because NOTIFY lost jobs twice in March. Retries stop after three attempts with a pause "
    "of twenty seconds, and what failed lands in the dead letter table for a person to look at tomorrow, number "
)


def list_models(parts: Parts, measure: bool) -> ModelList:
    """See `api.Embedders.models`."""
    with parts.db.read() as tx:
        choice = read_choice(tx)
    names = [*BUNDLED, parts.config.embed.model, *((choice.serving, choice.wanted) if choice else ())]
    models = [_info(parts, name, choice, measure) for name in dict.fromkeys(names) if name != "none"]
    return ModelList(
        models=models, chosen="here" if choice else CONFIGURED, switch=switch_of(parts, choice) if choice else None
    )


def switch_of(parts: Parts, choice: Choice) -> ModelSwitch | None:
    """How far the model is that is to take over; None when there is none."""
    if not choice.switching:
        return None
    done, total = (_vectors(parts, name) for name in (choice.wanted, choice.serving))
    left = (total - done) / choice.rate if choice.rate > 0 else None
    return ModelSwitch(
        wanted=choice.wanted,
        serving=choice.serving,
        done=done,
        total=total,
        seconds_left=None if left is None else round(max(left, 0.0), 1),
        problem=choice.problem,
    )


def describe(parts: Parts) -> str:
    """What serves, and how far another is, on one line, for `status`."""
    found, name = parts.serving()
    if found is None:
        return name
    with parts.db.read() as tx:
        choice = read_choice(tx)
    switch = switch_of(parts, choice) if choice else None
    if switch is None:
        return found.model_id
    share = 100 * switch.done // max(switch.total, 1)
    left = "" if switch.seconds_left is None else f", about {max(1, round(switch.seconds_left / 60))} min left"
    problem = f"; waits: {switch.problem}" if switch.problem else ""
    return (
        f"{found.model_id} serves until {switch.wanted} is complete: {switch.done:,} of {switch.total:,} vectors "
        f"({min(share, 100)} %{left}{problem})"
    )


def use_model(parts: Parts, name: str) -> Done:
    """See `api.Embedders.models_use`."""
    wanted = parts.config.embed.model if name == CONFIGURED else name
    if wrong := not_a_model(wanted):
        raise BadInput(f"an embedding model {wrong}", field="name")
    if "none" in (wanted, parts.config.embed.model):
        raise BadInput('embedding is switched on and off in the settings: embed.model = "none"', field="name")
    model = parts.open_model(wanted)
    model.encode([fixed("a first text, so that a key, an address or a file that is wrong is noticed now")])
    now = wall_clock()
    with parts.db.write() as tx:
        before = read_choice(tx)
        serving = before.serving if before is not None else parts.config.embed.model
        if wanted == serving and name == CONFIGURED:
            drop_choice(tx)
        else:
            switched = before.switched if before is not None and wanted == serving else None
            write_choice(tx, Choice(wanted=wanted, serving=serving, since=now, switched=switched))
    if wanted == serving:
        return Done(ok=True, message=f"{wanted} serves.")
    total = _vectors(parts, serving)
    return Done(
        ok=True,
        message=f"{wanted} ({model.dim} numbers) is embedding about {total:,} texts in the background; {serving} "
        "serves until that is complete. How far it is: flywheel models",
    )


def _info(parts: Parts, name: str, choice: Choice | None, measure: bool) -> ModelInfo:
    serving = choice.serving if choice is not None else parts.config.embed.model
    state = "serves" if name == serving else "takes over" if choice is not None and name == choice.wanted else "there"
    where = "bundled" if name in BUNDLED else parts.config.embed.url or name.partition(":")[0]
    try:
        model = parts.open_model(name)
        speed = _speed(parts, name, model, measure)
        dim = model.dim if name in BUNDLED or name == serving else 0
    except FlywheelError as error:
        return ModelInfo(name=name, state="missing", where=where, note=error.message)
    return ModelInfo(
        name=name,
        id=model.model_id,
        state=state,
        dim=dim,
        languages=LANGUAGES.get(name, "as the model's own page says"),
        where=where,
        texts_per_second=speed,
        vectors=_vectors(parts, name),
    )


def _speed(parts: Parts, name: str, model: Embedder, measure: bool) -> float:
    """Passages a second: measured now, or the last time; 0 when never."""
    key = f"speed:{model.model_id}"
    if measure:
        texts = _passages(SAMPLE)
        model.encode(texts[:2])
        began = time.perf_counter()
        model.encode(texts)
        value = round(SAMPLE / max(time.perf_counter() - began, 1e-6), 1)
        with parts.db.write() as tx:
            mapper.upsert(tx, Setting(name=key, value=orjson.dumps(value).decode()))
    with parts.db.read() as tx:
        row = tx.one("SELECT value FROM setting WHERE name = :name", name=key)
    return float(orjson.loads(row[0])) if row is not None else 0.0


def _passages(many: int) -> list[Clean]:
    """Different texts of about 60 words."""
    return [join([_WORDS, span(_WORDS, 3 * (number % 60), 3 * (number % 60) + 12)], "") for number in range(many)]


def _vectors(parts: Parts, name: str) -> int:
    """What the store has by this model."""
    try:
        id = parts.open_model(name).model_id
    except ModelMissing:
        return 0
    with parts.db.read() as tx:
        row = tx.one("SELECT COUNT(*) FROM embedding WHERE model = :model", model=id)
    return int(row[0]) if row is not None else 0


def compare(parts: Parts, names: Sequence[str], limit: int) -> ModelScores:
    """See `api.Embedders.models_test`."""
    with parts.db.read() as tx:
        choice = read_choice(tx)
        pages, links = _linked(tx, limit)
        messages, cited = _cited(tx, limit)
    serving = choice.serving if choice is not None else parts.config.embed.model
    wanted = list(dict.fromkeys(names or [serving, *BUNDLED]))
    scores = [_score(parts, name, (pages, links), (messages, cited)) for name in wanted if name != "none"]
    return ModelScores(scores=scores, pages=len(pages), messages=len(messages))


def _score(
    parts: Parts,
    name: str,
    linked: tuple[dict[str, Clean], list[tuple[str, str]]],
    cited: tuple[dict[str, Clean], list[tuple[Clean, str]]],
) -> ModelScore:
    pages, links = linked
    messages, asked = cited
    began = time.perf_counter()
    try:
        model = parts.open_model(name)
        among = model.encode(list(pages.values()))
        places = {id: at for at, id in enumerate(pages)}
        sources = encode_queries(model, [pages[source] for source, _ in links])
        links_mrr = _mrr(sources, among, [places[to] for _, to in links], [places[of] for of, _ in links])
        rows = model.encode(list(messages.values()))
        where = {id: at for at, id in enumerate(messages)}
        cited_mrr = _mrr(encode_queries(model, [text for text, _ in asked]), rows, [where[id] for _, id in asked])
    except (ModelMissing, EmbedderDown) as error:
        return ModelScore(
            name=name, id="", links=0, links_mrr=0.0, cited=0, cited_mrr=0.0, seconds=0.0, note=error.message
        )
    return ModelScore(
        name=name,
        id=model.model_id,
        links=len(links),
        links_mrr=links_mrr,
        cited=len(asked),
        cited_mrr=cited_mrr,
        seconds=round(time.perf_counter() - began, 3),
    )


def _mrr(asked: Vectors, among: Vectors, right: Sequence[int], own: Sequence[int] = ()) -> float:
    """Mean reciprocal rank of ``right`` rows; a row ``own`` to the question does not count."""
    found: list[float] = []
    for number, place in enumerate(right):
        near = among @ asked[number]
        if own:
            near[own[number]] = -2.0
        found.append(1.0 / (1 + int(np.count_nonzero(near > near[place]))))
    return round(sum(found) / len(found), 4) if found else 0.0


def _linked(tx: Tx, limit: int) -> tuple[dict[str, Clean], list[tuple[str, str]]]:
    """Pages by id, and pairs of them that are linked; of both those of the confirmed first."""
    served = [status.value for status in SERVED]
    rows = tx.all(
        "SELECT id, title, summary FROM entry WHERE status IN :served AND redirect_to IS NULL"
        " ORDER BY CASE WHEN status = 'confirmed' THEN 0 ELSE 1 END, id LIMIT :most",
        served=served,
        most=CROWD,
    )
    pages = {id: span(join([title, summary], "\n"), 0, CHARS) for id, title, summary in rows}
    edges = tx.all(
        "SELECT source_id, target_id FROM edge WHERE kind IN ('relates_to', 'prerequisite')"
        " ORDER BY source_id, target_id"
    )
    return pages, [(one, other) for one, other in edges if one in pages and other in pages][:limit]


def _cited(tx: Tx, limit: int) -> tuple[dict[str, Clean], list[tuple[Clean, str]]]:
    """Messages by id, and titles of confirmed (else other) pages with a message that they cite.

    The title is code's condensation, and the message around the quote is longer: neither is the other.
    """
    rows = tx.all(
        "SELECT e.title, c.message_id FROM entry e JOIN claim k ON k.entry_id = e.id"
        " JOIN citation c ON c.claim_id = k.id WHERE c.message_id IS NOT NULL AND e.status IN :served"
        " ORDER BY CASE WHEN e.status = 'confirmed' THEN 0 ELSE 1 END, e.id, c.id LIMIT :most",
        served=[status.value for status in SERVED],
        most=limit,
    )
    ids = list(dict.fromkeys(id for _, id in rows))
    texts: dict[str, Clean] = dict(
        tx.all("SELECT id, substr(text, 1, :chars) FROM message WHERE id IN :ids", ids=ids, chars=CHARS)
    )
    others = tx.all(
        "SELECT id, substr(text, 1, :chars) FROM message WHERE kind IN ('prompt', 'reply') ORDER BY id LIMIT :most",
        chars=CHARS,
        most=CROWD,
    )
    texts.update({id: text for id, text in others if id not in texts})
    return texts, [(title, id) for title, id in rows if id in texts]
