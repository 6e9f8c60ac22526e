"""What every language must stand: damage, odd bytes, deep nesting, reformatting; and what its page says is found."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from flywheel.codemap.definitions import Definition, parse
from flywheel.codemap.imports import RESOLVERS
from flywheel.codemap.languages import LANGUAGES, Language, language_of, load
from flywheel.codemap.parser import Request, look

SPECIMENS = sorted((Path(__file__).parent / "golden").glob("shop.*.txt"))
PAGE = Path(__file__).parents[2] / "docs" / "code.md"

every_language = pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
every_specimen = pytest.mark.parametrize("file", SPECIMENS, ids=lambda file: file.stem)


def found(source: bytes, language: str) -> list[Definition]:
    """The definitions without the file's own."""
    return [item for item in parse(source, language, "src/x").definitions if item.kind != "module"]


@every_specimen
def test_line_ends_and_a_byte_order_mark_change_nothing(file: Path) -> None:
    """CRLF and a byte-order mark give the same definitions, signatures, documentation, lines and imports."""
    language = language_of(file.stem)
    source = file.read_bytes()
    plain = parse(source, language, "src/x", references=True)
    crlf = parse(source.replace(b"\n", b"\r\n"), language, "src/x", references=True)
    assert [item._replace(hash="") for item in crlf.definitions] == [
        item._replace(hash="") for item in plain.definitions
    ]
    assert (crlf.imports, crlf.references) == (plain.imports, plain.references)
    if language != "markdown":
        marked = parse(b"\xef\xbb\xbf" + source, language, "src/x", references=True)
        assert [item._replace(hash="", doc="") for item in marked.definitions] == [
            item._replace(hash="", doc="") for item in plain.definitions
        ]


@every_specimen
def test_latin_1(file: Path, tmp_path: Path) -> None:
    """A file in Latin-1 gives its definitions all the same, with its letters as they are meant."""
    source = file.read_bytes().replace(b"Sells things", b"Verkauft K\xe4se")
    (tmp_path / file.stem).write_bytes(source)
    answer = look(Request(os.fsencode(tmp_path / file.stem), file.stem, language_of(file.stem), "", 1 << 20))
    plain = parse(file.read_bytes(), language_of(file.stem), file.stem)
    assert answer.state == "indexed"
    assert [item.qualified for item in answer.definitions] == [item.qualified for item in plain.definitions]
    assert any("Verkauft Käse" in item.doc for item in answer.definitions) == any(
        "Sells things" in item.doc for item in plain.definitions
    )


@every_language
def test_files_of_one_byte(language: Language) -> None:
    """No byte alone hangs or breaks a grammar."""
    for byte in range(256):
        parse(bytes([byte]), language.name, "a", references=True)


@every_language
def test_deep_nesting(language: Language) -> None:
    """What is nested a thousand deep, and never closed, comes back."""
    for text in (b"(" * 2000, b"[" * 2000, b"x(" * 1000, b"> " * 500, b'{"a":' * 1000):
        assert parse(text, language.name, "a", references=True).definitions is not None
    steps = b"".join(b" " * depth + b"a:\n" for depth in range(150))
    parse(steps, language.name, "a", references=True)


DAMAGED = {
    "java": ("class A { void a() {} void broken( { x = ; } void b() {} }\nclass B {}\n", "A.a", "B"),
    "kotlin": ("fun a() = 1\nval x = = 3\nclass B {\n  fun b() {}\n}\n", "a", "B.b"),
    "scala": ("object A {\n  def a = 1\n  def ((( = \n}\n\nclass B { def b = 2 }\n", "A.a", "B.b"),
    "c": ("int a(void) { return 1; }\nint broken(int { return ;; }\nint b(void) { return 2; }\n", "a", "b"),
    "c-header": ("int a(void);\nint broken(int ;\nint b(void);\n", "a", "b"),
    "cpp": ("class A { void a() {} };\nvoid broken( { } ;\nint b() { return 2; }\n", "A.a", "b"),
    "csharp": ("class A { void M() {} void Broken( { } int x = ; }\nclass B { void N() {} }\n", "A.M", "B.N"),
    "ruby": ("def a\nend\nclass B\n  def broken(\n  end\n  def b; end\nend\n", "a", "b"),
    "php": ("<?php\nfunction a() {}\n$x = = 3;\nfunction b() {}\n", "a", "b"),
    "swift": ("func a() {}\nfunc broken( { let }\nstruct B { func b() {} }\n", "a", "b"),
    "bash": ("a() { echo 1; }\nif then ((\nb() { echo 2; }\n", "a", "b"),
    "sql": ("CREATE TABLE a (id INT);\nCREATE TABEL x (;\nCREATE TABLE b (id INT);\n", "a", "b"),
    "hcl": ('variable "a" {}\nresource "x" {\n  y = ]\n}\nvariable "b" {}\n', "a", "b"),
    "toml": ("[a]\nx = 1\ny == 2\n[b]\nz = 3\n", "a", "b"),
    "yaml": ("a:\n  x: 1\nbroken: [1, 2\nb:\n  y: 2\n", "a", "a"),
    "json": ('{"a": {"x": 1}, "broken": , "b": {"y": 2}}', "a", "b"),
    "python": ("def a():\n    pass\n\n\nx = = 3\n\n\ndef b():\n    pass\n", "a", "b"),
    "javascript": ("function a() {}\nclass X { y( {} }\nfunction b() {}\n", "a", "b"),
    "typescript": ("function a(): void {}\nlet x: = 3;\nfunction b(): void {}\n", "a", "b"),
    "tsx": ("function a() {}\nconst x = <div><\nfunction b() {}\n", "a", "a"),
    "go": ("package p\nfunc a() {}\nfunc broken( { x := }\nfunc b() {}\n", "a", "b"),
    "rust": ("fn a() {}\nfn broken( { let = ; }\nfn b() {}\n", "a", "b"),
}


