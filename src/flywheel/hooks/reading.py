"""One entry of ours under ``read:`` in aider's ``.aider.conf.yml``, known by the comment behind it."""

from __future__ import annotations

import re
from typing import Final

from flywheel.errors import BadInput
from flywheel.text.blocks import without_gap

MARK: Final = "# flywheel"

_READ: Final = re.compile(
    r"^read[ \t]*:[ \t]*((?:[^#\r\n]|(?<![ \t])#)*?)[ \t]*((?<=[ \t:])#[^\r\n]*)?(?=\r?$)", re.MULTILINE
)
_ITEM: Final = re.compile(r"^([ \t]*)-[ \t]+(.*?)[ \t]*(#[^\r\n]*)?\r?$")


def with_read(text: str, name: str) -> str:
    """The file with that name among what is read; the same text when it is. Raises BadInput for a layout unknown."""
    newline = "\r\n" if "\r\n" in text else "\n"
    found = _READ.search(text)
    if found is None:
        return f"{text}{newline if text else ''}read: {name} {MARK}{newline}"
    value, comment = found.group(1), found.group(2) or ""
    if not value:
        return _with_item(text, found, name, newline)
    items = _items(value)
    odd = any(item.count(quote) % 2 for item in items for quote in "\"'")
    if odd or value[0] in "|>&*!{" or (value[0] == "[" and value[-1] != "]"):
        raise BadInput(f"its `read:` cannot be extended here; add {name} to it yourself")
    if name in map(_plain, items):
        return text
    behind = f" {MARK} {comment.lstrip('# ')}".rstrip()
    return f"{text[: found.start()]}read: [{', '.join([*items, name])}]{behind}{text[found.end() :]}"


def without_read(text: str, name: str) -> str:
    """The file without our entry."""
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not _is_our_item(line, name)]
    if len(kept) < len(lines):
        return "".join(kept)
    found = _READ.search(text)
    if found is None or not (found.group(2) or "").startswith(MARK):
        return text
    items = [item for item in _items(found.group(1)) if _plain(item) != name]
    if items:
        behind = (found.group(2) or "").removeprefix(MARK).strip()
        line = f"read: [{', '.join(items)}]" + (f" # {behind}" if behind else "")
        return text[: found.start()] + line + text[found.end() :]
    before, after = text[: found.start()], text[found.end() :]
    newline = "\r\n" if after.startswith("\r\n") else "\n"
    return without_gap(before, after.removeprefix(newline))


def is_read(text: str, name: str) -> bool:
    """Whether that name is among what is read, whoever wrote it."""
    try:
        return with_read(text, name) == text
    except BadInput:
        return False


def _with_item(text: str, found: re.Match[str], name: str, newline: str) -> str:
    """A block list gets one more item, in front."""
    stop = text.find("\n", found.end()) + 1
    indent = None
    for line in text[stop:].splitlines() if stop else ():
        item = _ITEM.match(line)
        if item is None:
            if line.strip() and not line.lstrip().startswith("#"):
                break
            continue
        indent = item.group(1) if indent is None else indent
        if _plain(item.group(2)) == name:
            return text
    if indent is None:
        raise BadInput(f"its `read:` is empty; write `read: [{name}]` yourself")
    return f"{text[:stop]}{indent}- {name} {MARK}{newline}{text[stop:]}"


def _is_our_item(line: str, name: str) -> bool:
    item = _ITEM.match(line.rstrip("\n"))
    return item is not None and item.group(2) == name and (item.group(3) or "").strip() == MARK


def _items(value: str) -> list[str]:
    """The names of a list on one line, or the one name, as they are written."""
    inner = value[1:-1] if value.startswith("[") else value
    return [part.strip() for part in inner.split(",") if part.strip()]


def _plain(item: str) -> str:
    return item.strip("\"'")
