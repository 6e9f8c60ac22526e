"""Asking kept questions: now, and by the job that follows each change set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.app.answering import deepened
from flywheel.app.pace import TEXT
from flywheel.index.follow import lag
from flywheel.index.text_read import TextReader
from flywheel.index.vectors_open import open_vectors
from flywheel.jobs.worker import Deps, Stopped
from flywheel.knowledge import changing
from flywheel.knowledge.questions import keeping
from flywheel.knowledge.questions.rules import Answer, answer_of
from flywheel.model import GLOBAL, Job, Kind, Micros, ProjectId, Question, short_id
from flywheel.projects import queries as projects
from flywheel.search.query import Searcher
from flywheel.store import Db
from flywheel.text.redact import Redactor

KIND: Final = keeping.KIND
"""Job kind; the key is the project's id."""

REASONS: Final = 5
"""Reasons in which the answer is looked for."""

WAITS: Final = 20
"""Times that the job is put off because the text index is behind; after that it asks anyway."""


class Asking:
    """Asks questions of one store. For any number of threads."""

    def __init__(self, db: Db, text: TextReader, searcher: Searcher, redact: Redactor) -> None:
        self._db = db
        self._text = text
        self._searcher = searcher
        self._redact = redact

    def behind(self) -> int:
        """Changes that the text index has not seen."""
        return lag(self._db, self._text.watermark())

    def ask(self, question: Question, family: Sequence[ProjectId], now: Micros) -> Answer:
        """What answers a question now."""
        found = self._searcher.why(question=question.text, projects=family, limit=REASONS)
        with self._db.read() as tx:
            found = deepened(tx, found, as_of=None, now=now)
            entries = [one.id for one in found.reasons if one.kind == Kind.ENTRY.value and one.values]
            said = {short_id(claim.id): claim.text for id in entries[:1] for claim in changing.claims_of(tx, id)}
        words = self._text.words
        return answer_of(found.reasons, said, question=question.text, scope=question.scope, words=words)

    def again(self, question: Question, family: Sequence[ProjectId], now: Micros) -> Question | None:
        """Ask a kept question and note its answer; as it is now. None when it is kept no longer."""
        answer = self.ask(question, family, now)
        text = self._redact.text(answer.text)
        with self._db.write() as tx:
            return keeping.note_run(tx, question, answer, text, now)


def run(job: Job, deps: Deps) -> None:
    """Ask a project's kept questions again. Raises Stopped between two when the process is asked to end.

    While the text index is behind, the job comes again a little later.
    """
    project = ProjectId(job.key)
    with deps.db.read() as tx:
        family = projects.family(tx, project)
        questions = keeping.kept(tx, family)
    if not questions:
        return
    asking = _open(deps)
    waited = int(str(job.payload.get("waited", 0)))
    if waited < WAITS and asking.behind():
        with deps.db.write() as tx:
            keeping.ask_again(tx, project, family, deps.db.clock(), waited=waited + 1)
        return
    for question in questions:
        if deps.stopping():
            raise Stopped
        deps.beat("asking the kept questions again")
        asking.again(question, [*family, GLOBAL], deps.now())


def _open(deps: Deps) -> Asking:
    from flywheel.embed import ModelMissing
    from flywheel.embed.select import open_embedder

    try:
        embedder = open_embedder(deps.config.embed.model)
    except ModelMissing:
        embedder = None
    text = TextReader(deps.data / TEXT)
    vectors = open_vectors(deps.db, deps.data) if embedder is not None else None
    return Asking(deps.db, text, Searcher(deps.db, text, vectors, embedder, deps.config), deps.redact)
