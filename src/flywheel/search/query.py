"""Searching: candidates from every list, read again in the store, ranked."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.api import Hit, Reason, SearchAnswer, WhyAnswer
from flywheel.config import Config
from flywheel.embed import Asked, Embedder
from flywheel.embed.rerank import MOST, Reranker
from flywheel.errors import BadInput
from flywheel.index.follow import lag
from flywheel.index.text_read import TextReader
from flywheel.index.vectors import VectorIndex
from flywheel.model import GLOBAL, SERVED, Kind, Micros, ProjectId, Status, short_id
from flywheel.search import queries, relations, rules, why
from flywheel.search.aliases import other_names
from flywheel.search.embedding_code import last_stored
from flywheel.search.lexicon import Lexicon
from flywheel.search.naming import KnownNames
from flywheel.search.passage import best_passage
from flywheel.search.propose import Ask, Sources
from flywheel.search.queries import Filters, Full
from flywheel.search.question import understand
from flywheel.search.rank import Ranked, rank
from flywheel.search.reranking import reordered
from flywheel.search.rules import Candidate, Facts, Key, Weights
from flywheel.search.serving import ServingEmbedder
from flywheel.search.warned import warnings_of
from flywheel.store import Db, Tx
from flywheel.text.compose import dated
from flywheel.text.redact import Redactor

SEARCHED: Final = (Kind.ENTRY, Kind.MESSAGE, Kind.DOCUMENT, Kind.SYMBOL)
"""The kinds that an answer can hold."""

LONGEST_QUERY: Final = 4000
"""Characters of a question that are looked at."""

SAID_POOL: Final = 24
"""Candidates of each list where a briefing asks, which has a few milliseconds."""

DEEP: Final = 3
"""Candidates of each list for each hit of a briefing that wants more hits than `SAID_POOL`. 2 instead: LoCoMo's recall
within 2,000 and 4,000 tokens 87.7 and 91.0 instead of 88.3 and 91.8; 5 and 8 give no more."""

POOL: Final = 40
"""Candidates that each list proposes at least."""

PATIENCE: Final = 0.25
"""Seconds that a question waits for the model of code. A briefing has no definitions in it and never waits."""

WAITING: Final = "some definitions have no vector yet: full text finds those"

NAMES_SECONDS: Final = 30.0
"""How long the names of projects are remembered."""

MOST_NAMES: Final = 1000

RERANKED: Final = 3000
"""Characters of a text that a reranker may read."""

TWIN_CHARS: Final = 1500
"""Characters that tell near-duplicates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHit:
    """A session, and its messages that were found."""

    session_id: str
    score: float
    hits: Sequence[Hit]  # best first


