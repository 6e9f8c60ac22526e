"""What is found in a source file: golden files per language, and the awkward cases one by one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flywheel.codemap.definitions import NAME_CHARS, SIGNATURE_CHARS, Parsed, module_name, parse
from flywheel.codemap.languages import LANGUAGES, language_of, load

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.txt"))


def describe(file: Path) -> str:
    """Everything that parsing finds, as lines to compare and to read."""
    path = f"src/{file.stem}"
    parsed = parse(file.read_bytes(), language_of(path), path, references=True)
    lines = [
        f"{item.kind} {item.qualified}#{item.ordinal} {item.start_line}-{item.stop_line}"
        f" {item.signature!r} {item.doc!r}"
        for item in parsed.definitions
    ]
    lines += [f"import {item.module!r} {item.name!r} {item.line}" for item in parsed.imports]
    uses: dict[int, list[str]] = {}
    for name, within, line, count in parsed.references:
        uses.setdefault(within, []).append(f"{name}:{line}" + (f"x{count}" if count > 1 else ""))
    lines += [
        f"uses {parsed.definitions[within].qualified if within >= 0 else ''}: {' '.join(names)}"
        for within, names in sorted(uses.items())
    ]
    return "\n".join([*lines, f"broken {parsed.broken}", ""])


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_golden(file: Path) -> None:
    """Each language's sample gives exactly the definitions, documentation, imports and uses of its golden file."""
    if os.environ.get("FLYWHEEL_GOLDEN") == "write":
        file.with_suffix(".golden").write_text(describe(file), "utf-8")
    assert describe(file) == file.with_suffix(".golden").read_text("utf-8")


def python(text: str | bytes) -> Parsed:
    """Parse Python."""
    return parse(text if isinstance(text, bytes) else text.encode(), "python", "pkg/mod.py")


def test_every_language_has_a_golden_file() -> None:
    """A new language without a sample is noticed."""
    assert {language_of(file.stem) for file in GOLDEN} == {language.name for language in LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_query_compiles_and_survives_nonsense(language: object) -> None:
    """Empty, blank, NUL and random bytes give an answer in every language."""
    name = language.name  # type: ignore[attr-defined]
    load(name)
    for source in (b"", b"\n", b"\0\0", bytes(range(256)), b"{" * 3000, b"\xef\xbb\xbf", b'"' * 99):
        assert parse(source, name, "a/b").imports is not None


def test_a_docstring_is_found_past_comments_and_only_first() -> None:
    """A comment before the docstring hides nothing; a string further down is no docstring; an empty one is none."""
    found = python(
        'def a():\n    # c\n    """Yes."""\ndef b():\n    x = 1\n    """No."""\ndef c():\n    ""\n    return 1\n'
    )
    assert [item.doc for item in found.definitions] == ["Yes.", "", ""]


def test_a_leading_comment_must_touch_and_start_its_line() -> None:
    """A blank line, or code on the comment's line, cuts the tie; definitions on one line do not share the comment."""
    found = parse(
        b"// far\n\nfunction a() {}\nx(); // beside\nfunction b() {}\n/** A. */ class C { m() {} }\n", "javascript", ""
    )
    assert [(item.name, item.doc) for item in found.definitions] == [("a", ""), ("b", ""), ("C", ""), ("m", "")]
    near = parse(b"/** A class. */\nclass C { m() {} }\n", "javascript", "a.js")
    assert [(item.name, item.doc) for item in near.definitions] == [("C", "A class."), ("m", "")]


def test_ordinals_tell_namesakes_apart() -> None:
    """Definitions with one qualified name and kind count up in their order; another kind counts by itself."""
    found = python("def f(): 1\nclass f: pass\ndef f(): 2\nif x:\n    def f(): 3\n")
    assert [(item.kind, item.ordinal) for item in found.definitions] == [
        ("function", 0),
        ("class", 0),
        ("function", 1),
        ("function", 2),
    ]


def test_functions_in_functions_are_no_methods() -> None:
    """Nesting makes qualified names; only the functions right inside of types are methods."""
    found = python(
        "class A:\n    def m(self):\n        def inner(): pass\n        class B:\n            def n(self): pass\n"
    )
    assert [(item.kind, item.qualified) for item in found.definitions] == [
        ("class", "A"),
        ("method", "A.m"),
        ("function", "A.m.inner"),
        ("class", "A.m.B"),
        ("method", "A.m.B.n"),
    ]


def test_everything_is_capped() -> None:
    """A generated monster of a signature, a name and a docstring comes out short."""
    monster = (
        "def " + "n" * 5000 + "(" + ", ".join(f"a{number}" for number in range(5000)) + '):\n    """' + "w " * 9999
    )
    (item,) = python(monster + '"""\n').definitions
    assert len(item.name) == NAME_CHARS
    assert len(item.signature) == SIGNATURE_CHARS
    assert len(item.doc) == 600


def test_odd_encodings() -> None:
    """A byte-order mark, CRLF, Latin-1 and lone surrogate bytes neither stop the parse nor reach the text."""
    (item,) = python(b'\xef\xbb\xbfdef a():\r\n    """Caf\xe9 \xed\xa0\x80."""\r\n').definitions
    assert (item.name, item.start_line, item.stop_line) == ("a", 1, 2)
    item.doc.encode("utf-8")
    (latin,) = python("# -*- coding: latin-1 -*-\nclass K\xe4se: pass\n".encode("latin-1")).definitions
    assert latin.kind == "class"


def test_deep_nesting_is_no_recursion() -> None:
    """Thousands of nested blocks are walked without recursion."""
    text = "".join("  " * depth + f"def f{depth}():\n" for depth in range(300)) + "  " * 300 + "pass\n"
    found = python(text).definitions
    assert len(found) > 250
    assert python("x = " + "(" * 20000 + ")" * 20000).definitions == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/shop/__init__.py", "shop"),
        ("crates/money/src/lib.rs", "money"),
        ("src/main.rs", "main"),
        ("web/src/index.ts", "web"),
        ("a/types.d.ts", "types"),
        ("x.py", "x"),
    ],
)
def test_module_names(path: str, name: str) -> None:
    """A file whose name says nothing is called after its folder."""
    assert module_name(path) == name


