"""A statement to the draft that it comes to: points with their spans, title, subject, links and key."""

from __future__ import annotations

from collections.abc import Iterator

from flywheel.harvest.rules.statements import REASONS, RULED, Statement
from flywheel.harvest.rules.topic import (
    clause,
    key_of,
    links_of,
    merge_links,
    pair_title,
    subject_of,
    title_of,
    value_of,
)
from flywheel.harvest.rules.values import Draft, Link, Point, quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.knowledge.parts import DETAIL, REPLACES, STATES, WHY
from flywheel.model import Category, ClaimType, Clean, Role
from flywheel.text import stance
from flywheel.text.compose import span, squeeze


def draft_of(statement: Statement) -> Draft:
    """The draft that a statement comes to."""
    cue, text, message = statement.cue, statement.text, statement.message
    value, aim, old = _choice(statement)
    type_ = ClaimType.EXTERNAL if stance.sourced(statement.sentence.plain) and cue.category not in RULED else cue.type
    if cue.category is Category.DEBUGGING and statement.speaker.role is Role.ASSISTANT and type_ is ClaimType.FACT:
        type_ = ClaimType.HYPOTHESIS
    main = Point(
        attribute=STATES,
        type=type_,
        text=text,
        role=statement.speaker.role,
        said_at=message.created_at,
        quotes=(quote(message, statement.sentence.start, statement.sentence.stop),),
        value=value,
    )
    points = [main, *_details(statement, type_), *statement.extra]
    if old:
        points.append(
            Point(
                attribute=REPLACES,
                type=type_,
                text=text,
                role=main.role,
                said_at=main.said_at,
                quotes=main.quotes,
                value=old,
            )
        )
    at = statement.found[0].match.start()
    title = pair_title(*_spans(statement)) if value and aim else title_of(text, at)
    return Draft(
        type=type_,
        category=cue.category,
        title=title,
        summary=shorten(text),
        subject=aim or (value if cue.category is Category.DECISIONS and value else subject_of(clause(text, at))),
        tags=tuple(dict.fromkeys(one.cue.name for one in statement.found))[:4],
        links=merge_links(
            statement.links, *(links_of(point.text, point.text) for point in points[1:]), _subjects(value, aim, old)
        ),
        points=tuple(points),
        score=statement.score,
        signals=statement.signals,
        key=key_of(cue.category, text),
    )


def _details(statement: Statement, type_: ClaimType) -> Iterator[Point]:
    message = statement.message
    for sentence in statement.details:
        yield Point(
            attribute=WHY if REASONS.search(sentence.plain) else DETAIL,
            type=type_,
            text=stated(message.text, sentence),
            role=statement.speaker.role,
            said_at=message.created_at,
            quotes=(quote(message, sentence.start, sentence.stop),),
        )


def _choice(statement: Statement) -> tuple[Clean, Clean, Clean]:
    """What is chosen, what for, and what it replaces; from the first cue that says so."""
    empty = span(statement.text, 0, 0)
    text, start = statement.message.text, statement.sentence.start
    new = aim = old = empty
    for one in statement.found:
        groups = one.match.re.groupindex
        if not new and "new" in groups and one.match.group("new"):
            new = value_of(text, start + one.match.start("new"), start + one.match.end("new"))
            if "aim" in groups and one.match.group("aim"):
                aim = value_of(text, start + one.match.start("aim"), start + one.match.end("aim"))
        if not old and "old" in groups and one.match.group("old"):
            old = value_of(text, start + one.match.start("old"), start + one.match.end("old"))
    return new, aim, old if old != new else empty


def _spans(statement: Statement) -> tuple[Clean, Clean]:
    """The chosen thing and its purpose as they were written."""
    text, start = statement.message.text, statement.sentence.start
    one = next(one for one in statement.found if one.match.re.groupindex.get("new") and one.match.group("new"))
    return (
        squeeze(span(text, start + one.match.start("new"), start + one.match.end("new"))),
        squeeze(span(text, start + one.match.start("aim"), start + one.match.end("aim"))),
    )


def _subjects(*names: Clean) -> list[Link]:
    return [Link(kind="subject", name=name) for name in names if name]
