"""Markdown and terminal text to the sentences that somebody wrote, each with its place in the text.

Code blocks, indented code, diffs, logs, stack traces, tables, JSON and tagged blocks are not prose. Quoted lines
(``> ...``) come out marked, so that what they say can be counted and refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

TEXT: Final = "text"
ITEM: Final = "item"  # of a list
TODO: Final = "todo"  # an open check box
HEADING: Final = "heading"
QUOTE: Final = "quote"

MAX_SENTENCE: Final = 600
"""Characters; a longer run without an end is not a sentence."""


class Sentence(NamedTuple):
    """``plain`` has the length of the span: markup and line ends are spaces, quotes are straight."""

    start: int
    stop: int
    plain: str
    kind: str
    block: int  # paragraph or list item that it stands in


class _Block(NamedTuple):
    start: int
    stop: int
    kind: str


_PLAIN: Final = str.maketrans(
    {"*": " ", "\n": " ", "\t": " ", "\r": " ", "\u00a0": " ", "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-"}
)

_SPECIAL: Final = re.compile(
    r"""[ \t]*(?:
      (?P<blank>\Z)
    | (?P<fence>```+|~~~+)
    | (?P<quote>>(?!>>))
    | (?P<table>\|)
    | (?P<tag></?(?P<name>[a-zA-Z][\w-]*)\b[^>]{0,300}>)
    | (?P<diff>diff\ --git\ |@@\ -\d|\+\+\+\ |---\ [ab/]|index\ [0-9a-f]{7}|[+-]\s{2,}\S)
    | (?P<trace>
          Traceback\ \(most\ recent | File\ "[^"]+",\ line\ \d | at\ [\w.$<>]+\ ?\(.*\) | goroutine\ \d | panic:
        | Caused\ by:
      )
    | (?P<log>
          \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d\b | [A-Z][a-z]{2}\ +\d+\ \d\d:\d\d:\d\d
        | \[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|FAILED|PASSED|ok|FAIL|PASS)\b[\]:\ ]+[\[\w/]*[/:.\]=]
        | npm\ (?:ERR!|WARN) | E\ {2,} | ={4,} | -{4,} | _{4,} | \$\ \S | >>>\ | error\[E\d+\] | error\ TS\d+ | [✓✗✘×]\s
        | (?:[A-Z]\w*\.)*[A-Z]\w*(?:Error|Exception)\b:
      )
    | (?P<heading>\#{1,6}[ \t])
    | (?P<item>(?:[-*+•]|\d{1,3}[.)]|[a-zA-Z][.)])[ \t]+(?P<box>\[[ xX]\][ \t]+)?)
    )""",
    re.VERBOSE,
)
_PLAINLY: Final = re.compile(
    r"(?!(?:at|npm|diff|index|goroutine|panic|error|File|Traceback|Caused"
    r"|ok)\b)[A-Za-z][a-z']*(?:\s[\w`'-]+){2}[^:]{0,40}(?:[^:]{60}|$)"
)
"""Lines that `_SPECIAL` need not look at: they begin with three words, and a colon is far off."""
_CODEY: Final = re.compile(
    r"[{};=<>\[\]\\|@#()\"']|(?:import|from|if|for|while|else|elif|try|except|return|with|switch|case|sudo|git|npm"
    r"|npx|pip|cd|ls|cat|curl|docker|kubectl|export"
    r"|mkdir|rm|cp|mv|grep|sed|def|class|const|let|var)\b"
)
_TAG_LINE: Final = re.compile(r"^[ \t]*<[a-zA-Z/]", re.MULTILINE)
_FENCED: Final = re.compile(
    r"^[ \t]*(?P<mark>```+|~~~+).*?(?:^[ \t]*(?P=mark)[`~]*[ \t\r]*$|\Z)", re.MULTILINE | re.DOTALL
)
_CODE: Final = re.compile(
    r"""\s*(?:
      (?:def|class|function|func|fn|impl|struct|enum|interface|type|public|private|protected|static|const|var|let|export|async)
        \s\S.*[{(:=;,]\s*$
    | (?:def|class|func|fn|function)\s+\w+\s*[(:{] | (?:import\s+[\w{*"'.]+(?:\s+(?:from|as)\b.*|;|\s*)$)
    | from\s+[\w.]+\s+import\b | \#include\b | \#!/ | //\s | /\*
    | (?:if|for|while|else|elif|try|except|return|with|switch|case)\b.*[:{;]\s*$ | @\w[\w.]*(?:\(.*\))?\s*$
    | .*[;{}]\s*$ | [\w.\[\]"']+\s*(?:=|:=|\+=)\s*\S.*[()\[\]{}"'\d]\s*$ | [\]})]+[,;]?\s*$
    | ["'][^"']*["']\s*:\s | \w+\(.*\)\s*$
    | (?:sudo|git|npm|npx|pip|cd|ls|cat|curl|docker|kubectl|export|mkdir|rm|cp|mv|grep|sed)
        \s+[-\w./]+(?:\s+[-\w./=:"'<>|&]+)*\s*$
    )""",
    re.VERBOSE,
)
_SYMBOLS: Final = re.compile(r"[{}();=<>\[\]|\\]")
_STOP: Final = re.compile(r"[.!?…]+[\"')\]`*]*(?=\s)|[。！？]|\n")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|mr|mrs|ms|dr|prof|approx|resp|fig|st|inc|ltd|jr|sr|al|ca|ver|esp|incl|dept)"
    r"|(?:^|\s)[A-Za-z])\.$",
    re.IGNORECASE,
)
_OPEN_ENDED: Final = (",", "(", "-", " the", " a", " an", " and", " or", " of", " to", " for", " with")
_OPENING: Final = re.compile(r"[\s\"'(\[`*]*(\S)")


