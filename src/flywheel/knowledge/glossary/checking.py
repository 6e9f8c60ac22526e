"""What is wrong with a glossary: one function per check, over terms with what is known around them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from flywheel.knowledge.glossary.keeping import terms_of
from flywheel.knowledge.glossary.wording import normal
from flywheel.knowledge.linting.values import Found, Rules
from flywheel.knowledge.thresholds import Thresholds
from flywheel.model import Kind, ProjectId, Status, Term, short_id
from flywheel.store import Tx

_PLACE: Final = "glossary.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """A confirmed term, and what is known of the things that it names."""

    id: str
    name: str
    rivals: Mapping[str, Sequence[str]] = field(default_factory=dict)  # a name of it → other terms that claim it
    gone: Sequence[str] = ()  # targets that are not there
    missing: Sequence[str] = ()  # related terms that the glossary has not
    used: bool = True  # some page or document uses one of its names


def claimed_twice(one: Worded, rules: Rules) -> Iterator[Found]:
    """A name that two terms claim: nobody can tell which one a question means."""
    for name, others in one.rivals.items():
        if normal(name) in map(normal, others):  # after projects were merged
            yield _found(one, f"another term is called “{name}”, too", f"flywheel term rm fw:{short_id(one.id)}")
            continue
        both = ", ".join(f"“{other}”" for other in others)
        yield _found(one, f"“{name}” is a name of “{one.name}” and of {both}", f'flywheel term set "{one.name}" ...')


def target_gone(one: Worded, rules: Rules) -> Iterator[Found]:
    """A target that is not there any more."""
    for target in one.gone:
        message = f"“{one.name}” leads to {target}, which is not there"
        yield _found(one, message, f'name another target: flywheel term set "{one.name}" --target ...')


def related_missing(one: Worded, rules: Rules) -> Iterator[Found]:
    """A related term that the glossary has not."""
    for name in one.missing:
        message = f"“{one.name}” is related to “{name}”, which is no term"
        yield _found(one, message, f'add it (flywheel term set "{name}"), or take it out')


def unused(one: Worded, rules: Rules) -> Iterator[Found]:
    """A term that no page and no document uses by any of its names."""
    if not one.used:
        yield _found(one, f"no page and no document uses “{one.name}”", f'take it out: flywheel term rm "{one.name}"')


def worded(tx: Tx, projects: Sequence[ProjectId], root: Path | None = None) -> Iterator[Worded]:
    """The confirmed terms of these projects with what is known around them."""
    terms = terms_of(tx, projects, (Status.CONFIRMED,))
    claimed = _claimed(terms)
    for term in terms:
        earlier = [one for one in terms if (normal(one.name), one.id) < (normal(term.name), term.id)]
        used = any(_used(tx, projects, name) for name in (term.name, *term.synonyms))
        yield _worded(tx, projects, term, claimed, {one.id for one in earlier}, root=root, used=used)


def doubts(tx: Tx, projects: Sequence[ProjectId], term: Term, root: Path | None = None) -> list[str]:
    """What is wrong with one term, a line each: what lint will say, against all the others, but whether it is used."""
    terms = terms_of(tx, projects, (Status.CONFIRMED,))
    others = {one.id for one in terms if one.id != term.id}
    claimed = _claimed([*(one for one in terms if one.id != term.id), term])
    one = _worded(tx, projects, term, claimed, others, root=root)
    rules = Rules(limits=Thresholds(), now=term.updated_at)
    return [found.message for check in (claimed_twice, target_gone, related_missing) for found in check(one, rules)]


def _claimed(terms: Sequence[Term]) -> Mapping[str, Sequence[Term]]:
    claimed: dict[str, list[Term]] = defaultdict(list)
    for term in terms:
        for name in {normal(one) for one in (term.name, *term.synonyms)}:
            claimed[name].append(term)
    return claimed


def _worded(
    tx: Tx, projects: Sequence[ProjectId], term: Term, claimed: Mapping[str, Sequence[Term]],
    among: Set[str], *, root: Path | None, used: bool = True,
) -> Worded:  # fmt: skip
    return Worded(
        id=term.id,
        name=term.name,
        rivals=_rivals(term, claimed, among),
        gone=[target for target in term.targets if not _there(tx, projects, target, root)],
        missing=[name for name in term.related if not claimed.get(normal(name))],
        used=used,
    )


def _rivals(term: Term, claimed: Mapping[str, Sequence[Term]], among: Set[str]) -> dict[str, list[str]]:
    """A name → those of the terms ``among`` that claim it, too. Lint tells of two only the later in the alphabet."""
    found: dict[str, list[str]] = {}
    for name in (term.name, *term.synonyms):
        others = [str(one.name) for one in claimed.get(normal(name), ()) if one.id in among]
        if others:
            found[name] = others
    return found


_KNOWN: Final = (
    "SELECT 1 FROM entry WHERE project_id IN :projects AND (short = :target OR id = :target) AND status <> 'rejected'",
    "SELECT 1 FROM document_head WHERE project_id IN :projects AND path = :target AND gone_at IS NULL",
    "SELECT 1 FROM source_file WHERE project_id IN :projects AND path = :target",
    "SELECT 1 FROM symbol WHERE project_id IN :projects AND (name = :target OR qualified = :target)",
)


def _there(tx: Tx, projects: Sequence[ProjectId], target: str, root: Path | None) -> bool:
    """Whether a target leads somewhere: an entry, a document, a file, a symbol (``path::name`` too), or an address."""
    plain = target.strip().removeprefix("[").removesuffix("]").removeprefix("fw:")
    if "://" in plain:
        return True
    last = plain.rpartition("::")[2]
    found = (tx.one(f"{sql} LIMIT 1", projects=list(projects), target=one) for one in {plain, last} for sql in _KNOWN)
    return any(row is not None for row in found) or (root is not None and _on_disk(root, plain))


def _on_disk(root: Path, target: str) -> bool:
    if target.startswith(("/", "~")) or ".." in Path(target).parts:
        return False
    try:
        return (root / target).exists()
    except (OSError, ValueError):
        return False


_USING: Final = (
    r"SELECT 1 FROM entry WHERE project_id IN :projects"
    r" AND LOWER(title || ' ' || summary || ' ' || body) LIKE :name ESCAPE '\' LIMIT 1",
    r"SELECT 1 FROM document WHERE project_id IN :projects AND LOWER(text) LIKE :name ESCAPE '\' LIMIT 1",
)


def _used(tx: Tx, projects: Sequence[ProjectId], name: str) -> bool:
    literal = name.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return any(tx.one(sql, projects=list(projects), name=f"%{literal}%") is not None for sql in _USING)


def _found(one: Worded, message: str, remedy: str) -> Found:
    return Found(kind=Kind.TERM.value, id=one.id, place=_PLACE, message=message, remedy=remedy)
