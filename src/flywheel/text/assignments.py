"""Secrets that are known by the name they are given to: assignments, fields, options and query parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flywheel.text.names import Style, family, kind_of
from flywheel.text.orders import ordered, set_or_fed
from flywheel.text.shapes import Span
from flywheel.text.standins import is_mixed, is_standin

KEYWORDS: Final = (b"token", b"secret", b"pass", b"pw", b"key", b"credential", b"auth", b"sig")
"""Every name that is judged holds one of these."""

_NAME: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_LEFT: Final = 48
_CAP: Final = 4096
_LONG: Final = 512

_TAIL: Final = (
    r"(?P<rest>[\w-]{0,40}+)(?P<close>(?:\\{0,3}[\"'`]\]?|&(?:quot|\#3[49]);)?+)(?P<gap>[ \t]{0,32}+)"
    r"(?P<sep>:[ \t]*[&A-Za-z_][\w\[\].?|& ]{0,40}?[ \t]=(?=[ \t])|=>|:=|\?=|!?={1,3}|:|>|%%3[dD]"
    r"|(?:,\s{0,40}[\"']|(?:(?<=[\"'][ \t])|\r?\n)\s{0,40})[vV]alue[\"']?[ \t]{0,4}[:=]|,(?=\s{0,40}[\"'])%s)"
    r"(?P<space>[ \t]{0,32}+(?:(?<=,)\s{0,40})?)(?:[bBfFrRuU]{1,2}(?=[\"']))?"
)
_SAID: Final = r"|(?<=[ \t])(?:is|ist|was)(?=[ \t:])"
_SPOKEN: Final = (
    r"|(?<=[ \t])(?:for|of|on|to)[ \t][^\n:;=\"'`(){}]{1,40}?(?::|[ \t]is)(?=[ \t])|(?<=[ \t])to(?=[ \t][\"'])"
    r"|(?<=word[ \t])(?=[\w!#$%^*?.-]{0,60}?[!#$%^*])(?=\S{0,60}?\d)(?=\S{0,60}?[a-z])(?=\S{8})"
)
"""How a person says one: ``the password for staging is ...``, ``with password Ab3!...``."""

_SEPARATED: Final = re.compile(_TAIL % _SAID)
_PASSWORD: Final = re.compile(_TAIL % (_SAID + r"|(?<=(?i:word|.pwd)[ \t])(?=[\"'])" + _SPOKEN))
_LONG_OPTION: Final = re.compile(
    r"--(?P<name>[\w-]{1,64}+)(?P<gap>[ \t]{1,8}+)(?P<sep>)(?P<space>)(?P<rest>)(?P<close>)"
)
_SHORT_OPTION: Final = re.compile(
    r"(?:-[a-zA-Z]{0,6}[uU]|--(?:proxy-)?user)[ =]{0,4}[\"']?[^\s:\"'$]{1,128}:(?P<u>[^\s\"'\\]{1,256})"
    r"|-p[ =]{0,4}[\"']?(?P<p>[^\s\"'\\-][^\s\"'\\]{2,255})"
    r"|-a[ ]{1,4}[\"']?(?P<a>[^\s\"'\\]{3,256})"
)
_PROGRAMS: Final = {"u": (b"curl",), "p": (b"mysql", b"mariadb", b"sshpass", b" login"), "a": (b"redis-cli",)}
"""Which commands take a password in the option of that letter."""

_COMMAND: Final = 512
_NETRC: Final = re.compile(r"password[ \t]+(?P<secret>\S{1,256})")
_MACHINE: Final = re.compile(r"(?:machine\s{1,8}\S{1,128}|default)\s{1,8}login\s{1,8}\S{1,128}\s{1,8}\Z")
_OPENED: Final = re.compile(r"\\{0,3}[\"'`]|&(?:quot|#3[49]);")
_BARE: Final = re.compile(r"[^\s\"'`,;&<>(){}\[\]|\\]{1,4097}")
_REST_OF_LINE: Final = re.compile(r"[^\s\"'`;\\]{1,4097}(?=[ \t]*(?:\r?\n|\\[nr]|#|\Z))")
_LINE_START: Final = re.compile(
    r"(?:^|\n|\\n)[ \t]*(?:\d{1,6}[→\t|:])?[ \t>+#/*;-]{0,8}(?:(?:export|set|setenv|env|ENV|ARG)[ \t]+)?[\"']?\Z"
)
_NEXT_FIELD: Final = re.compile(r";[ \t]?[A-Za-z][\w ]{1,40}=")


def assignments(text: str, low: bytes) -> Iterator[Span]:
    """The spans of values that stand under a secret-looking name."""
    commands = b" set " in low or b"chpasswd" in low
    for keyword in KEYWORDS:
        separated = _PASSWORD if keyword in (b"pass", b"pw") else _SEPARATED
        length = len(keyword)
        long_stop = 0
        at = low.find(keyword)
        while at >= 0:
            stop = at + length
            parted = separated.match(text, stop) if at >= long_stop else None
            span = None
            if parted is not None:
                span, long_stop = _judge(text, at, parted, long_stop)
            elif low[at : at + 9] == b"password ":
                span = _netrc(text, at)
            elif commands:
                span = set_or_fed(text, low, at)
            if span is not None:
                yield span
                stop = max(stop, span[1])
            at = low.find(keyword, stop)


def options(text: str, low: bytes) -> Iterator[Span]:
    """What follows an option: ``--password value``, ``curl -u user:password``, ``mysql -ppassword``."""
    at = low.find(b" -")
    while at >= 0:
        span = _long_option(text, low, at + 1) if low[at + 2 : at + 3] == b"-" else _short_option(text, low, at + 1)
        span = span or ordered(text, low, at + 1)
        if span is not None:
            yield span
        at = low.find(b" -", at + 2)


def _long_option(text: str, low: bytes, at: int) -> Span | None:
    option = _LONG_OPTION.match(text, at)
    if option is None:
        return None
    name = option["name"]
    if name in ("user", "proxy-user"):
        return _short_option(text, low, at)
    if not family(name):
        return None
    found = _value(text, option, at, " ", f"--{name}")
    kind = kind_of(name, text[found[0] : found[1]], found[2]) if found else ""
    return (found[0], found[1], kind) if found and kind else None


def _short_option(text: str, low: bytes, at: int) -> Span | None:
    """A password in a short option, if the command before it is one that takes it there."""
    option = _SHORT_OPTION.match(text, at)
    if option is None or option.lastgroup is None or is_standin(option[option.lastgroup]):
        return None
    start = at
    while start > 0 and (start == at or low[start - 1] == 92):  # lines that a back-slash joins are one command
        start = low.rfind(b"\n", max(0, at - _COMMAND), start)
    command = low[max(start, at - _COMMAND, 0) : at]
    if not any(program in command for program in _PROGRAMS[option.lastgroup]):
        return None
    return *option.span(option.lastgroup), "password"


def _netrc(text: str, at: int) -> Span | None:
    """The password of a netrc entry: ``login me password secret``."""
    entry = _NETRC.match(text, at)
    if entry is None or "login" not in text[max(0, at - 160) : at] or is_standin(entry["secret"]):
        return None
    whole = _MACHINE.search(text, max(0, at - 300), at) is not None
    return (*entry.span("secret"), "password") if whole or is_mixed(entry["secret"]) else None


def _judge(text: str, at: int, parted: re.Match[str], long_stop: int) -> tuple[Span | None, int]:
    """What a keyword at ``at`` leads to, and how far a value reaches that is too long to be a secret."""
    head = text[max(0, at - _LEFT) : at]
    left = head[len(head.rstrip(_NAME)) :]
    if text[at - len(left) - 1 : at - len(left)] == "\\" and left[:1] in ("n", "r", "t"):
        left = left[1:]
    begin = at - len(left)
    name = (left + text[at : parted.end("rest")]).strip(".")
    if not family(name.lstrip("-")) or (
        parted["sep"] == "," and not (parted["close"] and (name.startswith("--") or (name.isupper() and "_" in name)))
    ):
        return None, long_stop
    found = _value(text, parted, begin, text[begin - 1 : begin], name)
    if found is None:
        return None, long_stop
    start, end, style = found
    if end - start > _CAP:
        return None, end
    kind = kind_of(name.lstrip("-"), text[start:end], style)
    return (start, end, kind) if kind else None, end if end - start > _LONG else long_stop


def _value(text: str, parted: re.Match[str], begin: int, before: str, name: str) -> tuple[int, int, Style] | None:
    """Where the value starts and stops, and how it is given."""
    start, sep = parted.end(), parted["sep"]
    if sep == ">":
        stop = text.find("</", start, start + _LONG) if before == "<" else -1
        return (start, stop, Style.QUOTED) if stop > start else None
    opened = _OPENED.match(text, start)
    if opened is not None:
        stop = _closing(text, opened.group(), opened.end())
        if stop >= 0:
            return opened.end(), stop, Style.QUOTED if sep or name.startswith("-") else Style.OPTION
        start = opened.end()
    return _bare(text, parted, start, begin, before, name)


def _closing(text: str, delimiter: str, start: int) -> int:
    """Where the literal ends: the same delimiter, not escaped, on the same line; -1 when it does not."""
    line = text.find("\n", start, start + _CAP)
    limit = line if line >= 0 else min(len(text), start + _CAP)
    at = text.find(delimiter, start, limit)
    while at > 0 and text[at - 1] == "\\":
        at = text.find(delimiter, at + 1, limit)
    return at


def _bare(
    text: str, parted: re.Match[str], start: int, begin: int, before: str, name: str
) -> tuple[int, int, Style] | None:
    """A value without quotes."""
    sep, tight = parted["sep"], not parted["gap"] and not parted["space"]
    opens_line = bool(_LINE_START.search(text, max(0, begin - 48), begin))
    if "alue" in sep:  # name: X, value: Y
        opens_line, sep = True, ":"
    whole = _REST_OF_LINE.match(text, start) if opens_line and sep in (":", "=") else None
    if whole is not None and (sep == ":" or (tight and (name.isupper() or text[whole.end() - 1] not in ",;)"))):
        return start, _trimmed(text, whole), _line_style(name, sep)
    found = _BARE.match(text, start)
    if found is None or (after := text[found.end() : found.end() + 1]) in ("(", "[", "{"):
        return None
    stop = _trimmed(text, found)
    if sep in ("%3d", "%3D") or (before in ("?", "&") and sep == "="):
        return start, stop, Style.QUERY
    if name.startswith("-"):
        return start, stop, Style.OPTION
    if sep == "":
        return start, stop, Style.OPTION
    if sep == "=" and tight and (before == ";" or _NEXT_FIELD.match(text, found.end())):
        return start, stop, Style.ENV
    if sep == "=" and tight and before not in ("(", ",") and (name.isupper() or after not in (",", ")")):
        return start, stop, Style.ENV if name.isupper() else Style.LINE
    if sep == ":" and ("-" in name or parted["close"]):
        return start, stop, Style.QUOTED
    return start, stop, Style.LINE if whole is not None and sep == "=" else Style.LOOSE


def _line_style(name: str, sep: str) -> Style:
    """How a value alone on its line is given: NAME=value, a header (``X-Api-Key: value``) or YAML."""
    if name.isupper() or sep == "=":
        return Style.ENV
    return Style.QUOTED if "-" in name else Style.LINE


def _trimmed(text: str, found: re.Match[str]) -> int:
    """The end of a value without the punctuation of the sentence around it."""
    return found.start() + len(found.group().rstrip(".,;:"))
