"""Secrets that are known by what stands around them: key blocks, URLs, headers, cookies and command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flywheel.text.shapes import Span
from flywheel.text.standins import is_dense, is_mixed, is_standin

_CAP: Final = 4096

_PEM_OPEN: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_CLOSE: Final = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_INSIDE: Final = re.compile(r"[\w+/=\s.…\\\"',:;|→\[\]<>*#-]*", re.ASCII)
_PEM_BODY: Final = re.compile(
    r"(?:\\[nr]|[\s\"'+,|>\\*#]|\d{1,6}[→:|\t]|[A-Za-z0-9+/=]{16,}|[A-Za-z][A-Za-z-]{2,20}: [^\n\\]{0,100}"
    r"|[A-Za-z0-9+/]{1,15}={0,2}(?=[\s\"'\\]|\Z)(?!\s[a-z]))*+"
)
_PUTTY: Final = re.compile(
    r"private-lines: \d{1,3}(?P<secret>(?:(?:\s|\\[nr]|\d{1,6}[→:|\t])+[A-Za-z0-9+/]{16,80}={0,2}){1,200})",
    re.IGNORECASE,
)
_PEM_CAP: Final = 65536
_CHUNK: Final = re.compile(r"[A-Za-z0-9+/=]{16}")
_SHORT_CHUNK: Final = re.compile(r"[A-Za-z0-9+/=]{8}")

_USERINFO: Final = re.compile(r"://(?P<user>[^\s:/@?#\"'<>`\[]{0,128}):(?P<secret>[^\s/@\"'<>`]{1,512})@(?=[\w\[{$%])")
_DATABASE: Final = re.compile(
    r"(?<=[a-z])://(?P<user>[^\s:/@?#\"'<>`\[]{0,128}):(?P<secret>[^\s\"'<>`]{1,256})@"
    r"(?=[A-Za-z0-9.-]{1,253}(?::\d{2,5})?(?:[/?,\s\"'`<>)]|\Z))"
)
"""In a database's address what stands before the last ``@`` is a password, whatever is in it."""

_DATABASES: Final = ("postgres", "postgresql", "mysql", "mariadb", "mongodb", "srv", "redis", "rediss", "amqp", "amqps")
_ALONE: Final = re.compile(r"://(?P<secret>[A-Za-z0-9_]{20,255})(?::(?:x-oauth-basic)?)?@(?=[\w\[])")
_HOOK: Final = re.compile(
    r"://(?P<host>hooks\.slack\.com/(?:services|workflows|triggers)/|(?:\w+\.)?discord(?:app)?\.com/api/webhooks/|"
    r"[\w-]+\.webhook\.office\.com/webhookb2/|outlook\.office\.com/webhook/|chat\.googleapis\.com/v1/spaces/)"
    r"(?P<secret>[\w/.@?=&%-]{16,512})"
)
_HOOKS: Final = {"h": "slack-webhook", "d": "discord-webhook"}

_SCHEME: Final = re.compile(
    r"(?P<scheme>bearer|basic|token|apikey|api-key|digest|negotiate|ntlm|hmac|key|bot|splunk|genie"
    r"key|sso-key|aws4-hmac-sha256)"
    r"(?:[ \t]{1,4}|%20|\+)(?P<secret>[^\s\"'`\\<>|]{4,4096})",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    r"orization(?:\\{0,3}[\"'`]\]?)?[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}(?:[bfru]{1,2}(?=[\"']))?\\{0,3}[\"'`]?",
    re.IGNORECASE,
)
_BARE: Final = re.compile(r"[^\s\"'`\\<>|,;()\[\]]{8,4096}")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")

_COOKIE: Final = re.compile(
    r"(?:cookie|cookies)(?:\\{0,3}[\"'`]\]?)?[ \t]{0,4}(?:=>|[:=, ])[ \t]{0,4}(?:[bfru]{1,2}(?=[\"']))?\\{0,3}[\"'`]?"
    r"(?=[\w.!#$%&*+^|~-]{1,128}=)",
    re.IGNORECASE,
)
_PAIR: Final = re.compile(
    r"(?P<name>[\w.!#$%&*+^|~-]{1,128})=(?P<secret>[^\s;,\"'`\\]{0,4096})(?:;[ \t]*(?=[\w.!#$%&*+^|~-]{1,128}=))?"
)
_ATTRIBUTES: Final = frozenset(
    (
        "path",
        "domain",
        "expires",
        "max-age",
        "samesite",
        "secure",
        "httponly",
        "priority",
        "version",
        "partitioned",
        "comment",
        "_ga",
        "_gid",
        "_gat",
        "_fbp",
        "lang",
        "locale",
        "theme",
        "tz",
        "timezone",
        "consent",
    )
)

_IDENTIFIED: Final = re.compile(
    r"identified (?:with\s{1,8}[\w\"'`]{1,64}\s{1,8})?by\s{1,8}'(?P<secret>[^\s\"'\\]{1,256})'", re.IGNORECASE
)


