"""A store with a talk in it, and a model on loopback that says what a test wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.harvest.extract_house import NOW, House
from tests.llm.conftest import SWIFT, settings
from tests.llm.loopback import Act, Asked, Wire, says

from flywheel.config import Config
from flywheel.harvest import extract
from flywheel.harvest.models import worker
from flywheel.jobs import queue
from flywheel.jobs.kinds import EXTRACT_MODEL
from flywheel.jobs.worker import Deps, Outcome, run_one
from flywheel.llm import Llm
from flywheel.llm.seam import Seam
from flywheel.llm.select import open_llm
from flywheel.model import Entry, Job, Micros, ModelRead, ProjectId
from flywheel.store import Db
from flywheel.store.mapper import find
from flywheel.text.redact import Redactor

Answers = Sequence[Mapping[str, Any]]


def cite(number: int, quote: str) -> dict[str, object]:
    """A citation of an operation."""
    return {"n": number, "quote": quote}


def sent(body: Mapping[str, Any]) -> str:
    """What the user's turn of a question says."""
    return str(body["messages"][0]["content"])


def tool_of(body: Mapping[str, Any]) -> str:
    """Which of the two models is asked."""
    return str(body["tools"][0]["name"])


def answers(spans: Answers | None, operations: Answers) -> Act:
    """Both models; without ``spans`` the router picks everything that it was shown."""

    def value(body: Mapping[str, Any]) -> Mapping[str, object]:
        if tool_of(body) == "edit":
            return {"operations": list(operations)}
        lines = [line for line in sent(body).split("\n") if line.startswith("#")]
        pages = [line[4:].split("]")[0] for line in sent(body).split("\n") if line.startswith("[fw:")]
        whole = [{"first": 1, "last": len(lines), "touches": pages}]
        return {"spans": whole if spans is None else list(spans)}

    return says(value)


class Died(BaseException):
    """The process was killed."""


@dataclass(slots=True)
class ModelHouse:
    """A house whose sessions a model reads."""

    db: Db
    data: Path
    wire: Wire
    house: House = field(init=False)
    config: Config = field(init=False)
    llm: Llm = field(init=False)

    def __post_init__(self) -> None:
        self.house = House(self.db, self.data)
        self.open()

    def open(self, *, least: int = 0, share: float = 0.0, **more: Any) -> None:
        """The seam to the server, with these settings; however little was said is sent."""
        config = settings("anthropic", self.wire.url, **more)
        self.config = replace(config, extract=replace(config.extract, model_least=least, model_share=share))
        self.llm = open_llm(
            self.config, {"ANTHROPIC_API_KEY": "k"}, db=self.db, data=self.data, redact=Redactor(), now=lambda: NOW
        )
        for seam in (self.llm, self.llm.strong()):
            assert isinstance(seam, Seam)
            seam._pace = SWIFT

    def deps(self, beat: Callable[[str], None] = lambda doing: None) -> Deps:
        """What a worker may use."""
        return Deps(
            db=self.db,
            config=self.config,
            data=self.data,
            redact=Redactor(),
            now=lambda: NOW,
            stopping=lambda: False,
            beat=beat,
            llm=lambda: self.llm,
        )

    def rules(self, session: str) -> None:
        """Extraction by rules."""
        extract.run(self.house.job(session), self.deps())

    def job(self, key: str) -> Job:
        """The job of a session or a document."""
        return Job(
            id=f"m-{key}",
            kind=EXTRACT_MODEL,
            key=key,
            project_id=ProjectId("p"),
            run_after=Micros(0),
            created_at=Micros(0),
            updated_at=Micros(0),
        )

    def read(self, key: str, act: Act | None = None) -> list[Mapping[str, Any]]:
        """Have the models read; what they were asked."""
        if act is not None:
            self.wire.does(act)
        self.wire.heard.clear()
        worker.run(self.job(key), self.deps())
        return [heard.body for heard in self.wire.heard]

    def tried(self, key: str) -> Outcome:
        """What the runner makes of the job, due or not."""
        with self.db.write() as tx:
            queue.enqueue(tx, kind=EXTRACT_MODEL, key=key, project_id=None, now=Micros(0))
            tx.run("UPDATE job SET run_after = 0 WHERE kind = :kind", kind=EXTRACT_MODEL)
        job = queue.claim(self.db, kinds=[EXTRACT_MODEL], owner="test", lease=60)
        assert job is not None
        return run_one(job, worker.run, self.deps())

    def reads(self) -> list[ModelRead]:
        """How far they came."""
        with self.db.read() as tx:
            return find(tx, ModelRead, "ORDER BY source_id, stop")

    def entries(self) -> list[Entry]:
        """Every entry."""
        return self.house.entries()

    def everything(self) -> dict[str, list[tuple[object, ...]]]:
        """All that is written but ids that grow with the clock."""
        return self.house.everything()


def dying(act: Act, at: int) -> Act:
    """The same, but the ``at``-th question is never answered: the connection is gone."""
    asked_ = iter(range(1, 1000))

    def do(asked: Asked) -> None:
        if next(asked_) == at:
            asked.close_connection = True
            return
        act(asked)

    return do


def with_pages(text: str) -> list[str]:
    """The short ids in a question."""
    return [line[4:].split("]")[0] for line in text.split("\n") if line.startswith("[fw:")]


def confirmed(db: Db, entry: Entry) -> Entry:
    """A person confirmed it."""
    with db.write() as tx:
        tx.run("UPDATE entry SET status = 'confirmed', last_confirmed = 1 WHERE id = :id", id=entry.id)
        tx.run("UPDATE claim SET status = 'confirmed' WHERE entry_id = :id", id=entry.id)
        return replace(entry, status=find(tx, Entry, "WHERE id = :id", id=entry.id)[0].status)