@every_language
def test_damage_hides_only_itself(language: Language) -> None:
    """What stands before and after broken code is found; only Markdown cannot be broken."""
    if language.name == "markdown":
        assert not parse(b"# A\n\n```\n[broken](\n", "markdown", "a").broken
        return
    text, before, after = DAMAGED[language.name]
    parsed = parse(text.encode(), language.name, "a")
    assert parsed.broken
    names = [item.qualified for item in parsed.definitions]
    assert before in names
    assert any(name == after or name.endswith(f".{after}") for name in names), names


@every_specimen
def test_spans_begin_at_the_definition(file: Path) -> None:
    """A definition's name stands in the lines that it spans, and its signature begins on one of them."""
    lines = file.read_text("utf-8").splitlines()
    for item in found(file.read_bytes(), language_of(file.stem)):
        if item.kind == "command":
            continue
        span = "\n".join(lines[item.start_line - 1 : item.stop_line])
        if item.kind == "route":  # its class may say the first part of its path, and its method have none of its own
            span = "\n".join(lines[: item.stop_line])
            assert item.name.rpartition("/")[2].rpartition(" ")[2] in span.lower().replace("controller", ""), item
            continue
        assert item.name in span.replace('"', "") or item.name.split(".")[-1] in span, item
        assert item.signature.split()[0].split("(")[0].rstrip('.:;"') in span, item


def test_a_language_is_one_line_and_one_query_file() -> None:
    """Every line names a way of its imports and files that are there; endings belong to one language."""
    folder = Path(parse.__code__.co_filename).parent / "grammar"
    used = {query for language in LANGUAGES for query in language.queries or (language.name,)}
    assert used == {file.stem for file in folder.glob("*.scm")}
    assert {language.imports for language in LANGUAGES} <= RESOLVERS.keys()
    endings = [ending for language in LANGUAGES for ending in language.endings]
    assert len(endings) == len(set(endings))
    for language in LANGUAGES:
        re.compile(language.own)


def test_references_cost_nothing_unless_asked_for() -> None:
    """The query for definitions alone has no pattern for references."""
    assert load("python")[1].pattern_count < load("python", references=True)[1].pattern_count
    assert not parse(b"f(1)\n", "python", "a").references
    assert [use.name for use in parse(b"f(1)\n", "python", "a", references=True).references] == ["f"]


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/Rakefile", "ruby"), ("Gemfile", "ruby"), ("a.tf", "hcl"), ("a/B.HPP", "cpp"), ("x.h", "c-header"),
        ("x.kts", "kotlin"), ("a.tsx", "tsx"), (".sh", ""), ("Rakefile/x", ""), ("a.yml", "yaml"),
        ("README.MD", "markdown"),
    ],
)  # fmt: skip
def test_languages_of_files(path: str, language: str) -> None:
    """Endings in either case, whole names, and hidden files that are all ending."""
    assert language_of(path) == language


def test_uses_are_counted_by_the_definition_that_they_stand_in() -> None:
    """The innermost one; what stands outside of all has none; routes and commands hold nothing."""
    source = b"@app.get('/x')\ndef f():\n    g(1); g(2)\n    def h():\n        g(3)\ng(4)\n"
    parsed = parse(source, "python", "a", references=True)
    names = [item.qualified for item in parsed.definitions]
    uses = {
        (use.name, names[use.within] if use.within >= 0 else ""): (use.line, use.times) for use in parsed.references
    }
    assert uses == {("get", ""): (1, 1), ("g", "f"): (3, 2), ("g", "f.h"): (5, 1), ("g", ""): (6, 1)}


def test_a_file_and_its_namespace_are_two() -> None:
    """A namespace that is called like its file has an identity of its own."""
    parsed = parse(b"// Sells.\n\nnamespace shop { int a(); }\n", "cpp", "src/shop.cpp")
    kept = [(item.kind, item.qualified, item.ordinal) for item in parsed.definitions]
    assert kept == [("module", "shop", 0), ("module", "shop", 1), ("declaration", "shop.a", 0)]


def test_a_licence_is_no_documentation() -> None:
    """A first comment about rights says nothing of the file; one that touches a definition is that definition's."""
    licence = parse(b"/* Copyright 2026 Shop. */\n\nint a(void);\n", "c", "a.c")
    assert [item.kind for item in licence.definitions] == ["declaration"]
    touching = parse(b"// Adds.\nint a(void);\n", "c", "a.c")
    assert [(item.kind, item.doc) for item in touching.definitions] == [("declaration", "Adds.")]
    apart = parse(b"// About\n// shops.\n\nint a(void);\n", "c", "a.c")
    assert [(item.kind, item.doc) for item in apart.definitions] == [("module", "About shops."), ("declaration", "")]


def test_the_page_says_what_is_found() -> None:
    """The table of docs/code.md has every language with its endings, and the kinds that its samples really have."""
    rows = re.findall(r"^\| ([a-z-]+) \| (`[^|]+) \| ([^|]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    told = {name: (endings.replace("`", "").split(), kinds.strip().split(", ")) for name, endings, kinds in rows}
    assert set(told) == {language.name for language in LANGUAGES}
    for language in LANGUAGES:
        endings, kinds = told[language.name]
        assert endings == [*language.endings, *language.files]
        samples = [file for file in SPECIMENS[0].parent.glob("*.txt") if language_of(file.stem) == language.name]
        real = {item.kind for file in samples for item in parse(file.read_bytes(), language.name, "a").definitions}
        assert sorted(kinds) == sorted(real), language.name
