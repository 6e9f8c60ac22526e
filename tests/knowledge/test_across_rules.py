"""Signatures of errors, and the dependencies that manifests name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.knowledge.across.dependencies import dependencies_of
from flywheel.text.signatures import class_of, mark_of, marks_in, signature

SAME = (
    ("E   psycopg.OperationalError: connection to 10.0.0.7 port 5432 failed: refused",
     "psycopg.OperationalError: connection to 192.168.1.20 port 6543 failed: refused."),
    ("ModuleNotFoundError: No module named 'tides' in /srv/a/app.py",
     "ModuleNotFoundError: No module named 'tides' in /home/x/b/main.py"),
    ("src/app.ts:12:4: error TS2304: Cannot find name 'Tide'",
     "lib/web/x.ts:900:1: error TS2304: Cannot find name 'Tide'"),
    ("fatal: lock 0x7f3a91bc22 held since 2026-03-01T10:00:00Z by worker 4",
     "fatal: lock 0x1122aa9911 held since 2026-11-30 12:00:01 by worker 17"),
    ("\x1b[31mError: GET https://a.example/x?q=1 gave no answer\x1b[0m", "Error: GET http://b.example gave no answer"),
)  # fmt: skip

OTHERS = (
    ("ModuleNotFoundError: No module named 'tides'", "ModuleNotFoundError: No module named 'moons'"),
    ("OperationalError: connection refused by host", "OperationalError: connection reset by host"),
)


@pytest.mark.parametrize(("one", "two"), SAME)
def test_the_same_error_elsewhere_has_the_same_signature(one: str, two: str) -> None:
    """Whatever its addresses, ids, times, paths and numbers."""
    assert signature(one) == signature(two) != "" and mark_of(one) == mark_of(two)


@pytest.mark.parametrize(("one", "two"), OTHERS)
def test_names_tell_errors_apart(one: str, two: str) -> None:
    """Another module, another word: another error."""
    assert mark_of(one) != mark_of(two)


@pytest.mark.parametrize("line", ["", "Error: 500", "FAILED", "error: exit 1", "0x1234 /a/b/c 77"])
def test_what_says_too_little_has_none(line: str) -> None:
    """It would be the same everywhere."""
    assert (signature(line), mark_of(line)) == ("", "")


@given(st.text(max_size=400))
def test_a_signature_is_its_own(text: str) -> None:
    """Taken twice it is the same, whatever it is taken of."""
    once = signature(text)
    assert not once or signature(once) == once


@pytest.mark.parametrize(
    ("line", "name"),
    [("E  sqlalchemy.exc.OperationalError: x", "OperationalError"), ("Killed", ""), ("error TS2304: no", "")],
)
def test_the_class_of_an_error(line: str, name: str) -> None:
    """Without its module."""
    assert class_of(line) == name


def test_the_errors_of_a_text() -> None:
    """Each line that looks like one, once; of very many the last."""
    line = "OperationalError: connection refused by host"
    assert marks_in(f"I get this:\n{line}\nall is well here\n  {line}\n") == [mark_of(line)]
    assert marks_in("nothing of the kind") == []
    many = [f"error in module {chr(97 + n % 26)}{chr(97 + n // 26)}x of it" for n in range(60)]
    assert marks_in("\n".join(many)) == [mark_of(one) for one in many[-24:]]


MANIFESTS = {
    "pyproject.toml": (
        '[project]\ndependencies = ["httpx>=0.27", "Pillow ; extra"]\n[project.optional-dependencies]\n'
        'pg = ["psycopg[binary]"]\n[dependency-groups]\ndev = ["pytest", {include-group = "pg"}]\n'
        '[tool.poetry.dependencies]\npython = "^3"\nrich = "*"\n',
        {"httpx", "pillow", "psycopg", "pytest", "rich"},
    ),
    "requirements.txt": ("# all\n-r more.txt\nflask==3\nzope.interface\n\n", {"flask", "zope-interface"}),
    "package.json": (
        '{"dependencies": {"@tanstack/query": "5"}, "devDependencies": {"vite": "1"}}', {"query", "vite"},
    ),
    "Cargo.toml": (
        '[dependencies]\nserde_json = "1"\n[workspace.dependencies]\ntokio = "1"\n', {"serde-json", "tokio"},
    ),
    "go.mod": (
        "module x\nrequire (\n\tgithub.com/jackc/pgx/v5 v5.5.0\n)\nrequire golang.org/x/sync v0.1\n", {"pgx", "sync"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_names_dependencies(name: str) -> None:
    """Of every group, in one form; a broken one names none."""
    text, names = MANIFESTS[name]
    assert dependencies_of(name, text) == names
    assert dependencies_of(name, "{[(") == set() and dependencies_of(name, '{"dependencies": 4}') == set()
    assert dependencies_of("Makefile", text) == set()
