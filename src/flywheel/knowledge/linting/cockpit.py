"""Checks of the rendered cockpit: it reflects and never originates, and says how fresh it is. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from flywheel.knowledge.linting.links import links_of
from flywheel.knowledge.linting.pages import LOUD, excerpt
from flywheel.knowledge.linting.values import DAY, CockpitText, Found, Rules
from flywheel.model import ClaimType

_TYPED: Final = re.compile(r"^-\s+\[(\w+)\]\s+\S")
_KEY: Final = re.compile(r"^([a-z_]+):[ \t]*(.*?)[ \t]*$")
_NEVER: Final = ("", "null", "never")


def lines(cockpit: CockpitText, rules: Rules) -> Iterator[Found]:
    """A line without its type, or without a link to the page that it comes from."""
    for number, line in _items(cockpit.text):
        place = f"{cockpit.path}:{number}"
        told = excerpt(line.removeprefix("- "))
        found = _TYPED.match(line)
        if found is None or found[1] not in set(ClaimType):
            yield Found(kind="file", id=cockpit.path, place=place, message=f"“{told}” does not say its type")
        paths = [link.path for link in links_of([line], cockpit.path)]
        pages = [path for path in paths if path.startswith("wiki/")]
        if not pages:
            yield Found(kind="file", id=cockpit.path, place=place, message=f"“{told}” links to no page")
        for path in pages:
            if path not in cockpit.there:
                message = f"“{told}” links to {path}, which is not there"
                yield Found(kind="file", id=cockpit.path, place=place, message=message)


def _items(text: str) -> Iterator[tuple[int, str]]:
    """The list items of a text with the numbers of their lines; one that goes on two spaces in is one."""
    item, at = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if item and line.startswith("  "):
            item += line[1:]
            continue
        if item:
            yield at, item
        item, at = (line, number) if line.startswith("- ") else ("", 0)
    if item:
        yield at, item


def stamps(cockpit: CockpitText, rules: Rules) -> Iterator[Found]:
    """No time at which it was made or at which somebody last confirmed anything, or no banner past the threshold."""
    front = _front(cockpit.text)
    for key in ("generated_at", "last_confirmed"):
        value = front.get(key)
        if value is None or (value not in _NEVER and _micros(value) is None) or (key == "generated_at" and not value):
            yield _of_file(cockpit, f"it does not say {key}")
    since = _micros(front.get("last_confirmed", ""))
    days = rules.limits.freshness_days
    if since is not None and since + days * DAY <= rules.now and not _shouts(cockpit.text):
        yield _of_file(cockpit, f"nothing was confirmed for more than {days} days, and no banner says so")


def _of_file(cockpit: CockpitText, message: str) -> Found:
    return Found(kind="file", id=cockpit.path, place=cockpit.path, message=message)


def _shouts(text: str) -> bool:
    return any(LOUD.match(line) for line in text.splitlines())


def _front(text: str) -> Mapping[str, str]:
    head, *rest = text.split("\n")
    if head.strip() != "---":
        return {}
    found: dict[str, str] = {}
    for line in rest:
        if line.strip() == "---":
            return found
        if key := _KEY.match(line):
            found[key[1]] = key[2].strip("\"'")
    return {}


def _micros(value: str) -> int | None:
    """A time as front matter has it; None for what is none."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1e6)
