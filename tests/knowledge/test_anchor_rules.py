"""What a page speaks of, which definition a name may mean, and what counts as a change of it."""

from __future__ import annotations

import pytest

from flywheel.knowledge.anchor_rules import (
    CUT,
    KEPT,
    difference,
    endings,
    fits,
    kept_text,
    same_but_name,
    told,
    told_hash,
)
from flywheel.knowledge.mentions import mentions_in
from flywheel.model import Clean


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`RateLimiter.allow` counts per user", ["symbol RateLimiter.allow allow"]),
        ("we call allow() first", ["symbol allow allow"]),
        ("`allow` is a word", []),
        ("`Shelf` holds things", ["symbol Shelf Shelf"]),
        ("the helper require_user strips", ["symbol require_user require_user"]),
        ("see src/auth/mw.py:require_user", ["symbol src/auth/mw.py:require_user require_user"]),
        ("see src/auth/mw.py::Guard.check", ["symbol src/auth/mw.py::Guard.check check"]),
        ("src/auth/mw.py:12 is wrong", ["file src/auth/mw.py "]),
        ("edit ./docs/a.md", ["file docs/a.md "]),
        ("at https://example.org/a/b.py", []),
        ("it ends in KeyError: 'plan' is missing", ["error KeyError: 'plan' is missing "]),
        ("run `make test ARGS=-q` first", ["command make test ARGS=-q "]),
        ("`x = 3` and `a is b`", []),
    ],
)
def test_what_a_page_speaks_of(text: str, found: list[str]) -> None:
    """Files, definitions that look like ones, error messages and commands; never a mere word."""
    assert [f"{one.kind} {one.name} {one.leaf}" for one in mentions_in([Clean(text)])] == found


def test_links_that_extraction_made_count_as_well() -> None:
    """Once, under the same rule for single words."""
    links = [("symbol", Clean("RateLimiter.allow")), ("symbol", Clean("plain")), ("subject", Clean("x_y"))]
    found = mentions_in([Clean("`RateLimiter.allow` it is")], links)
    assert [one.name for one in found] == ["RateLimiter.allow"]


@pytest.mark.parametrize(
    ("name", "path", "qualified", "fit"),
    [
        ("RateLimiter.allow", "src/limits.py", "RateLimiter.allow", True),
        ("RateLimiter.allow", "src/limits.py", "Outer.RateLimiter.allow", True),
        ("allow", "src/limits.py", "RateLimiter.allow", False),
        ("allow", "src/limits.py", "allow", True),
        ("RateLimiter::allow", "src/limits.rs", "RateLimiter.allow", True),
        ("limits.RateLimiter", "src/limits.py", "RateLimiter", True),
        ("shop.limits.RateLimiter", "src/shop/limits.py", "RateLimiter", True),
        ("shop.RateLimiter", "src/shop/__init__.py", "RateLimiter", True),
        ("other.RateLimiter", "src/limits.py", "RateLimiter", False),
        ("src/limits.py:RateLimiter.allow", "src/limits.py", "RateLimiter.allow", True),
        ("limits.py:allow", "src/limits.py", "RateLimiter.allow", True),
        ("imits.py:allow", "src/limits.py", "allow", False),
        ("src/limits.py:allow", "src/other.py", "allow", False),
        ("XRateLimiter.allow", "src/limits.py", "RateLimiter.allow", False),
    ],
)
def test_which_definition_a_name_may_mean(name: str, path: str, qualified: str, fit: bool) -> None:
    """By its qualified name, alone or with its file or module; a method's bare name means none."""
    assert fits(name, path, qualified) is fit
    if fit:
        longest = endings(name)[0]
        assert qualified in endings(name) or qualified.endswith(f".{longest}")


N = ("C.n", "def n(self)", "2")
ONE = told_hash(["a"], [("C.m", "def m(self)", "1"), N])


@pytest.mark.parametrize(
    ("then", "now", "what"),
    [
        ((told_hash(["a"]), "f(x)"), (told_hash(["a"]), "f(x)"), ""),
        ((told_hash(["a"]), "f(x)"), (told_hash(["b"]), "f(x)"), "body"),
        ((told_hash(["a"]), "f(x)"), (told_hash(["b"]), "f(x, y)"), "signature"),
        ((ONE, "class C"), (told_hash(["b"], [("C.m", "def m(self)", "9"), N]), "class C"), ""),
        ((ONE, "class C"), (told_hash(["b"], [("C.m", "def m(self, x)", "9"), N]), "class C"),
         "members"),
        ((ONE, "class C"), (told_hash(["b"], [("C.m", "def m(self)", "1")]), "class C"), "members"),
        ((ONE, "class C"), (told_hash(["b"], [("C.m", "def m(self)", "1"), N]), "class C"),
         "body"),
        ((ONE, "class C"), (ONE.replace(ONE[:4], "0000"), "class C(D)"), "signature"),
        ((told_hash(["a"]), "class C"), (ONE, "class C"), "members"),
    ],
)  # fmt: skip
def test_what_counts_as_a_change(then: tuple[str, str], now: tuple[str, str], what: str) -> None:
    """Signature before members before body; what a member does is no change of its class."""
    assert difference(*then, *now) == what


@pytest.mark.parametrize(
    ("then", "now", "same"),
    [
        ("def old(x):\n    return x + 1", "def new(x):\n        return x  + 1", True),
        ("def old(x):\n    return old(x - 1)", "def new(x):\n    return new(x - 1)", True),
        ("def old(x):\n    return older(x)", "def new(x):\n    return newer(x)", False),
        ("def old(x):\n    return x", "def new(x):\n    return x + 1", False),
        ("", "def new(): pass", False),
    ],
)
def test_a_definition_is_known_by_its_text_under_another_name(then: str, now: str, same: bool) -> None:
    """Whatever its layout; also where it calls itself."""
    assert same_but_name(then, "old", now, "new") is same


def test_a_cut_text_is_compared_as_far_as_it_goes() -> None:
    """And only texts that are too long are cut."""
    long = "def old():\n" + "    step()\n" * KEPT
    cut = kept_text(Clean(long))
    assert cut.endswith(CUT) and len(cut) == KEPT + len(CUT) and kept_text(Clean("x")) == "x"
    assert same_but_name(cut, "old", long.replace("old", "new"), "new")
    assert not same_but_name(cut, "old", long.replace("step", "stop").replace("old", "new"), "new")


@pytest.mark.parametrize(
    ("what", "to", "said"),
    [
        ("signature", "", "src/auth/mw.py:require_user changed its signature on 2026-03-02"),
        ("renamed", "require_login", "src/auth/mw.py:require_user was renamed to require_login on 2026-03-02"),
        ("moved", "src/guard.py", "src/auth/mw.py:require_user moved to src/guard.py on 2026-03-02"),
        ("deleted", "", "src/auth/mw.py:require_user was deleted on 2026-03-02"),
    ],
)
def test_changes_are_named(what: str, to: str, said: str) -> None:
    """With the place and the day."""
    assert told(what, Clean("src/auth/mw.py::require_user"), 1_772_409_600_000_000, to=Clean(to)) == said
