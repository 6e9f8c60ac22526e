"""The parts of a page that tell its statement: what states it, why, what was seen, what mended it. Names only.

A claim's attribute is one of these, or the attribute that its value is of ("retention"), which conflicts are about.
"""

from __future__ import annotations

from typing import Final

STATES: Final = ""
"""The part that states the entry itself."""
WHY: Final = "why"
DETAIL: Final = "detail"
SYMPTOM: Final = "symptom"
CAUSE: Final = "cause"
FIX: Final = "fix"
PROOF: Final = "proof"
FAILS: Final = "fails"
REPLACES: Final = "replaces"
WITHDRAWN: Final = "withdrawn"
QUESTION: Final = "question"
"""What somebody left open about the page: it states nothing and stands among the open questions."""

PARTS: Final = frozenset({STATES, WHY, DETAIL, SYMPTOM, CAUSE, FIX, PROOF, FAILS, REPLACES, WITHDRAWN, QUESTION})

EDIT: Final = "edit"
"""The attribute of a line that somebody changed in an editor: it says nothing until a person confirms it."""
