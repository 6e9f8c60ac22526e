"""YAML that somebody else wrote: safe types only."""

from __future__ import annotations

from typing import Any, Final

import yaml

from flywheel.codemap.manifests import Malformed

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where it is there. Since PyYAML 6.0.4 merge keys of merge keys do not multiply; aliases never did."""


def documents(text: str) -> list[Any]:
    """The documents of a YAML file. Raises Malformed."""
    try:
        return list(yaml.load_all(text, _LOADER))
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        raise Malformed(str(error).partition("\n")[0]) from error
