"""The shapes in which people say what a word means or what else it is called. Expressions only."""

from __future__ import annotations

import re
from typing import Final

COMMON: Final = frozenset(
    """
    ai api apis app ast aws ascii cdn ci cd cli cpu crud cors css csv db ddl dml dns dom dry eod eol eta etc faq fifo
    ftp gb gcp gpu gui guid html http https iam ide id io ip iso jpeg jpg js json jwt kb lan lru mb md mvp mvc nan nat
    nlp npm ns oop orm os pdf php png poc pr prs qa ram regex repl rest rfc rgb rpc sdk sha sla smtp sql ssd ssh ssl
    sso svg tbd tcp tdd tls todo ttl tty udp ui uri url urls usb utc utf uuid ux vm vpc vpn wal www xml xss yaml yml
    zip
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Abbreviations of the trade: they are no project's own."""

NO_NAME: Final = frozenset(
    """
    note notes example examples warning todo fixme tip important question answer yes no nothing something everything
    this that it they he she we you i there here which what who one two first second last next step result option case
    way thing things part parts file files code line lines name names value values type types user users
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that alone name nothing of a project."""

QUOTES: Final = "\"'`“”‘’*"
_Q: Final = "[\"`“”‘’*_']{1,3}"
_INSIDE: Final = r"[^\"`“”*\n]{2,60}?"
_PHRASE: Final = r"[A-Za-z][\w./+-]*(?:[ ][\w./+-]+){0,4}"
_ARTICLE: Final = r"(?:the\s+|our\s+|a\s+|an\s+)?"
_PEOPLE: Final = (
    r"(?:we|i|people|everyone|everybody|ops|they|team)\s+(?:(?:all|usually|always|internally|just)\s+)?calls?\s+"
)


REACH: Final = 90
"""Characters on either side of a cue in which a name is looked for."""

BEFORE: Final = re.compile(rf"(?:{_Q}(?P<q>{_INSIDE}){_Q}|(?<![\w./+-])(?P<p>{_PHRASE}))(?:\s+(?:is|are|was))?[,(\s]*$")
"""The name that a text ends with."""

AFTER: Final = re.compile(rf"\s*(?:the\s+|our\s+)?(?:{_Q}(?P<q>{_INSIDE}){_Q}|(?P<p>{_PHRASE}))", re.IGNORECASE)
"""The name that a text begins with."""

EXPANDED: Final = re.compile(r"\s?\((?P<short>[A-Za-z][A-Za-z0-9&/-]{1,9})(?:,[^()\n]{0,60})?\)")
"""An abbreviation in brackets; what it stands for goes before."""

ABBREVIATED: Final = re.compile(r"(?<![\w-])(?P<short>[A-Z][A-Z0-9&/-]{1,8}s?)\s?\((?P<long>[A-Za-z][^()\n]{4,70})\)")
"""The same the other way round."""

SHORT_FOR: Final = re.compile(
    r"(?:(?P<shorter>\bshort\s+for\b|\bstands\s+for\b|\babbreviation\s+(?:of|for)\b"
    r"|\bshorthand\s+for\b)|\ba\.?k\.?a\.?(?=\s)|\balso\s+(?:known\s+as|called)\b|\baliased?\s+(?:as|to)\b)",
    re.IGNORECASE,
)
"""Between two names of one thing; with ``shorter`` the first one is the short one."""

CALLS: Final = re.compile(
    rf"\b{_PEOPLE}{_ARTICLE}(?P<thing>{_PHRASE}?)\s+{_ARTICLE}{_Q}(?P<name>{_INSIDE}){_Q}".replace("[ ]", " "),
    re.IGNORECASE,
)
"""We call the nightly export "the mill"."""

CALLED: Final = re.compile(
    rf",?\s+(?:which|that)\s+{_PEOPLE}{_ARTICLE}"
    rf"(?:{_Q}(?P<q>{_INSIDE}){_Q}|(?P<p>[A-Za-z][\w-]*(?: [\w-]+){{0,2}})(?=[.,;!?]|$))",
    re.IGNORECASE,
)
"""Behind "the nightly export": ..., which we call the mill."""

MEANS: Final = re.compile(
    rf"""(?:^|(?<=[.;:,]\s)|\b[Bb]y\s)(?i:the\s+(?:term|word|name)\s+|a\s+|an\s+|the\s+)?
    (?:{_Q}(?P<q>{_INSIDE}){_Q}|(?P<p>[A-Z][\w-]*(?:[ ][\w-]+){{0,3}})),?\s+
    (?:means|refers\s+to|(?:here\s+)?(?:we|I)\s+mean|is\s+our\s+(?:word|name|term)\s+for)\s+(?P<meaning>[^\n]{{8,400}})""",
    re.VERBOSE,
)
"""By "tenant" we mean a paying organisation."""

LINE: Final = re.compile(
    r"""\s*(?:[-*+•]\s+)?(?:\*\*|__|`)?(?P<name>[A-Za-z][^*_`:|\n–—]{1,60}?)(?:\*\*|__|`)?\s*
    (?:\((?P<also>[^()\n]{2,60})\))?\s*(?:\*\*|__)?\s*(?::|\s[–—-]\s)\s*(?:\*\*|__)?\s*
    (?P<meaning>[A-Za-z"“`(][^\n|]{7,500})""",
    re.VERBOSE,
)
"""A line of a glossary: **tenant** (org): a paying organisation."""

ROW: Final = re.compile(r"^\s*\|\s*(?P<row>[^\n]+?)\s*\|?\s*$")
"""A row of a table."""

COLUMNS: Final = frozenset({"term", "word", "name", "acronym", "abbreviation"})
"""What the first column of a table of terms is called."""

GLOSSARY: Final = re.compile(
    r"^#{1,6}\s+(?:[\d.]+\s+)?(?:the\s+|our\s+|project\s+)?(?:glossary|terminology|terms|definitions?|vocabulary"
    r"|acronyms|abbreviations|ubiquitous language|jargon|words)\b[^\n]{0,40}$",
    re.IGNORECASE | re.MULTILINE,
)
"""The heading of a glossary."""

HEADING: Final = re.compile(r"^(#{1,6})\s", re.MULTILINE)

CUES: Final = (
    "short for",
    "hand for",
    "stands for",
    "abbreviation",
    "aka",
    "a.k.a",
    "also known",
    "also called",
    "alias",
    " call",
    " mean",
    "refers to",
    "our word",
    "our name",
    "our term",
)
"""One of these, or an abbreviation and a bracket, a text must have for any of the shapes to be in it."""


def cued(text: str) -> bool:
    """Whether any of the shapes can be in a text. A hundred times as fast as looking for them."""
    if any(cue in text for cue in CUES):
        return True
    return "(" in text and (EXPANDED.search(text) is not None or ABBREVIATED.search(text) is not None)


SEVERAL: Final = re.compile(r"\s*(?:/|,|;|\bor\b)\s*")
ALSO: Final = re.compile(r"^(?:also|aka|a\.k\.a\.?|or)\s+", re.IGNORECASE)
LEADING: Final = re.compile(
    r"(?:the|a|an|our|your|its|their|this|that|these|those|of|for|with|in|on|to|and|or|is|are|was|by|from|as|uses?|using"
    r"|called|new|each|every)\s+",
    re.IGNORECASE,
)
"""A word before a name that is no part of it."""