FASTAPI = """router = APIRouter(prefix="/users", tags=["x"])
bp = Blueprint("b", __name__, url_prefix="/old")
twice = APIRouter(prefix="/twice")
app.include_router(router, prefix="/v1")
app.include_router(twice, prefix="/a")
app.include_router(twice, prefix="/b")
app.register_blueprint(bp, url_prefix="/new/")

@router.get("/{id}")
def one(id): pass

@bp.route("/list")
def listed(): pass

@app.get("/top")
def top(): pass

@twice.post("/x")
def x(): pass
"""
EXPRESS = """const router = express.Router();
router.get('/:id', one);
router.post('/', make);
app.get('/top', top);
app.use(express.json());
app.use('/api', auth, router);
"""
CLAP = """use clap::{Arg, Command};
fn cli() -> Command {
    Command::new("tool").subcommand(Command::new("push").arg(Arg::new("force"))).subcommand(clap::Command::new("pull"))
}
"""


def marks(source: str, language: str) -> list[str]:
    """The routes and commands of a text."""
    found = parse(source.encode(), language, "a").definitions
    return [one.name for one in found if one.kind in ("route", "command")]


def test_routes_have_the_prefix_of_their_router() -> None:
    """Where the same file says it: the router's own, and what it is included under; a blueprint's is replaced."""
    assert marks(FASTAPI, "python") == ["GET /v1/users/{id}", "/new/list", "GET /top", "POST /twice/x"]
    assert marks(EXPRESS, "javascript") == marks(EXPRESS, "typescript") == ["GET /api/:id", "POST /api/", "GET /top"]


def test_a_command_of_clap_is_no_process() -> None:
    """`Command::new` is one where the file imports clap; the standard library's starts a program."""
    assert marks(CLAP, "rust") == ["tool", "push", "pull"]
    assert marks(CLAP.replace("use clap::{Arg, Command}", "use std::process::Command"), "rust") == ["pull"]
