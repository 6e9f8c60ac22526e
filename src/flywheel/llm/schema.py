"""Whether an answer is what its schema says, and, for the model, what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LONGEST: Final = 300
"""Characters of a complaint; it may repeat the answer."""


def complaint(schema: Mapping[str, object], value: object) -> str:
    """ "" when the value fits; else where it does not and why. JSON Schema 2020-12."""
    from jsonschema import Draft202012Validator  # 0.1 s to import: only who asks a model pays

    found: Any = list(Draft202012Validator(dict(schema)).iter_errors(value))
    if not found:
        return ""
    worst = min(found, key=lambda error: (len(error.absolute_path), str(error.message)))
    where = "/".join(str(part) for part in worst.absolute_path) or "the whole"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"at {where}: {str(worst.message)[:LONGEST]}{more}"
