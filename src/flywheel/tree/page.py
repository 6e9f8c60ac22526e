"""A page of the tree as text: the same sheet always gives the same bytes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from flywheel.knowledge.thresholds import Thresholds
from flywheel.model import EdgeKind, Entry, Micros, Role, Status, digest, short_id
from flywheel.search import banners
from flywheel.search.banners import notices
from flywheel.tree.edited import applied, shown, unified
from flywheel.tree.naming import part_path
from flywheel.tree.shapes import Name, Pending, Rendered, Sheet, Source, Told

UNDERSTANDING: Final = "Understanding"
QUESTIONS: Final = "Open questions"
TIMELINE: Final = "Timeline"
SOURCES: Final = "Sources"
LINKS: Final = "Links"
CONFLICT: Final = "Conflicting edit"
NO_LONGER: Final = "No longer"
NO_LONGER_MARK: Final = "\n## No longer\n"

DAY: Final = banners.DAY
"""Microseconds of a day."""

_LIVE: Final = (Status.CANDIDATE, Status.CONFIRMED, Status.DISPUTED, Status.STALE)
_WHO: Final = {
    Role.USER: "said by the user",
    Role.ASSISTANT: "said by the assistant",
    Role.TOOL: "from a tool",
    Role.SYSTEM: "written in a file",
}
_JSON: Final = json.JSONEncoder(ensure_ascii=False)
_LISTED: Final = 40
_QUOTED: Final = 300


def render_page(sheet: Sheet, limits: Thresholds, now: Micros) -> Sequence[Rendered]:
    """The page, and the parts that it is continued on. What depends on ``now`` is which banners it carries."""
    entry = sheet.entry
    face = face_of(sheet)
    if sheet.merged_into is not None:
        return [Rendered(path=sheet.path, text=_redirect(sheet, sheet.merged_into), entry_id=entry.id, face=face)]
    facts = shown_facts(sheet)
    older, newest = _divided(sheet.told, limits.page_entries)
    parts = [facts[at : at + limits.page_facts] for at in range(0, len(facts), limits.page_facts)] or [[]]
    more = [part_path(sheet.path, f"more-{number}") for number in range(2, len(parts) + 1)]
    past = [part_path(sheet.path, f"timeline-{number}") for number in range(1, len(older) + 1)]
    timeline = [line for told in newest for line in _told(told)]
    main = _main(sheet, parts[0], timeline, more, past, limits, now)
    files = [Rendered(path=sheet.path, text=main, entry_id=entry.id, face=face)]
    back = f"Continued from [{_title(entry.title)}]({_leaf(sheet.path)})."
    for path, lines in zip(more, parts[1:], strict=True):
        text = _part(entry, path, back, UNDERSTANDING, bullets(lines))
        files.append(Rendered(path=path, text=text, entry_id=entry.id))
    for path, some in zip(past, older, strict=True):
        text = _part(entry, path, back, TIMELINE, [line for told in some for line in _told(told)])
        files.append(Rendered(path=path, text=text, entry_id=entry.id))
    return files


def body_facts(body: str) -> list[str]:
    """The facts of an entry's body, one a line, as pages show them; its sections are left out."""
    return _lines(body.partition("## ")[0] if body.startswith("## ") else body.partition("\n## ")[0])


def no_longer(body: str) -> list[str]:
    """What does not hold any more, as the body says it."""
    _, found, rest = f"\n{body}".partition(NO_LONGER_MARK)
    return _lines(rest.partition("\n## ")[0]) if found else []


def _lines(text: str) -> list[str]:
    return [fact for line in text.splitlines() if (fact := shown(line.removeprefix("- ").removeprefix("* ")))]


def shown_facts(sheet: Sheet) -> list[str]:
    """The understanding as the page shows it: the store's, with the edits that are not decided."""
    facts = body_facts(sheet.entry.body or sheet.entry.summary)
    return applied(facts, [one for one in sheet.pending if not one.conflict])


def bullets(lines: Sequence[str]) -> list[str]:
    """Facts as list items; a heading below the section's stays one."""
    return [line if line.startswith("### ") else f"- {line}" for line in lines]


def face_of(sheet: Sheet) -> str:
    """A hash of what other pages show of this one, and of which pages that is; its end of what the one before shows."""
    entry = sheet.entry
    ties = sorted(f"{tie.kind}{tie.back}{tie.other.id}" for tie in sheet.ties)
    place = "\0".join((entry.title, sheet.path, entry.redirect_to or ""))
    return digest("\0".join((entry.title, entry.status, sheet.path, *ties)))[:16] + shelf_face(digest(place))


def shelf_face(face: str) -> str:
    """The part of a face that the page before this one on the shelf shows."""
    return face[-8:]


