"""Files that hold secrets, by their names: they are never read as evidence."""

from __future__ import annotations

import re
from typing import Final

_SECRET: Final = re.compile(
    r"(?:^|/)(?:\.env(?!\.(?:example|sample|template|dist)$)(?:\.[^/]*)?|[^/]*\.env"
    r"|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|gpg|ppk|tfstate|tfvars)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:\.pub)?|\.(?:npmrc|netrc|pgpass|htpasswd|pypirc|dockercfg|git-credentials)"
    r"|\.?(?:credentials?|secrets?)(?:\.(?:json|ya?ml|toml|ini|txt|xml|properties|cfg|conf))?"
    r"|service[-_]?account[^/]*\.json)$",
    re.IGNORECASE,
)
"""Path patterns."""


def looks_secret(path: str) -> bool:
    """Whether a file of this name likely holds secrets."""
    return _SECRET.search(path) is not None
