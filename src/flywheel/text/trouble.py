"""What a failed command's words say of the command itself; pure."""

from __future__ import annotations

import re
from typing import Final

_UNKNOWN: Final = re.compile(
    r"command not found|not found|no such (?:file|option|command)|no rule to make target|no module named|missing script"
    r"|unknown (?:option|command|argument|flag|script)|unrecogni[sz]ed (?:option|argument|command)|unexpected argument"
    r"|invalid (?:option|choice|command)|^usage:|is not recogni[sz]ed|does not exist|cannot find",
    re.IGNORECASE | re.MULTILINE,
)


def could_not_work(text: str) -> bool:
    """Whether a command failed because there is no such command, target or option; not because a test failed."""
    return _UNKNOWN.search(text) is not None
