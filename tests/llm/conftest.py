"""A seam over each provider, against a server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic  # noqa: F401 - it takes seconds, which would count against the first question's deadline
import pytest
from tests.llm.loopback import Wire, says, serving

from flywheel.app import App, open_parts, settle_all
from flywheel.cli.demo import demo_folder
from flywheel.config import Config, Places, parse_config
from flywheel.llm import Purpose, Request, Said, Tool
from flywheel.llm.seam import Pace, Seam
from flywheel.llm.select import open_llm
from flywheel.model import LlmCall, Micros, ProjectId, Role
from flywheel.store import Db
from flywheel.store.mapper import find
from flywheel.text.compose import fixed
from flywheel.text.redact import Redactor

NOON = Micros(1_780_000_000_000_000)
"""2026-05-28 20:26:40 UTC."""

TOOL = Tool(
    name="note",
    description=fixed("Note what was decided."),
    schema={
        "type": "object",
        "properties": {"subject": {"type": "string"}, "sure": {"type": "boolean"}},
        "required": ["subject", "sure"],
        "additionalProperties": False,
    },
)
GOOD: Mapping[str, object] = {"subject": "the queue", "sure": True}
SWIFT = Pace(first=0.0, jitter=0.0, patience=0.5)


def question(text: str = "We use Postgres now.", **more: Any) -> Request:
    """A request."""
    said = [Said(role=Role.USER, text=Redactor().text(text))]
    asked = Request(purpose=Purpose.ASK, prefix=fixed("Read the talk."), messages=said, tool=TOOL, max_tokens=100)
    return replace(asked, **more)


def settings(provider: str, url: str, **more: Any) -> Config:
    """A provider at an address, in time for a test."""
    llm = {"provider": provider, "url": url + ("/v1" if provider == "openai" else ""), "seconds": 60.0}
    return parse_config({"llm": llm | ({"model": "local"} if provider == "openai" else {}) | more})


Made = Callable[..., Seam]


@pytest.fixture
def wire() -> Iterator[Wire]:
    """The server; a test says what it does."""
    with serving() as found:
        yield found


@pytest.fixture
def made(sqlite_db: Db, data: Path, wire: Wire) -> Iterator[Made]:
    """Makes the seam to a provider as the daemon does; only its pauses are short."""
    opened: list[Seam] = []

    def make(provider: str = "anthropic", **more: Any) -> Seam:
        db = more.pop("db", sqlite_db)
        now = more.pop("now", NOON)
        env = {"ANTHROPIC_API_KEY": "test-key"}
        config = settings(provider, more.pop("at", wire.url), **more)
        llm = open_llm(config, env, db=db, data=data, redact=Redactor(), now=lambda: now)
        assert isinstance(llm, Seam)
        llm._pace = SWIFT
        opened.append(llm)
        return llm

    yield make
    for one in opened:
        one.close()


def ledger(db: Db) -> list[LlmCall]:
    """What is on the bill, in order."""
    with db.read() as tx:
        return find(tx, LlmCall, "ORDER BY created_at, settled_at, id")


SHOP = ProjectId("shop")


WHY = "why did we move off Redis?"


class Story:
    """The demo, with a model on loopback."""

    def __init__(self, app: App, wire: Wire, project: str) -> None:
        self.app, self.wire, self.project = app, wire, project

    def tell(self, *sentences: tuple[str, list[str]], provider: str = "anthropic", **more: Any) -> Any:
        """Ask, with a model that says these sentences."""
        said = {"sentences": [{"text": text, "cites": cites} for text, cites in sentences]}
        return self.ask(says(said), provider=provider, **more)

    def ask(self, *acts: Any, provider: str = "anthropic", question: str = WHY, given: Any = None, **more: Any) -> Any:
        """Ask, with a model that does this."""
        self.wire.does(*acts)
        self.wire.heard.clear()
        parts = self.app.parts
        parts.config = replace(
            parts.config, llm=settings(**({"provider": provider, "url": self.wire.url} | (given or {}))).llm
        )
        parts.env = {"ANTHROPIC_API_KEY": "k"}
        parts._llm = None
        return self.app.ask(question=question, cwd=self.project, **more)

    def best(self) -> Any:
        """The reason that answers best."""
        return self.app.why(question=WHY, cwd=self.project).reasons[0]


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """One demo for all of this folder."""
    folder: Path = tmp_path_factory.mktemp("ask")
    places = Places(config=folder / "f.toml", data=folder / "data", run=folder / "run")
    parts = open_parts(
        parse_config({"embed": {"model": "none", "code": "none"}, "extract": {"model_share": 0}}),
        places,
        {},
        folder / "user",
    )
    app = App(parts)
    project, transcripts = demo_folder(places.data)
    app.import_path(path=transcripts)
    settle_all(parts)
    with serving() as wire:
        yield Story(app, wire, project)
    app.close()
    parts.close()
