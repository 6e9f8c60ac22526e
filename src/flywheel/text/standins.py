"""Values that stand where a secret would, and are none: placeholders, look-ups, names and types."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = frozenset(
    """
    none null nil true false undefined void unset empty default optional required missing unknown any anything self
    this str string text int integer number float bool boolean bytes bytearray object dict list array buffer
    secretstr varchar password passwd passphrase pass pwd secret secrets token tokens key keys apikey credential
    credentials auth bearer basic user username login admin root guest name email value values data env environment
    config settings variable test testing tests example sample dummy fake mock foo bar baz qux foobar todo tbd fixme
    n/a na hidden masked redacted removed omitted private public stored saved encrypted hashed plain plaintext
    cleartext prompt prompted sha1 sha256 sha384 sha512 md5 base64 base64url utf8 utf-8 bcrypt argon2 argon2id
    scrypt pbkdf2 oauth oauth1 oauth2 oidc hs256 rs256 es256 aes256 aes-256-gcm ed25519 rsa2048 rsa4096 jwt x509
    pkcs8 pkcs12
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_PARTS: Final = re.compile(
    r"example|placeholder|change[-_ ]?me|change[-_]this|replace[-_ ]?(?:me|with|this)|insert[-_ ]|dummy|redacted|fixme|"
    r"\byour\b|your[-_ ]?(?:own|api|app|aws|access|auth|client|secret|token|key|pass|db|real|actual|very|super|project|"
    r"org|account|github|openai|anthropic|private|jwt|user|username|here|value)|my[-_](?:api|secret|token|pass|key|access)[\w-]*$|"
    r"x{4}|\*{3}|\.\.\.|…|•{3}|os\.environ|process\.env|import\.meta|getenv|secrets\.|\benv\.|vault:|op://|[-_]here$|"
    r"not[-_]?a[-_]?real|for[-_]testing",
    re.IGNORECASE,
)
_LOOKUP: Final = re.compile(
    r"\$\w+$|\$?\{.*\}?|\$\(.*|\$env:.*|%\w*%?$|%\(\w+\)s|<.*>?|\[.*\]?|\(.*\)?|@\w+$|&\w+$|\*+$|#.*|"
    r"(?:~|\.{1,2})?/[\w.~/*{}$@+-]*$|[A-Za-z]:\\.*|(?:https?|file|env|arn|vault|ssm|gs|s3|secret|keychain|urn|data):.*",
    re.DOTALL,
)
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_DOTTED: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+!?")
_NAMED: Final = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)+")


def is_standin(value: str) -> bool:
    """Whether a value only stands for a secret. Looks at the first 256 characters."""
    head = value[:256]
    if len(set(head)) <= 2 or head.lower() in _WORDS:
        return True
    if _LOOKUP.match(head) and not _is_base64_path(head):
        return True
    return _CONSTANT.fullmatch(head) is not None or _DOTTED.fullmatch(head) is not None or bool(_PARTS.search(head))


def is_named(value: str) -> bool:
    """Words joined by separators, as in ``db-credentials``: a name, not a value."""
    return _NAMED.fullmatch(value[:256]) is not None


def _is_base64_path(value: str) -> bool:
    """``/`` begins one base64 text in 64: long, with digits and both cases, and no short segment like a folder's."""
    return value[0] == "/" and len(value) >= 24 and value.count("/") <= 3 and is_dense(value)


def is_mixed(value: str) -> bool:
    """Letters and digits together."""
    head = value[:256]
    return any(c.isdigit() for c in head) and any(c.isalpha() for c in head)


def is_dense(value: str) -> bool:
    """At least 16 characters of many kinds without white space: what a generator makes and a person does not type."""
    head = value[:256]
    return len(head) >= 16 and is_mixed(head) and len(set(head)) >= 8 and not any(c.isspace() for c in head)
