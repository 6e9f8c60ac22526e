"""Switching the embedding model over both stores: what is searched stays right throughout, whatever dies meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.app.talking import House
from tests.embed.wire_server import Wired, said, serving

from flywheel.app import App, Indexer, embedding, open_parts
from flywheel.app.parts import Parts
from flywheel.config import Places, parse_config
from flywheel.embed import EmbedderDown, ModelMissing
from flywheel.errors import BadInput
from flywheel.model import Kind, Micros
from flywheel.search import serving as looking
from flywheel.search.choice import GRACE, read_choice, write_choice

SAID = tuple(("user", f"Part {number} of the import talks about the {word}.") for number, word in enumerate(
    "queue database parser cache scheduler billing login invoice webhook backup".split() * 4  # noqa: SIM905
))  # fmt: skip


@pytest.fixture
def server() -> Iterator[Wired]:
    """An embedding server whose vectors are narrower than the bundled model's."""
    with serving() as wired:
        wired.width = 64
        yield wired


@pytest.fixture
def house(tmp_path: Path, store_url: str, server: Wired, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """Forty messages embedded by the bundled model; another model is a server's."""
    monkeypatch.setattr(looking, "LOOK", 0.0)
    places = Places(config=tmp_path / "flywheel.toml", data=tmp_path / "home", run=tmp_path / "run")
    settings = {"store": {"url": store_url}, "embed": {"url": server.url, "code": "none"}}
    parts = open_parts(parse_config(settings), places, dict(os.environ), tmp_path / "user")
    project = tmp_path / "shop"
    project.mkdir()
    made = House(App(parts), parts, project)
    tell(made, "s1", *SAID)
    index(parts)
    yield made
    made.app.close()
    parts.close()


def tell(house: House, session: str, *turns: tuple[str, str], at: int = 0) -> None:
    """Store messages and tell the change feed."""
    messages = house.say(session, *turns, at=at)
    with house.parts.db.write() as tx:
        for message in messages:
            tx.changed(Kind.MESSAGE, message.id, message.project_id)


def index(parts: Parts, steps: int = 10_000) -> int:
    """An index process that ends after so many steps, or when nothing is left to do; how many it took."""
    indexer = Indexer(parts)
    taken = 0
    try:
        while taken < steps and indexer.step():
            taken += 1
    finally:
        indexer.close()
    return taken


def found(house: House, words: str = "where the import speaks of the scheduler") -> list[str]:
    """What a search finds by meaning, and how."""
    answer = house.app.search(query=words, cwd=str(house.project), kinds=["message"], limit=4)
    assert not any("no embedding model" in note for note in answer.notes)
    return [hit.text for hit in answer.hits]


def vectors(house: House) -> dict[int, int]:
    """Numbers of a vector → how many such vectors the store has."""
    with house.parts.db.read() as tx:
        return dict(tx.all("SELECT dim, COUNT(*) FROM embedding GROUP BY dim"))


def asked_by(house: House, server: Wired) -> str:
    """Which model a question goes to now."""
    before = len(server.asked)
    assert all("scheduler" in text for text in found(house)[:1])
    return "server" if len(server.asked) > before else "static"


def test_a_switch_from_beginning_to_end(house: House, server: Wired) -> None:
    """The former model answers until the new one is complete; then that does, and the former one's vectors go."""
    many = len(SAID)
    assert vectors(house) == {256: many} and asked_by(house, server) == "static"
    done = house.app.models_use(name="openai:any")
    assert "is embedding about 40 texts" in done.message
    assert asked_by(house, server) == "static"
    index(house.parts, steps=1)  # and the process is killed
    partly = vectors(house)
    assert partly[256] == many and 0 < partly[64] < many
    assert asked_by(house, server) == "static"
    switch = house.app.models().switch
    assert switch is not None and (switch.done, switch.total) == (partly[64], many)
    assert "serves until openai:any is complete" in house.app.status().embedder
    tell(house, "s2", ("user", "A new message about the scheduler and its quirks."), at=1000)
    sent = sum(len(one["input"]) for one in server.asked)
    index(house.parts)
    assert sum(len(one["input"]) for one in server.asked) - sent == many - partly[64] + 1, "nothing is embedded twice"
    assert vectors(house) == {256: many + 1, 64: many + 1}
    assert asked_by(house, server) == "server" and house.app.models().switch is None
    assert house.app.search(query="quirks of the scheduler", cwd=str(house.project)).hits
    with house.parts.db.write() as tx:
        choice = read_choice(tx)
        assert choice is not None and choice.switched is not None
        write_choice(tx, replace(choice, switched=Micros(choice.switched - GRACE)))
    index(house.parts)
    assert vectors(house) == {64: many + 1} and asked_by(house, server) == "server"


def test_one_process_switches_and_tidies_up(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index process that lives on drops the former model's vectors by itself when their time has come."""
    house.app.models_use(name="openai:any")
    clock = [Micros(house.parts.db.clock())]
    monkeypatch.setattr(embedding, "wall_clock", lambda: clock[0])
    indexer = Indexer(house.parts)
    while indexer.step():
        pass
    assert vectors(house) == {256: len(SAID), 64: len(SAID)} and house.app.models().switch is None
    clock[0] = Micros(clock[0] + GRACE + 1)
    while indexer.step():
        pass
    indexer.close()
    assert vectors(house) == {64: len(SAID)}


def test_a_server_that_is_down_holds_nothing_else_up(house: House, server: Wired) -> None:
    """The switch waits and says why; new messages are found meanwhile; taking the choice back ends it."""
    house.app.models_use(name="openai:any")
    server.faults = [lambda body: said(503, "restarting", retry_after="600")] * 9
    tell(house, "s2", ("user", "The gearbox of the scheduler leaks."), at=1000)
    index(house.parts)
    switch = house.app.models().switch
    assert switch is not None and "HTTP 503: restarting" in switch.problem and switch.done == 0
    assert "gearbox" in found(house, "gearbox leaks")[0]
    server.faults = []
    assert house.app.models_use(name="configuration").message == "static serves."
    index(house.parts)
    assert vectors(house) == {256: len(SAID) + 1} and house.app.models().chosen == "configuration"


def test_a_server_that_dies_after_the_switch_leaves_full_text(house: House, server: Wired) -> None:
    """Questions are answered by words while the model that serves does not answer."""
    house.app.models_use(name="openai:any")
    index(house.parts)
    assert asked_by(house, server) == "server"
    server.faults = [lambda body: said(500, "gone")] * 9
    words = "Part of the import talks about the scheduler"
    assert "scheduler" in house.app.search(query=words, cwd=str(house.project), kinds=["message"]).hits[0].text
    answer = house.app.search(query=words, cwd=str(house.project), kinds=["message"])
    assert "no embedding model: full text only" in answer.notes and "scheduler" in answer.hits[0].text


def test_a_prompt_does_not_wait_for_a_server(house: House, server: Wired) -> None:
    """While the server thinks, a prompt is told what its words find; the next time the vector is there."""
    house.app.models_use(name="openai:any")
    index(house.parts)
    gate = threading.Event()
    server.faults = [lambda body: None if gate.wait(20) else said(500, "never")]
    words = "Which part of the import talks about the scheduler?"
    with house.parts.db.read() as tx:
        rows = tx.all("SELECT DISTINCT project_id FROM message")

    def told() -> list[str]:
        searcher = house.app.readers.searcher
        answer = searcher.search(query=words, projects=[rows[0][0]], kinds=("message",), said=True, meant=True)
        return [hit.text for hit in answer.hits]

    before = len(server.asked)
    assert "scheduler" in told()[0] and len(server.asked) <= before + 1
    gate.set()
    for thread in threading.enumerate():
        if thread.name == "question":
            thread.join(20)
    assert "scheduler" in told()[0] and len(server.asked) == before + 1


def test_what_cannot_be_chosen(house: House, server: Wired) -> None:
    """A name that is none, and models that cannot be used, are refused before anything changes."""
    for wrong in ("dynamic", "openai:", "none"):
        with pytest.raises(BadInput):
            house.app.models_use(name=wrong)
    server.faults = [lambda body: said(401, "no")]
    with pytest.raises(ModelMissing, match="the key is wrong or missing"):
        house.app.models_use(name="voyage:any")
    server.faults = [lambda body: said(429, "slow", retry_after="99")]
    with pytest.raises(EmbedderDown):
        house.app.models_use(name="voyage:other")
    assert house.app.models().chosen == "configuration"


def test_models_are_listed_and_compared(house: House) -> None:
    """Width, languages, vectors and speed of each; on one's own memory how often linked things are found."""
    measure = house.parts.db.dialect == "sqlite"  # takes a second, and asks the store for nothing
    listed = {one.name: one for one in house.app.models(measure=measure).models}
    assert listed["static"].state == "serves" and listed["static"].vectors == len(SAID)
    assert listed["minilm"].dim == 384 and listed["minilm"].languages == "English"
    assert all((one.texts_per_second > 0) is measure for one in listed.values())
    assert {one.name: one.texts_per_second for one in house.app.models().models} == {
        name: one.texts_per_second for name, one in listed.items()
    }
    scores = house.app.models_test(names=["static", "voyage:any", "sentence-transformers:/nowhere"])
    assert [bool(one.note) for one in scores.scores] == [False, False, True] and scores.messages == len(SAID)
