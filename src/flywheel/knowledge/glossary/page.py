"""The glossary as a page that people read and edit, and what an edit of it asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.knowledge.glossary.keeping import waits
from flywheel.knowledge.glossary.wording import Wording, normal, wording_of
from flywheel.model import Status, Term, short_id
from flywheel.text.inert import disarmed, tidy, without_hidden

LARGEST: Final = 1 << 20
"""Bytes of an edited page that are read."""

_HEAD: Final = (
    "What words mean here and what else they are called. Edit a term, or add one: the change waits until a person"
    " confirms it (`flywheel term ls --waiting`). Lines that begin with `>` are Flywheel's."
)
_LISTS: Final = (("synonyms", "synonyms"), ("targets", "targets"), ("related", "related"))
_LINES: Final = (("relation", "relations"), ("gotcha", "gotchas"))
_KEYS: Final = dict((*_LISTS, *_LINES)) | {"synonym": "synonyms", "target": "targets", "gotchas": "gotchas"}
_TERM: Final = re.compile(r"##[ \t]+(?P<name>\S.*?)[ \t]*$")
_FIELD: Final = re.compile(r"[-*][ \t]+(?P<key>[a-z]+):[ \t]*(?P<value>.*?)[ \t]*$", re.IGNORECASE)


def draw(project: str, terms: Sequence[Term]) -> str:
    """The page: the terms in the order given, those that were taken out left away. The same terms give the same bytes.

    "" when there is none.
    """
    shown = [term for term in terms if term.status is not Status.REJECTED]
    if not shown:
        return ""
    lines = [f"# Glossary of {_safe(project)}", "", _HEAD, ""]
    for term in shown:
        lines += [*_term(term), ""]
    return "\n".join(lines)


def _term(term: Term) -> Iterator[str]:
    yield f"## {_safe(term.name)}"
    yield ""
    if term.meaning:
        yield _safe(term.meaning)
        yield from [""] if any((*term.synonyms, *term.targets, *term.related, *term.relations, *term.gotchas)) else []
    wording = wording_of(term)
    for key, field in _LISTS:
        values = getattr(wording, field)
        if values:
            yield f"- {key}: {', '.join(map(_safe, values))}"
    for key, field in _LINES:
        yield from (f"- {key}: {_safe(value)}" for value in getattr(wording, field))
    if term.status is not Status.CONFIRMED and term.quote:
        yield f"> proposed [fw:{short_id(term.id)}], from: “{_safe(term.quote)}”"
    elif term.status is not Status.CONFIRMED:
        yield f"> proposed [fw:{short_id(term.id)}]"
    if term.status is Status.CONFIRMED:
        yield from (f"> waits for review: {_safe(line)}" for line in waits(term))


def _safe(text: str) -> str:
    """Stored text on one line that changes nothing around it."""
    line = " ".join(disarmed(tidy(without_hidden(text))).split())
    return f"\\{line}" if line[:1] in ("#", ">") else line


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The glossary as somebody's page has it."""

    terms: dict[str, tuple[str, dict[str, object]]]  # normal name → (name, fields)
    unread: int = 0  # lines that say nothing a glossary has


def read(text: str) -> Written:
    """Take a page apart."""
    terms: dict[str, tuple[str, dict[str, object]]] = {}
    fields: dict[str, object] | None = None
    unread = 0
    for line in text.splitlines():
        found = _TERM.match(line)
        if found:
            name = found["name"].removeprefix("\\").strip()
            fields = {"meaning": ""}
            terms[normal(name)] = (name, fields)
        elif line.startswith(">") or not line.strip() or fields is None:
            continue
        elif (given := _FIELD.match(line)) and given["key"].lower() in _KEYS:
            _take(fields, given["key"].lower(), given["value"])
        elif line.startswith(("#", "-", "*")):
            unread += 1
        else:
            fields["meaning"] = f"{fields['meaning']} {line.strip().removeprefix(chr(92))}".strip()
    return Written(terms=terms, unread=unread)


def _take(fields: dict[str, object], key: str, value: str) -> None:
    field = _KEYS[key]
    before = fields.get(field, ())
    assert isinstance(before, tuple)
    many = field not in ("relations", "gotchas")
    fields[field] = (*before, *(one.strip() for one in (value.split(",") if many else [value]) if one.strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an edit asks for: terms worded so, and terms that go."""

    worded: Sequence[tuple[str, dict[str, object]]] = ()  # (name, fields)
    gone: Sequence[str] = ()  # names
    unread: int = 0


def asked(edited: str, before: str) -> Asked:
    """What somebody changed in the page."""
    new, old = read(edited), read(before)
    before_ = {key: fields for key, (_, fields) in old.terms.items()}
    return Asked(
        worded=[one for key, one in new.terms.items() if before_.get(key) != one[1]],
        gone=[name for key, (name, _) in old.terms.items() if key not in new.terms],
        unread=max(0, new.unread - old.unread),
    )


def as_wording(fields: dict[str, object]) -> Wording:
    """The fields of a page's term, redacted by the caller, as a wording."""
    return replace(Wording(), **fields)  # type: ignore[arg-type]