_KINDS: Final = ("blank", "fence", QUOTE, "table", "tag", "diff", "trace", "log", HEADING, ITEM)


def plain(text: str) -> str:
    """The text with markup as spaces and straight quotes; its length does not change."""
    if text.isascii():
        return text.replace("*", " ").replace("\n", " ").replace("\t", " ").replace("\r", " ")
    return text.translate(_PLAIN)


def sentences(text: str, wanted: Callable[[str], bool] | None = None) -> Iterator[Sentence]:
    """The sentences of a text in order.

    With ``wanted``, paragraphs that it refuses are passed over unread, which is many times faster.
    """
    for number, block in enumerate(_blocks(text, 0, len(text)) if wanted is None else _wanted(text, wanted)):
        for start, stop in _split(text, block):
            yield Sentence(start, stop, plain(text[start:stop]), block.kind, number)


def _wanted(text: str, wanted: Callable[[str], bool]) -> Iterator[_Block]:
    """The blocks of the paragraphs that are wanted; code between fences is left out first."""
    if _TAG_LINE.search(text):
        yield from (block for block in _blocks(text, 0, len(text)) if wanted(text[block.start : block.stop]))
        return
    at = 0
    for fence in _FENCED.finditer(text) if "```" in text or "~~~" in text else ():
        yield from _wanted_between(text, at, fence.start(), wanted)
        at = fence.end()
    yield from _wanted_between(text, at, len(text), wanted)


def _wanted_between(text: str, start: int, stop: int, wanted: Callable[[str], bool]) -> Iterator[_Block]:
    while start < stop:
        end = text.find("\n\n", start, stop)
        end = stop if end < 0 else end
        if wanted(text[start:end]):
            for block in _blocks(text, start, end, in_list=True):
                if block.stop - block.start > (end - start) // 2 or wanted(text[block.start : block.stop]):
                    yield block
        start = end + 2