def blocks(text: str, low: bytes) -> Iterator[Span]:
    """Private keys in PEM or PGP armour, whole or cut short, also with line numbers or escaped line ends."""
    at = low.find(b"-----begin ")
    while at >= 0:
        again = low.find(b"-----begin ", at + 11)
        opened = _PEM_OPEN.match(text, at)
        if opened is not None:
            stop = _block_end(text, low, opened.end(), again if again >= 0 else len(text))
            if stop > opened.end():
                yield at, stop, "private-key"
        at = again
    for at in _places(low, b"private-lines: ") if b"private-lines: " in low else ():
        if (putty := _PUTTY.match(text, at)) is not None:
            yield *putty.span("secret"), "private-key"


def _block_end(text: str, low: bytes, start: int, limit: int) -> int:
    """Where the key that opens before ``start`` ends; ``start`` itself when the header was only spoken of."""
    end = low.find(b"-----end ", start, min(limit, start + _PEM_CAP))
    closed = _PEM_CLOSE.match(text, end) if end >= 0 else None
    if closed is not None and _PEM_INSIDE.fullmatch(text, start, end) and _SHORT_CHUNK.search(text, start, end):
        return closed.end()
    body = _PEM_BODY.match(text, start, min(limit, start + _PEM_CAP))
    if body is None or not _CHUNK.search(body.group()):
        return start
    return start + len(body.group().rstrip(" \t\r\n\"'+,|>\\*#"))


def urls(text: str, low: bytes) -> Iterator[Span]:
    """Passwords in ``scheme://user:password@host`` and the secret part of webhook addresses."""
    at = low.find(b"://")
    while at >= 0:
        found = _in_database(text, low, at) or _USERINFO.match(text, at)
        if found is not None:
            if not is_standin(found["secret"]):
                yield *found.span("secret"), "password"
        elif (alone := _ALONE.match(text, at)) is not None:
            if is_dense(alone["secret"]):
                yield *alone.span("secret"), "token"
        elif (hook := _HOOK.match(text, at)) is not None and is_mixed(hook["secret"]):
            yield *hook.span("secret"), _HOOKS.get(hook["host"][0], "webhook")
        at = low.find(b"://", at + 3)


def _in_database(text: str, low: bytes, at: int) -> re.Match[str] | None:
    scheme = low[max(0, at - 16) : at]
    if not scheme.endswith(tuple(name.encode() for name in _DATABASES)):
        return None
    found = _DATABASE.match(text, at)
    return found if found is not None and "://" not in found["secret"] else None


def headers(text: str, low: bytes) -> Iterator[Span]:
    """What follows the scheme in ``Authorization`` headers, and after a ``Bearer`` anywhere."""
    for at in _places(low, b"authorization"):
        opened = _HEADER.match(text, at + 4)
        if opened is None:
            continue
        found = _SCHEME.match(text, opened.end())
        if found is not None:
            if _is_credential(found["scheme"], found["secret"]):
                yield *found.span("secret"), "authorization"
        elif (bare := _BARE.match(text, opened.end())) and is_mixed(bare.group()) and not is_standin(bare.group()):
            yield *bare.span(), "authorization"
    for at in _places(low, b"bearer"):
        found = _SCHEME.match(text, at)
        if found is not None and is_dense(found["secret"]) and _is_credential("bearer", found["secret"]):
            yield *found.span("secret"), "authorization"


def _is_credential(scheme: str, value: str) -> bool:
    value = value.rstrip(".,;:)]}")
    if len(value) < 4 or is_standin(value):
        return False
    if scheme.lower() == "basic":
        return bool(_BASE64.fullmatch(value)) and (is_mixed(value) or value.endswith("=") or value.lower() != value)
    return is_mixed(value)


def cookies(text: str, low: bytes) -> Iterator[Span]:
    """The values of ``Cookie`` and ``Set-Cookie`` headers that are long enough to be a session."""
    for at in _places(low, b"cookie"):
        opened = _COOKIE.match(text, at)
        pair = _PAIR.match(text, opened.end()) if opened else None
        while pair is not None:
            value = pair["secret"]
            if (
                len(value) >= 8
                and is_mixed(value)
                and pair["name"].lower() not in _ATTRIBUTES
                and not is_standin(value)
            ):
                yield *pair.span("secret"), "cookie"
            pair = _PAIR.match(text, pair.end()) if pair.group().rstrip(" \t").endswith(";") else None


def statements(text: str, low: bytes) -> Iterator[Span]:
    """Passwords in SQL: ``IDENTIFIED BY 'password'``."""
    for at in _places(low, b"identified "):
        found = _IDENTIFIED.match(text, at)
        if found is not None and not is_standin(found["secret"]):
            yield *found.span("secret"), "password"


def _places(low: bytes, needle: bytes) -> Iterator[int]:
    at = low.find(needle)
    while at >= 0:
        yield at
        at = low.find(needle, at + len(needle))
