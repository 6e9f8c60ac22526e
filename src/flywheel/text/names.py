"""Which names speak of secrets, and whether a value under such a name is likely to be one."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final

from flywheel.text.standins import is_dense, is_mixed, is_named, is_standin


class Style(Enum):
    """How a value is given; the freer the style, the more a value must look like a secret."""

    FIELD = "a JSON value under its key"
    QUOTED = "a literal between quotes, or a header"
    ENV = "NAME=value"
    OPTION = "--name value"
    QUERY = "?name=value"
    LINE = "name: value alone on its line"
    LOOSE = "name: value within a line"


_FAMILY: Final = re.compile(
    r"(?P<key>(?:api|secret|private|preshared|access|account|auth|shared|encryption|encrypt|decryption|signing|signature|master|"
    r"service|role|deploy|admin|root|license|hmac|aes|ssh|app|application|client|storage|subscription|functions?|host|"
    r"webhook|cipher|crypto|fernet|consumer|server|jwt|session|cookie|ssl|tls|integration|project|openai|anthropic|stripe|"
    r"sendgrid|github|gitlab|mistral|cohere|gemini|google|azure|aws|hf|groq)key(?:data)?)|"
    r"(?P<password>password|passwd|passphrase|passwort|passcode|pwd|pw|pass)|(?P<secret>secret|credentials?)|"
    r"(?P<other>key)|(?P<sig>signature|sig)|(?P<token>token|jwt)|(?P<auth>authorization|auth)"
)
_SUFFIX: Final = re.compile(
    r"(?:value|val|text|string|str|raw|plain|plaintext|prod|production|dev|test|staging|live|base64|b64|env|default|old|"
    r"new|current|primary|secondary|header|id(?=token)|\d{1,2})?"
)
_NO_TOKEN: Final = re.compile(
    r"(?:page|next|prev|previous|continuation|cancellation|cancel|pad|eos|bos|unk|sep|mask|cls|stop|start|end|begin|max|"
    r"min|num|total|special|prompt|completion|input|output|sync|resume|first|last|per|word|sub|chat|image|operator|publickey)$"
)
_NO_KEY: Final = re.compile(
    r"(?:public|cache|primary|foreign|sort|partition|idempotency|row|object|hash|lookup|index|group|map|dict|dedupe|unique|"
    r"natural|composite|range|routing|message|event|job|lock|config|i18n|translation|item|list|query|s3|etag|storage|"
    r"country|zip|postal|error|status|exit|source|qr|bar|char|op|byte|py|lang|language|currency)$"
)
_NO_PASS: Final = re.compile(
    r"(?:com|by|sur|tres|over|under|low|high|band|all|first|second|single|multi|one|two|test)$"
)
_AUTH_OWNERS: Final = ("", "basic", "http", "proxy", "docker", "npm", "registry", "requirepass")
_WEAK_NAME: Final = re.compile(r"pass|secret|token|key|word|auth", re.IGNORECASE)
_UPPER: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBERED: Final = re.compile(r"[A-Za-z_]+\d{0,3}")
_PATHLIKE: Final = re.compile(r"[\w.-]*(?:[/\\]+[\w.-]+)+")
_KINDS: Final = {
    "password": "password",
    "secret": "secret",
    "key": "key",
    "other": "key",
    "sig": "signature",
    "token": "token",
    "auth": "credential",
}


@lru_cache(maxsize=4096)
def family(name: str) -> str:
    """Which secrets a name speaks of: password, secret, key, other (some key), sig, token, auth, or ""."""
    flat = re.sub(r"[-_.\s]", "", name[-100:].lower())
    for found in _FAMILY.finditer(flat):
        if _SUFFIX.fullmatch(flat, found.end()):
            return _owned(str(found.lastgroup), found.group(), flat[: found.start()], numbered=flat[-1:].isdigit())
    return ""


def _owned(group: str, word: str, before: str, *, numbered: bool) -> str:
    """The family, unless what stands before it makes it something else (``next_page_token``, ``cache_key``)."""
    if (
        (group == "token" and _NO_TOKEN.search(before))
        or (group == "other" and _NO_KEY.search(before))
        or (group == "auth" and (before not in _AUTH_OWNERS or numbered))
        or (group == "password" and word == "pass" and _NO_PASS.search(before))
    ):
        return ""
    return group


def kind_of(name: str, value: str, style: Style) -> str:
    """What to call the value of a name once it is taken out; "" when it is no secret."""
    group = family(name)
    if not group or not _is_likely(group, name, value, style) or is_standin(value):
        return ""
    return _KINDS[group]


def _is_likely(group: str, name: str, value: str, style: Style) -> bool:
    size, mixed = len(value), is_mixed(value)
    if group == "sig":
        return style is Style.QUERY and is_dense(value)
    if group == "other":
        return is_dense(value) and (style is Style.QUERY or (value.lower() != value and not _PATHLIKE.fullmatch(value)))
    if group == "auth":
        return size >= 12 and (is_dense(value) or value.endswith("="))
    match style:
        case Style.FIELD:
            return group != "token" or (mixed and size >= 6) or (size >= 16 and not is_named(value))
        case Style.QUERY:
            return size >= 6 and (mixed or size >= 16)
        case Style.ENV:
            return (size >= 4 and group == "password") or (size >= 6 and (mixed or size >= 8))
        case Style.OPTION:
            return size >= 4 and not value.replace("-", "").isalpha()
        case Style.QUOTED:
            return _is_literal(group, name, value)
        case Style.LINE | Style.LOOSE:
            return _is_bare(group, value, alone=style is Style.LINE)


def _is_literal(group: str, name: str, value: str) -> bool:
    """Between quotes: a password may be anything but words about passwords; the others have digits or are long."""
    if any(c.isspace() for c in value):
        return group == "password" and len(value) <= 64 and _UPPER.fullmatch(name) is not None
    if group == "password":
        return len(value) >= 4 and not (_WEAK_NAME.search(value) and not any(c.isdigit() for c in value))
    return len(value) >= 6 and (is_mixed(value) or (len(value) >= 16 and not is_named(value)))


def _is_bare(group: str, value: str, *, alone: bool) -> bool:
    """Without quotes, in code or prose, almost everything is a name: only what nobody would call a name counts."""
    if alone and group in ("password", "secret"):
        return len(value) >= 6 and (is_mixed(value) or value.endswith("=")) and not _WEAK_NAME.search(value)
    if (
        alone
        and len(value) >= 8
        and is_mixed(value)
        and not _WEAK_NAME.search(value)
        and not _NUMBERED.fullmatch(value)
    ):
        return True
    if group == "password":
        return len(value) >= 6 and is_mixed(value) and not _IDENTIFIER.fullmatch(value)
    return is_dense(value) and not _NUMBERED.fullmatch(value)