def stamp(micros: int) -> str:
    """A time as front matter has it."""
    return _stamped(micros // 1_000_000)


@lru_cache(maxsize=4096)
def _stamped(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(micros: int) -> str:
    """A calendar day, UTC."""
    return _dated(micros // DAY)


@lru_cache(maxsize=4096)
def _dated(days: int) -> str:
    return datetime.fromtimestamp(days * (DAY // 1_000_000), UTC).strftime("%Y-%m-%d")


def link(origin: str, target: str, title: str) -> str:
    """A Markdown link from one file of the tree to another."""
    folder = origin[: origin.rfind("/") + 1]
    if target.startswith(folder):
        return f"[{_title(title)}]({target[len(folder) :].replace(' ', '%20')})"
    mine, other = origin.split("/")[:-1], target.split("/")
    same = 0
    while same < min(len(mine), len(other) - 1) and mine[same] == other[same]:
        same += 1
    where = "/".join([".."] * (len(mine) - same) + other[same:])
    return f"[{_title(title)}]({where.replace(' ', '%20')})"


def sources_of(sheet: Sheet) -> list[Source]:
    """What the page's claims rest on, each once."""
    found = {(source.kind, source.id): source for told in sheet.told for source in told.sources}
    return [found[key] for key in sorted(found)]


def _main(
    sheet: Sheet,
    facts: Sequence[str],
    timeline: Sequence[str],
    more: Sequence[str],
    past: Sequence[str],
    limits: Thresholds,
    now: Micros,
) -> str:
    lines = [*_front(sheet), "", f"# {shown(sheet.entry.title)}", ""]
    for banner in _banners(sheet, limits, now):
        lines += [f"> {banner}", ""]
    lines += _section(UNDERSTANDING, bullets(facts), anyway=True)
    lines += [f"Continued on {', '.join(f'[{_leaf(path)}]({_leaf(path)})' for path in more)}.", ""] if more else []
    lines += _section(QUESTIONS, bullets(_lines(sheet.entry.questions)))
    lines += _conflicts(sheet.pending)
    lines += _section(NO_LONGER, bullets(no_longer(sheet.entry.body)))
    earlier = ", ".join(f"[{number}]({_leaf(path)})" for number, path in enumerate(past, 1))
    lines += _section(TIMELINE, [*([f"Earlier: {earlier}.", ""] if past else []), *timeline], anyway=True)
    lines += _section(SOURCES, [_source(sheet.path, source) for source in sources_of(sheet)])
    lines += _section(LINKS, list(_links(sheet)))
    return "\n".join(lines).rstrip() + "\n"


def _front(sheet: Sheet) -> Iterator[str]:
    entry = sheet.entry
    yield "---"
    yield f"title: {_quoted(entry.title)}"
    yield f"type: {entry.type}"
    yield f"category: {entry.category}"
    yield f"status: {entry.status}"
    if entry.scope:
        yield f"scope: {_quoted(entry.scope)}"
    yield f"tags: {_JSON.encode([shown(tag) for tag in entry.tags])}"
    yield f"summary: {_quoted(entry.summary)}"
    yield f"created_at: {stamp(entry.created_at)}"
    yield f"updated_at: {stamp(entry.updated_at)}"
    yield f"last_confirmed: {stamp(entry.last_confirmed) if entry.last_confirmed else 'null'}"
    named = [f"{source.kind}:{source.id}" for source in sources_of(sheet)]
    rest = [f"and {len(named) - _LISTED} more"] if len(named) > _LISTED else []
    yield f"sources: {json.dumps([*named[:_LISTED], *rest])}"
    yield f"id: {entry.id}"
    yield f"version: {entry.version}"
    edits = list(dict.fromkeys(one.edit for one in sheet.pending if not one.conflict))
    if edits:
        yield f"edits: {json.dumps(edits)}"
    if entry.pinned:
        yield "pinned: true"
    yield "---"


def _banners(sheet: Sheet, limits: Thresholds, now: Micros) -> Iterator[str]:
    entry = sheet.entry
    match entry.status:
        case Status.CANDIDATE:
            yield "**Unconfirmed.** Nobody has confirmed this page; decide with `flywheel review`."
        case Status.SUPERSEDED:
            by = [tie.other for tie in sheet.ties if tie.back and tie.kind == EdgeKind.SUPERSEDES and tie.other.path]
            see = f"; see {link(sheet.path, by[0].path, by[0].title)}" if by else ""
            yield f"**Superseded.** This no longer holds{see}."
    yield from (f"**{one.head}** {shown(one.text)}" for one in notices(entry, limits.limits, now))
    if any(not one.conflict for one in sheet.pending):
        yield "**Edited, not reviewed.** Somebody edited this page; it shows the edit, which nobody has confirmed."
    if any(one.conflict for one in sheet.pending):
        yield f"**Conflict.** Two edits change the same lines; the second stands below *{CONFLICT}*. Nothing is lost."


def expires(entry: Entry, limits: Thresholds) -> int:
    """When a page passes its threshold, in microseconds."""
    return limits.limits.expires(entry)


def _section(name: str, lines: Sequence[str], *, anyway: bool = False) -> list[str]:
    return [f"## {name}", "", *lines, *([""] if lines else [])] if lines or anyway else []


def _conflicts(pending: Sequence[Pending]) -> list[str]:
    """The edits that lost the race, as diffs."""
    lines: list[str] = []
    edits = dict.fromkeys(one.edit for one in pending if one.conflict)
    for edit in edits:
        mine = [one for one in pending if one.conflict and one.edit == edit]
        lines += [f"[fw:{edit}] of {day(mine[0].at)}, by an unknown author:", "", "```diff", *unified(mine), "```", ""]
    return _section(CONFLICT, lines[:-1])


def _divided(told: Sequence[Told], size: int) -> tuple[list[Sequence[Told]], Sequence[Told]]:
    """Full older parts of ``size`` claims, which no later claim changes, and the newest, one or two parts long."""
    count = max(0, len(told) // size - 1)
    return [told[at * size : (at + 1) * size] for at in range(count)], told[count * size :]


def _told(told: Told) -> Iterator[str]:
    claim = told.claim
    scope = f", {shown(claim.scope)}" if claim.scope else ""
    label = f"{shown(claim.attribute)}: " if claim.attribute else ""
    text = shown(claim.text)
    head = f"{day(claim.said_at)} {claim.type} ({claim.status}, {_WHO[claim.role]}{scope})"
    where = ", ".join(dict.fromkeys(_origin(source) for source in told.sources))
    tail = f" [fw:{short_id(claim.id)}]{f' from {where}' if where else ''}"
    if claim.status in _LIVE:
        yield f"- {head}: {label}{text}{tail}"
    else:
        by, why = (f" by [fw:{told.by}]" if told.by else ""), (f": {shown(told.reason)}" if told.reason else "")
        yield f"- {head}: ~~{label}{text}~~{tail}; {claim.status}{by}{why}"
    for quote in told.quotes:
        said = shown(quote)
        if said and said not in text:
            yield f"  - “{said[:_QUOTED]}{'…' if len(said) > _QUOTED else ''}”"


def _origin(source: Source) -> str:
    if source.kind == "session" or not source.path:
        return f"{source.label} [fw:{short_id(source.id)}]"
    return source.path


def _source(origin: str, source: Source) -> str:
    if source.kind == "session" or not source.path:
        return f"- {source.label} [fw:{short_id(source.id)}]{f': `{source.path}`' if source.path else ''}"
    return f"- {link(origin, source.path, source.label)} [fw:{short_id(source.id)}]"


def _links(sheet: Sheet) -> Iterator[str]:
    for tie in sorted(sheet.ties, key=lambda tie: (tie.kind, tie.back, tie.other.id)):
        verb = _VERBS.get((tie.kind, tie.back), f"{'is ' if tie.back else ''}{tie.kind}{' of' if tie.back else ''}")
        other = tie.other
        name = link(sheet.path, other.path, other.title) if other.path else shown(other.title)
        yield f"- {verb} {name} [fw:{other.short}] ({other.status})"
    after = sheet.beside
    if after is not None:
        yield f"- next on the shelf: {link(sheet.path, after.path, after.title)} [fw:{after.short}]"


_VERBS: Final = {
    ("supersedes", False): "supersedes",
    ("supersedes", True): "is superseded by",
    ("prerequisite", False): "needs",
    ("prerequisite", True): "is needed by",
    ("relates_to", False): "relates to",
    ("relates_to", True): "relates to",
    ("contradicts", False): "contradicts",
    ("contradicts", True): "contradicts",
}


def _redirect(sheet: Sheet, to: Name) -> str:
    where = link(sheet.path, to.path, to.title) if to.path else shown(to.title)
    lines = ["---", f"title: {_quoted(sheet.entry.title)}", f"id: {sheet.entry.id}", f"redirect_to: {to.id}", "---", ""]
    return "\n".join([*lines, f"# {shown(sheet.entry.title)}", "", f"Merged into {where} [fw:{to.short}].", ""])


def _part(entry: Entry, path: str, back: str, section: str, lines: Sequence[str]) -> str:
    head = ["---", f"title: {_quoted(entry.title)}", f"id: {entry.id}", "part: true", "---", ""]
    return "\n".join([*head, f"# {shown(entry.title)}", "", back, "", f"## {section}", "", *lines, ""])


def _quoted(text: str) -> str:
    return _JSON.encode(shown(text))


def _title(text: str) -> str:
    return shown(text).replace("[", "\\[").replace("]", "\\]")


def _leaf(path: str) -> str:
    return path.rpartition("/")[2]
