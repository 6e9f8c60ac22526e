"""Texts that are shortened before redaction."""

from __future__ import annotations

import pytest

from flywheel.readers.fields import clip
from flywheel.text.redact import Redactor


@pytest.mark.parametrize(
    "secret", ["DB_PASSWORD=9cD6o5pPqR7s9T", "postgres://app:9cD6o5pPqR7s@db/x", '"password":"9cD6o5pPqR7s"']
)
@pytest.mark.parametrize("cap", range(20, 60, 3))
def test_a_cut_leaves_no_half_of_a_secret(secret: str, cap: int) -> None:
    """Wherever a title or a command is cut, nothing of the secret in it is left once it is redacted."""
    clipped = clip(f"Connect it with {secret} please, and then go on with it", cap)
    assert len(clipped) <= cap and "9cD6" not in Redactor().text(clipped)


def test_what_fits_is_not_cut() -> None:
    """A short text stays as it is."""
    assert clip("one two", 7) == "one two"
