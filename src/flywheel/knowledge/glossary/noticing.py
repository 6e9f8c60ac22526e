"""What texts define, proposed for the glossary of their project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge.deciding import Act
from flywheel.knowledge.glossary import proposing
from flywheel.knowledge.glossary.defining import Defined, definitions
from flywheel.knowledge.glossary.proposing import Ground
from flywheel.knowledge.glossary.wording import Wording
from flywheel.knowledge.states import RULES
from flywheel.model import Clean, Document, Message, MessageKind, Micros, ProjectId, Role
from flywheel.projects import queries as projects
from flywheel.store import Db, Tx
from flywheel.text.compose import fixed, reworded, span

AT_ONCE: Final = 50
"""Proposals of one text or session."""

_RULE: Final = fixed("a text says so")
_SAID: Final = (MessageKind.PROMPT, MessageKind.REPLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """A definition, ready to be proposed."""

    name: Clean
    wording: Wording
    ground: Ground


def in_message(message: Message) -> Iterator[Noticed]:
    """What a person or an assistant defines in a message."""
    if message.kind in _SAID:
        for one in definitions(message.text, own=message.role is Role.USER):
            quote = span(message.text, one.start, one.stop)
            yield _noticed(one, Ground(message_id=message.id, start=one.start, stop=one.stop, quote=quote))


def in_file(db: Db, document: Document, now: Micros) -> int:
    """Propose what a document defines; how much was news."""
    noticed = list(in_document(document))
    if not noticed:
        return 0
    with db.write(bulk=True) as tx:
        return propose(tx, document.project_id, noticed, now)


def in_document(document: Document) -> Iterator[Noticed]:
    """What a document defines."""
    for one in definitions(document.text, document=True):
        quote = span(document.text, one.start, one.stop)
        yield _noticed(one, Ground(document_id=document.id, start=one.start, stop=one.stop, quote=quote))


def _noticed(one: Defined, ground: Ground) -> Noticed:
    wording = Wording(meaning=reworded(one.meaning, ground.quote), synonyms=one.synonyms)
    return Noticed(name=reworded(one.name, ground.quote), wording=wording, ground=ground)


def propose(tx: Tx, project: ProjectId, some: Iterable[Noticed], now: Micros) -> int:
    """Propose these, each once; how many were news. Proposing again changes nothing."""
    family: Sequence[ProjectId] = projects.family(tx, project)
    act = Act(actor=RULES, now=now, reason=_RULE)
    return sum(proposing.propose(tx, family, one.name, one.wording, act, one.ground) for one in list(some)[:AT_ONCE])