def _blocks(text: str, start_at: int, stop_at: int, *, in_list: bool = False) -> Iterator[_Block]:
    """Paragraphs, list items, headings and quoted lines between two places."""
    at, start, stop, kind = start_at, -1, -1, TEXT
    closings: dict[str, int] = {}
    while at <= stop_at:
        end = text.find("\n", at, stop_at)
        end = stop_at if end < 0 else end
        line = text[at:end]
        found = None if _PLAINLY.match(line) else _SPECIAL.match(line)
        what = _kind(found)
        if what == "prose" and not _is_code(line, in_list):
            if start < 0:
                start, kind = at, TEXT
            at, stop = end + 1, end
            continue
        if start >= 0:
            yield _Block(start, stop, kind)
            start = -1
        if found is not None and what in (ITEM, TODO):
            start, stop, kind = at + found.end(), end, what
        elif found is not None and what in (HEADING, QUOTE):
            yield _Block(at + found.end(), end, what)
        in_list = what in (ITEM, TODO) or (in_list and what in ("blank", "prose"))
        at = _past(text, at, end, found, what, closings)
    if start >= 0:
        yield _Block(start, stop, kind)


def _kind(found: re.Match[str] | None) -> str:
    """What a line is, by its beginning."""
    if found is None:
        return "prose"
    box = found.group("box")
    if box is not None:
        return TODO if "[ ]" in box else "done"
    return next(name for name in _KINDS if found.group(name) is not None)


def _past(text: str, at: int, end: int, found: re.Match[str] | None, what: str, closings: dict[str, int]) -> int:
    """Where to go on after a line that is not prose: past the block that it opens."""
    if found is None or what not in ("fence", "tag", "diff", "trace"):
        return end + 1
    if what == "fence":
        close = text.find("\n" + found.group("fence"), end)
        while close >= 0 and text[close + 4 : (text.find("\n", close + 1) + 1 or len(text) + 1) - 1].strip("`~ \r"):
            close = text.find("\n" + found.group("fence"), close + 1)
    elif what == "tag":
        tag, name = found.group("tag"), found.group("name")
        if tag.startswith("</") or tag.endswith("/>"):
            return end + 1
        if name not in closings or 0 <= closings[name] < at:
            closings[name] = text.find(f"</{name}>", at)
        close = closings[name]
        if close < 0 and not name.startswith("flywheel"):
            return end + 1
    else:
        close = text.find("\n\n", end)
        return len(text) + 1 if close < 0 else close + 2
    if close < 0:
        return len(text) + 1
    after = text.find("\n", close + 1)
    return len(text) + 1 if after < 0 else after + 1


def _is_code(line: str, in_list: bool) -> bool:
    """Whether a line is source code, a command or data rather than prose."""
    if not in_list and line.startswith(("    ", "\t")):
        return True
    if len(line) > 20_000:
        return True
    if _CODEY.search(line) is None:
        return False
    if _CODE.match(line):
        return True
    symbols = len(_SYMBOLS.findall(line))
    return symbols > 3 and symbols * 9 > len(line)


def _split(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of a block, trimmed."""
    begin = block.start
    for found in _STOP.finditer(text, block.start, block.stop):
        if found.start() >= begin and _ends(text, begin, found, block):
            yield from _trimmed(text, begin, found.end())
            begin = found.end()
    yield from _trimmed(text, begin, block.stop)


def _ends(text: str, begin: int, mark: re.Match[str], block: _Block) -> bool:
    """Whether a sentence ends at this mark: not at an abbreviation or a number, nor at the wrap of a line."""
    at = mark.start()
    opening = _OPENING.match(text, mark.end(), block.stop)
    if text[at] != "\n":
        lower = opening is not None and opening.group(1).islower()
        return not (
            text[at] == "."
            and (_ABBREVIATED.search(text, max(begin, at - 12), at + 1) or (lower and text[at - 1].isdigit()))
        )
    width = at - max(text.rfind("\n", begin, at) + 1, begin)
    if opening is None or width >= 60 or text[begin:at].rstrip().endswith(_OPEN_ENDED):
        return False
    return opening.group(1).isupper() or opening.group(1).isdigit() or (width < 30 and block.kind is TEXT)


def _trimmed(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    while start < stop and (text[start].isspace() or text[start] in "*_"):
        start += 1
    while stop > start and (text[stop - 1].isspace() or text[stop - 1] in "*_"):
        stop -= 1
    if start < stop:
        yield start, stop