class Searcher:
    """Search over one store and its indexes. Safe to use from several threads."""

    def __init__(
        self,
        db: Db,
        text: TextReader,
        vectors: VectorIndex | None,
        embedder: Embedder | None,
        config: Config,
        *,
        weights: Weights | None = None,
        code: Asked | None = None,
        now: Callable[[], Micros] = lambda: Micros(time.time_ns() // 1000),
        liking: Callable[[Tx, Sequence[ProjectId]], Mapping[str, float]] = lambda tx, projects: {},
        reranker: Reranker | None = None,
    ) -> None:
        """Without ``vectors`` or ``embedder`` the answer is from full text, names and graph, and says so.

        ``code``: the model of definitions, where they have one of their own. ``liking``: see `rules.liking_of`.
        ``reranker``: what orders the best hits again, for who searches; no briefing waits for it.
        """
        self._reranker = reranker
        self._db, self._now, self._liking = db, now, liking
        lexicon = Lexicon(lambda word: text.terms(word).stems)
        redact = Redactor(config.redact.patterns, config.redact.allow)
        self._all = Sources(
            text=text, vectors=vectors, embedder=embedder, lexicon=lexicon, names=KnownNames(text.words), redact=redact,
            code=code,
        )  # fmt: skip
        self._config = config
        self._weights = weights or Weights()
        self._known_names: dict[tuple[ProjectId, ...], tuple[float, Mapping[str, str]]] = {}

    def search(
        self,
        *,
        query: str,
        projects: Sequence[ProjectId] = (),
        kinds: Sequence[str] = (),
        limit: int | None = None,
        since: Micros | None = None,
        until: Micros | None = None,
        statuses: Sequence[str] = (),
        working: Collection[str] = (),
        said: bool = False,
        scopes: Sequence[str] = (),
        meant: bool = False,
        unasked: bool = False,
    ) -> SearchAnswer:
        """The best entries, messages, documents and symbols, or why there are none.

        No ``projects`` is everywhere, no ``kinds`` all of them, no ``statuses`` those that are served. ``since`` is
        inclusive, ``until`` exclusive. ``working``: files and symbols at hand, whose entries come first. ``said``: of
        messages only what was said, not what tools were asked and answered; faster. ``scopes``: of entries limited to
        a part of the world (``plan:enterprise``) only those limited to these; all unless given. ``meant``: of entries
        only those that the question means (`rules.meant`), which is for whom nobody asked to see more. ``unasked``: of
        a prompt that was put to an agent and not to memory, which is told only what is closer still. Raises BadInput
        for an unknown kind or status.
        """
        wanted = limit or self._config.search.limit
        pool = max(SAID_POOL, (2 if wanted <= SAID_POOL else DEEP) * wanted) if said else max(POOL, 3 * wanted)
        ask = self._ask(query, projects, kinds, pool, since, until, statuses)
        ask = replace(ask, said=said, meant=meant, unasked=unasked, filters=replace(ask.filters, scopes=scopes))
        ask, notes = self._with_code(ask) if Kind.SYMBOL in kinds else (ask, self._notes())
        lagging = lag(self._db, self._sources.text.watermark())
        with self._db.read() as tx:
            ask = self._aliased(tx, ask)
            ranked = self._rank(tx, ask, wanted, working)
            if not (said or ranked.weak):
                ranked, told = self._reranked(tx, ask, ranked)
                notes = [*notes, *told] if told else notes
            hits = [] if ranked.weak else self._hits(tx, ask, ranked, wanted)
            reason = "" if hits else self._reason(tx, ask, ranked, lagging)
        return SearchAnswer(query=query, hits=hits, behind=lagging, reason=reason, notes=notes)

    def sessions(
        self,
        *,
        query: str,
        projects: Sequence[ProjectId] = (),
        limit: int = 5,
        since: Micros | None = None,
        until: Micros | None = None,
    ) -> Sequence[SessionHit]:
        """The sessions whose messages answer best, each with its messages that were found, best first."""
        ask = self._ask(query, projects, (Kind.MESSAGE,), max(POOL, 20 * limit), since, until, ())
        with self._db.read() as tx:
            ask = self._aliased(tx, ask)
            ranked = self._rank(tx, ask, ask.pool, ())
            if ranked.weak:
                return []
            grouped = rules.sessions(ranked.candidates, ranked.facts, self._weights)[:limit]
            full = queries.read_full(tx, [key for _, _, found in grouped for key in found])
            by_key = {one.key: one for one in ranked.candidates}
            wanted = self._sources.text.words(ask.question.sought)
            return [
                SessionHit(
                    session_id=session,
                    score=score,
                    hits=[self._hit(wanted, by_key[key], ranked.facts[key], full[key]) for key in found],
                )
                for session, score, found in grouped
            ]

    def why(
        self, *, question: str, projects: Sequence[ProjectId] = (), limit: int = 5, until: Micros | None = None
    ) -> WhyAnswer:
        """Past decisions that answer the question, superseded ones among them, each with its citations.

        What no entry says is looked for in the conversations: the sentences that give a reason, verbatim.
        """
        lagging = lag(self._db, self._sources.text.watermark())
        statuses = (*SERVED, Status.SUPERSEDED)
        from_entries = self._ask(question, projects, (Kind.ENTRY,), POOL, None, until, statuses)
        with self._db.read() as tx:
            from_entries = self._aliased(tx, from_entries)
            from_talk = replace(from_entries, kinds=(Kind.MESSAGE,), said=True)
            ranked = self._rank(tx, from_entries, limit, ())
            reasons = [] if ranked.weak else why.from_entries(tx, ranked, limit, self._now(), until)
            if len(reasons) < limit:
                spoken = self._rank(tx, from_talk, POOL, ())
                reasons += [] if spoken.weak else self._spoken(tx, from_talk, spoken, reasons, limit)
            reason = "" if reasons else self._reason(tx, from_talk, spoken, lagging)
        return WhyAnswer(question=question, reasons=reasons, reason=reason, behind=lagging)

    def _spoken(self, tx: Tx, ask: Ask, ranked: Ranked, reasons: Sequence[Reason], limit: int) -> list[Reason]:
        known = {receipt.message_id for one in reasons for receipt in one.receipts}
        words = self._sources.text.words
        wanted = words(ask.question.sought)
        left = limit - len(reasons)
        return why.from_messages(tx, ranked, wanted, words, limit=left, known=known)

    def _ask(
        self,
        query: str,
        projects: Sequence[ProjectId],
        kinds: Sequence[str],
        pool: int,
        since: Micros | None,
        until: Micros | None,
        statuses: Sequence[str],
    ) -> Ask:
        try:
            wanted = tuple(dict.fromkeys(Kind(kind) for kind in kinds)) or SEARCHED
            allowed = [Status(status) for status in statuses] or list(SERVED)
        except ValueError as error:
            raise BadInput(f"{error}; kinds: {', '.join(SEARCHED)}; statuses: {', '.join(Status)}") from error
        if Kind.SESSION in wanted:
            raise BadInput(f"sessions are not searched by kind; kinds: {', '.join(SEARCHED)}")
        filters = Filters(projects=list(projects), statuses=allowed, since=since, until=until)
        question = understand(query[:LONGEST_QUERY], self._names(projects))
        return Ask(question=question, kinds=wanted, filters=filters, pool=pool)

    def _aliased(self, tx: Tx, ask: Ask) -> Ask:
        """With what the question's words are called otherwise in its projects.

        Where all projects are searched, each has its own words: those of the projects that the question names count.
        """
        among = ask.filters.projects or [*map(ProjectId, sorted(ask.question.projects)), GLOBAL]
        text = self._sources.text
        mentions = self._sources.names.said(tx, among, ask.question.text, text.in_entries)
        aliases = other_names(mentions.terms, ask.question.text, text.words)
        return replace(ask, question=replace(ask.question, aliases=aliases), mentions=mentions)

    def _names(self, projects: Sequence[ProjectId]) -> Mapping[str, str]:
        """The names of the projects, not older than `NAMES_SECONDS`."""
        now, key = time.monotonic(), tuple(projects)
        until, names = self._known_names.get(key, (0.0, {}))
        if now >= until:
            with self._db.read() as tx:
                names = queries.project_names(tx, projects)
            if len(self._known_names) > MOST_NAMES:
                self._known_names.clear()
            self._known_names[key] = (now + NAMES_SECONDS, names)
        return names

    def _rank(self, tx: Tx, ask: Ask, wanted: int, working: Collection[str]) -> Ranked:
        return rank(
            tx,
            self._sources,
            ask,
            self._weights,
            wanted=wanted,
            working=working,
            abstain=self._config.search.abstain,
            liked=self._liking(tx, ask.filters.projects) if Kind.ENTRY in ask.kinds else None,
        )

    def _reranked(self, tx: Tx, ask: Ask, ranked: Ranked) -> tuple[Ranked, Sequence[str]]:
        """With the best candidates in the reranker's order; as they are, and why, without its answer."""
        best = ranked.candidates[:MOST]
        if self._reranker is None or len(best) < 2:
            return ranked, ()
        full = queries.read_full(tx, [one.key for one in best])
        clean = self._sources.redact.text
        texts = [clean(f"{full[one.key].title}\n{full[one.key].text[:RERANKED]}") for one in best]
        scores, why = self._reranker.score(clean(ask.question.text), texts, self._config.search.rerank_seconds)
        if scores is None:
            return ranked, [why]
        return replace(ranked, candidates=reordered(ranked.candidates, scores)), ()

    def _hits(self, tx: Tx, ask: Ask, ranked: Ranked, limit: int) -> list[Hit]:
        full: dict[Key, Full] = {}
        words: dict[Key, Collection[str]] = {}
        kept: list[Candidate] = []
        looked = 0
        while len(kept) < limit and looked < len(ranked.candidates):
            more = ranked.candidates[looked : looked + limit - len(kept) + 4]
            looked += len(more)
            texts = queries.read_full(tx, [one.key for one in more])
            full |= texts
            words |= {key: one.text[:TWIN_CHARS].lower().split() for key, one in texts.items()}
            kept = rules.distinct(ranked.candidates[:looked], words, limit, self._weights)
        wanted = self._sources.text.words(ask.question.sought)
        facts = dict(ranked.facts)
        kept = self._with_prerequisites(tx, ask, relations.confirmed_first(kept, facts), facts, full, limit)
        against = queries.held_against(tx, [one.key[1] for one in kept])
        told = warnings_of(tx, [one.key for one in kept], self._now())
        return [
            self._hit(wanted, one, facts[one.key], full[one.key], against.get(one.key[1]), told.get(one.key, ""))
            for one in kept
        ]

    def _with_prerequisites(
        self, tx: Tx, ask: Ask, kept: list[Candidate], facts: dict[Key, Facts], full: dict[Key, Full], limit: int
    ) -> list[Candidate]:
        """What the entries among them need before them, found or not; ``facts`` and ``full`` get what comes in."""
        config = self._config.search
        entries = [one.key[1] for one in kept if one.key[0] is Kind.ENTRY]
        needed = relations.prerequisites(tx, entries, config.prerequisites) if entries else {}
        if not needed:
            return kept
        missing = {(Kind.ENTRY, id) for ids in needed.values() for id in ids} - facts.keys()
        facts |= queries.read_facts(tx, missing, ask.filters)
        wanted = {(Kind.ENTRY, id) for ids in needed.values() for id in ids} & facts.keys()
        full |= queries.read_full(tx, [key for key in wanted if key not in full])
        served = {id: [one for one in ids if (Kind.ENTRY, one) in wanted] for id, ids in needed.items()}
        order = relations.before([one.key[1] for one in kept], served, int(limit * config.prerequisite_share))
        by_id = {one.key[1]: one for one in kept}
        for id, ids in served.items():
            for one in ids:
                by_id.setdefault(one, Candidate(key=(Kind.ENTRY, one), score=by_id[id].score, why=["prerequisite"]))
        return [by_id[id] for id in order][:limit]

    def _hit(
        self,
        wanted: Collection[str],
        one: Candidate,
        facts: Facts,
        full: Full,
        against: tuple[str, Micros] | None = None,
        banner: str = "",
    ) -> Hit:
        kind, id = one.key
        return Hit(
            kind=kind.value,
            id=id,
            short=short_id(id),
            project_id=facts.project,
            title=full.title,
            text=best_passage(full.text, wanted),
            score=round(one.score, 4),
            status=facts.status,
            type=facts.type,
            role=facts.role,
            session_id=facts.session,
            agent=full.agent,
            path=full.path,
            banner=banner,
            feedback=f"called {against[0]} on {dated(against[1])}" if against else "",
            created_at=Micros(facts.at),
            why=tuple(one.why),
        )

    def _reason(self, tx: Tx, ask: Ask, ranked: Ranked, lagging: int) -> str:
        if ranked.candidates and ranked.weak:
            return "below the floor"
        if ranked.refused:
            return f"filtered out ({ranked.refused})"
        if not queries.holds_any(tx, ask.kinds, ask.filters.projects):
            return "nothing stored"
        return f"index behind by {lagging}" if lagging else "no match"

    def _with_code(self, ask: Ask) -> tuple[Ask, Sequence[str]]:
        """With the question as the model of code understands it, and the notes. For who asks for definitions by name:
        a search of everything does not start a process for them."""
        code, notes = self._sources.code, self._notes()
        if code is None or self._sources.vectors is None:
            return ask, notes
        with self._db.read() as tx:
            if not queries.embedded(tx, Kind.SYMBOL, code.model_id):
                return ask, notes
            if last_stored(tx, code.model_id) is not None:
                notes = [*notes, WAITING]
        vector, why = code.encode(self._sources.redact.text(ask.question.text), PATIENCE)
        return replace(ask, code=vector), [*notes, why] if why else notes

    @property
    def _sources(self) -> Sources:
        """What can propose candidates now: without the embedder while it does not answer."""
        away = isinstance(self._all.embedder, ServingEmbedder) and self._all.embedder.down
        return replace(self._all, embedder=None) if away else self._all

    def _notes(self) -> Sequence[str]:
        return () if self._sources.embedder and self._sources.vectors else ("no embedding model: full text only",)
