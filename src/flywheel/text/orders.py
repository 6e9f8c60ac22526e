"""Secrets that are known by the command that they are given to, and passwords as systems keep them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flywheel.text.names import Style, kind_of
from flywheel.text.shapes import Span
from flywheel.text.standins import is_mixed, is_standin

_REACH: Final = 512
_GIVEN: Final = r"\\{0,3}[\"']?(?P<secret>[^\s\"'`\\;|&<>()]{4,512})"
_ROWS: Final = (
    ("b", r"-b[ ]{0,4}\\{0,3}[\"']?[\w.-]{1,64}=(?P<secret>[^\s;\"'\\]{8,4096})", "curl ", "cookie"),
    ("b", rf"-b[ ]{{1,4}}{_GIVEN}", "secret set ", "secret"),
    ("-body", rf"--body[ =]{{1,4}}{_GIVEN}", "secret set ", "secret"),
    ("k", rf"-k[ ]{{1,4}}{_GIVEN}", "openssl enc ", "password"),
    ("pass", rf"-pass(?:in|out)?[ ]{{1,4}}[\"']?pass:{_GIVEN}", "", "password"),
)
_AFTER: Final = [(letters.encode(), re.compile(rest), command.encode(), kind) for letters, rest, command, kind in _ROWS]
"""How the option begins, its value, and the command that must stand before it on its line."""

_BEFORE: Final = (
    (b"--password-stdin",
     re.compile(rf"(?:echo|printf)[ ](?:-n[ ]|\\?[\"']%s\\?[\"'][ ])?{_GIVEN}[\"']?[ ]{{0,8}}\|[^|]*\Z")),
    (b"-asplaintext", re.compile(rf"(?i:securestring)[ ](?:(?i:-string)[ ])?{_GIVEN}[\"']?[ ][^|;]{{0,40}}\Z")),
)  # fmt: skip
"""An option that says that its command takes a secret, and where on the line before it that secret is."""

_CHPASSWD: Final = re.compile(
    r"echo[ ]\\{0,3}[\"']?[\w.-]{1,64}:(?P<secret>[^\s\"'\\]{4,256})\\{0,3}[\"']?[ ]{0,8}\|[ ](?:sudo[ ])?\Z"
)
_SET: Final = re.compile(r"[ ]set[ \t]{1,4}(?P<name>[\w.:/-]{3,160})[ \t=]{1,4}[\"']?(?P<secret>[^\s\"'`\\]{4,512})")
_SETTER: Final = re.compile(r"config(?:ure)?(?:[ ]--?[\w=-]{1,40}){0,3}\Z")
_PGPASS: Final = re.compile(
    r"(?:[A-Za-z][\w.-]{0,128}|\*|[\d.]{7,15}):543\d:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<secret>[^\s\"'\\:]{4,256})(?=\s|\\n|[\"']|\Z)"
)
_HASH: Final = re.compile(
    r"\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|argon2(?:id?|d)|scrypt|pbkdf2(?:-\w{1,12})?)\$(?:[\w.,=-]{1,40}\$){0,3}[\w./+=-]{20,128}",
    re.ASCII,
)


def orders(text: str, low: bytes) -> Iterator[Span]:
    """Secrets in files that keep passwords."""
    for needle, find in _FINDERS:
        if needle in low:
            at = low.find(needle)
            while at >= 0:
                span = find(text, at)
                if span is not None:
                    yield span
                at = low.find(needle, at + len(needle))


def ordered(text: str, low: bytes, at: int) -> Span | None:
    """The secret that an option at ``at`` says is there: its value, or what is piped to its command."""
    for letters, rest, command, kind in _AFTER:
        if low.startswith(letters, at + 1):
            found = rest.match(text, at)
            if found is not None and command in low[_line(text, at) : at] and _stands(found["secret"]):
                return *found.span("secret"), kind
    for option, rest in _BEFORE:
        if low.startswith(option, at):
            found = rest.search(text, _line(text, at), at)
            if found is not None and _stands(found["secret"]):
                return *found.span("secret"), "password"
    return None


def set_or_fed(text: str, low: bytes, at: int) -> Span | None:
    """The secret that the command gives or is given in whose line the word at ``at`` stands."""
    if low[at - 2 : at + 6] == b"chpasswd":
        return _chpasswd(text, at - 2)
    start = low.rfind(b" set ", max(0, at - 100), at)
    return _set(text, start) if start >= 0 else None


def _set(text: str, at: int) -> Span | None:
    """``aws configure set aws_secret_access_key value``, ``npm config set //host/:_authToken value``."""
    found = _SET.match(text, at)
    if found is None or not _SETTER.search(text, max(0, at - 140), at):
        return None
    kind = kind_of(found["name"].rpartition(":")[2], found["secret"], Style.OPTION)
    return (*found.span("secret"), kind) if kind else None


def _chpasswd(text: str, at: int) -> Span | None:
    """``echo 'user:password' | chpasswd``."""
    found = _CHPASSWD.search(text, _line(text, at), at)
    return (*found.span("secret"), "password") if found is not None and _stands(found["secret"]) else None


def _pgpass(text: str, at: int) -> Span | None:
    """The last field of a line of ``.pgpass``: ``host:port:database:user:password``."""
    head = text[max(0, at - 130) : at]
    found = _PGPASS.match(text, at - len(head) + max(head.rfind(mark) + 1 for mark in "\n\"' "))
    return (*found.span("secret"), "password") if found is not None and not is_standin(found["secret"]) else None


def _hash(text: str, at: int) -> Span | None:
    """A password as ``crypt`` keeps it, which can be guessed at leisure: ``$2b$12$...``, ``$6$salt$...``."""
    found = _HASH.match(text, at)
    return (*found.span(), "password-hash") if found is not None and is_mixed(found.group()) else None


_FINDERS: Final = ((b":543", _pgpass), (b"$", _hash))


def _line(text: str, at: int) -> int:
    """Where the line begins, or what can be seen of it."""
    return max(text.rfind("\n", max(0, at - _REACH), at) + 1, at - _REACH, 0)


def _stands(value: str) -> bool:
    """Whether a value is a secret itself, and no name of one."""
    return not is_standin(value) and not value.replace("-", "").replace("_", "").isalpha() and value[0] not in "-$"
