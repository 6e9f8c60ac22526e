"""Claims of made-up pages, in a store or alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from flywheel.knowledge import changing
from flywheel.knowledge.conflict import DAY
from flywheel.knowledge.deciding import Act
from flywheel.model import (
    Category,
    Citation,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Entry,
    EntryId,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Project,
    ProjectId,
    Review,
    Role,
    Session,
    SessionId,
    Status,
    digest,
    evidence_id,
    short_id,
)
from flywheel.store import Db
from flywheel.store.mapper import find, get, insert, insert_many

P = ProjectId("p")
START = Micros(20_000 * DAY)
PERSON = Clean("user:mara via terminal")
WHY = Clean("")


def claim(name: str, text: str = "", **more: Any) -> Claim:
    """A claim of the entry "e"; said on day ``day`` after the start."""
    day = more.pop("day", 1)
    given: dict[str, Any] = {
        "id": ClaimId(evidence_id("claim", name)), "project_id": P, "entry_id": EntryId("e"), "type": ClaimType.FACT,
        "status": Status.CANDIDATE, "text": Clean(text or name), "role": Role.USER, "rank": 1,
        "said_at": Micros(START + day * DAY), "recorded_at": START, "session_id": SessionId("5" * 32),
    }  # fmt: skip
    return Claim(**(given | more))


def value(name: str, attribute: str, told: str, **more: Any) -> Claim:
    """A claim that gives the value of an attribute of exports."""
    given = {"attribute": Clean(attribute), "value": Clean(told), "subject": Clean("export")}
    return claim(name, f"{attribute} of exports is {told} ({name})", **(given | more))


def mark(name: str) -> str:
    """How a page cites a claim."""
    return f"[fw:{short_id(evidence_id('claim', name))}]"


@dataclass(slots=True)
class House:
    """A project in a store, with the time of the next act."""

    db: Db
    now: Micros = field(default=Micros(START + 400 * DAY))

    def __post_init__(self) -> None:
        with self.db.write() as tx:
            insert(tx, Project(id=P, key=Clean("path:/p"), name=Clean("p"), root=Clean("/p"), created_at=Micros(0)))

    def entry(self, name: str, *claims: Claim, **more: Any) -> Entry:
        """A page with these claims, each quoted from a message of its own."""
        id = EntryId(evidence_id("entry", name))
        given: dict[str, Any] = {
            "id": id, "short": short_id(id), "project_id": P, "category": Category.KNOWLEDGE, "type": ClaimType.FACT,
            "status": Status.CANDIDATE, "subject": Clean(""), "title": Clean(name), "summary": Clean(""),
            "body": Clean(""), "key": name, "created_at": START, "updated_at": START,
        }  # fmt: skip
        with self.db.write() as tx:
            insert(tx, Entry(**(given | more)))
            for one in claims:
                self._claim(tx, replace(one, entry_id=id))
            changing.changed(tx, id, now=self.tick(), reason=Clean("made"), actor=Clean("rules"))
        return self.read(id)

    def say(self, entry: Entry, *claims: Claim) -> Entry:
        """More claims of a page, as extraction adds them."""
        with self.db.write() as tx:
            for one in claims:
                self._claim(tx, replace(one, entry_id=entry.id))
            changing.changed(tx, entry.id, now=self.tick(), reason=Clean("more was said"), actor=Clean("rules"))
        return self.read(entry.id)

    def quote(self, entry: Entry, one: Claim, message: str) -> None:
        """A claim of a page that is quoted from this message."""
        with self.db.write() as tx:
            self._claim(tx, replace(one, entry_id=entry.id), message)
            changing.changed(tx, entry.id, now=self.tick(), reason=Clean("more was said"), actor=Clean("rules"))

    def _claim(self, tx: Any, one: Claim, message_text: str = "") -> None:
        text = Clean(message_text or f"Before it.\nListen: {one.text} Go on.\nAfter it.")
        message = Message(
            id=MessageId(evidence_id("message", one.id)), project_id=P, session_id=SessionId("5" * 32), ordinal=1,
            role=one.role, kind=MessageKind.PROMPT, text=text, created_at=one.said_at, sha256=digest(text),
        )  # fmt: skip
        start = text.index(one.text)
        insert_many(tx, [message])
        insert(tx, one)
        insert(
            tx,
            Citation(
                id=evidence_id("citation", one.id), project_id=P, claim_id=one.id, message_id=message.id, start=start,
                stop=start + len(one.text), quote=one.text, sha256=digest(one.text), created_at=START,
            ),
        )  # fmt: skip

    def session(self) -> None:
        """The session of these messages."""
        with self.db.write() as tx:
            insert(
                tx,
                Session(
                    id=SessionId("5" * 32), project_id=P, agent="claude", native_id="s1", title=Clean("A talk"),
                    started_at=START, last_at=START,
                ),
            )  # fmt: skip

    def tick(self) -> Micros:
        """A moment later."""
        self.now = Micros(self.now + 1_000_000)
        return self.now

    def act(self, reason: str = "", actor: Clean = PERSON) -> Act:
        """A person acts now."""
        return Act(actor=actor, now=self.tick(), reason=Clean(reason))

    def read(self, id: str) -> Entry:
        """The entry as it is now."""
        with self.db.read() as tx:
            found = get(tx, Entry, id=id)
        assert found is not None
        return found

    def claim(self, name: str) -> Claim:
        """The claim as it is now."""
        with self.db.read() as tx:
            found = get(tx, Claim, id=evidence_id("claim", name))
        assert found is not None
        return found

    def reviews(self, id: str) -> list[Review]:
        """What was done about an entry or a claim, in order."""
        with self.db.read() as tx:
            return find(tx, Review, "WHERE target_id = :id ORDER BY created_at, id", id=id)
