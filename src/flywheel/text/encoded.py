"""Secrets that stand in Base64, and the values of Kubernetes secrets, which do by their nature."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final

from flywheel.text.shapes import Span
from flywheel.text.standins import is_standin

RUN: Final = 24
"""Characters that a Base64 text has at least: eighteen bytes, ``PASSWORD=`` with a value."""

_LONGEST: Final = 65536
_HEAD: Final = 24
_ALPHABET: Final = b"abcdefghijklmnopqrstuvwxyz0123456789+/"
_RUNS: Final = bytes(97 if code in _ALPHABET else 32 for code in range(256))
_FIRSTS: Final = frozenset("CDIJKLMNOPQRSTUVWXYZabcdef")
"""With what a group of four begins whose first byte is a printable character or the end of a line."""

_NEEDLE: Final = b"a" * RUN

_WITHIN: Final = 8192
_DATA: Final = re.compile(r"(?:^|(?<=\n)|(?<=\\n))[ \t]{0,8}(?:string)?data:[ \t]*(?=\\n|\r?\n)", re.IGNORECASE)
_PAIR: Final = re.compile(
    r"(?:\\n|\r?\n)[ \t]{1,16}[\w.-]{1,128}:[ \t]{1,8}[\"']?(?P<secret>[^\s\"'|>\\][^\s\"'\\]{0,65535})"
    r"[\"']?(?=[ \t]*(?:\\n|\r?\n|\Z))"
)
_JSON_DATA: Final = re.compile(r"\\{0,3}\"(?:string)?data\\{0,3}\"\s{0,8}:\s{0,8}\{", re.IGNORECASE)
_JSON_PAIR: Final = re.compile(
    r"(?:\s|\\n){0,40},?(?:\s|\\n){0,40}\\{0,3}\"[\w.-]{1,128}\\{0,3}\"\s{0,8}:\s{0,8}\\{0,3}\"(?P<secret>[^\"\\]{1,65536})\\{0,3}\""
)
_SECRET: Final = re.compile(r"kind\\{0,3}\"?\s{0,4}:\s{0,4}\\{0,3}\"?secret\b(?![\w-])", re.IGNORECASE)


def encoded(text: str, low: bytes, holds: Callable[[str], bool]) -> Iterator[Span]:
    """The spans of Base64 texts that ``holds`` says a secret of once they are decoded: plain text only."""
    runs = low.translate(_RUNS)
    at = runs.find(_NEEDLE)
    while at >= 0:
        stop = runs.find(b" ", at + RUN)
        stop = len(runs) if stop < 0 else stop
        plain = _plain(text[at:stop]) if _FIRSTS.issuperset(text[at : at + RUN : 4]) else ""
        if plain and holds(plain):
            yield at, stop + (len(text[stop : stop + 2]) - len(text[stop : stop + 2].lstrip("="))), "encoded-secret"
        at = runs.find(_NEEDLE, stop)


def manifests(text: str, low: bytes) -> Iterator[Span]:
    """The values below ``data`` and ``stringData`` of a Kubernetes secret, as YAML or as JSON."""
    if b"kind" not in low or b"secret" not in low:
        return
    for kind in _SECRET.finditer(text):
        start, stop = max(0, kind.start() - _WITHIN), kind.end() + _WITHIN
        start = max(start, text.rfind("\n---", start, kind.start()))
        if (end := text.find("\n---", kind.end(), stop)) >= 0:
            stop = end
        for opens, pair in ((_DATA, _PAIR), (_JSON_DATA, _JSON_PAIR)):
            for data in opens.finditer(text, start, stop):
                found = pair.match(text, data.end())
                while found is not None:
                    if not is_standin(found["secret"]):
                        yield *found.span("secret"), "secret"
                    found = pair.match(text, found.end())


def _plain(run: str) -> str:
    """What a run of Base64 says, if it is plain text; "" otherwise. Most runs fail at their head."""
    if len(run) > _LONGEST:
        return ""
    if not run.isascii():
        return ""
    head = base64.b64decode(run[:_HEAD])
    if not all(32 <= byte < 127 or byte in (9, 10, 13) for byte in head):
        return ""
    try:
        return base64.b64decode(run[: len(run) - len(run) % 4] + _rest(run)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _rest(run: str) -> str:
    """The last group with its padding."""
    left = len(run) % 4
    return run[len(run) - left :] + "=" * (4 - left) if left > 1 else ""
