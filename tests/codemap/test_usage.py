"""What uses what, by names alone: which names a file is said to use, and where they lead."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.codemap.test_definitions import GOLDEN

from flywheel.codemap.charting import node_of
from flywheel.codemap.definitions import parse
from flywheel.codemap.languages import LANDMARKS, language_of, load
from flywheel.codemap.naming import is_kept
from flywheel.codemap.usage import AMBIGUOUS, MOST, PLAIN, Uses, is_telling, kin_of, usage, weight_of

LITERALS = {
    "python": 'x = f"{alpha_one} {call_two(beta_three)!r:{wide_four}} lost_five"  # lost_five\n',
    "bash": 'echo "${alpha_one}" "$(call_two beta_three)" `wide_four` "lost_five"\ncat <<X\n$wide_four\nX\n',
    "scala": 'object A { val x = s"$alpha_one ${call_two(beta_three)}" + s"""$wide_four""" + "lost_five" }\n',
    "kotlin": 'fun f() { val x = "${call_two(beta_three)} lost_five" + alpha_one + """${wide_four}""" }\n',
    "php": '<?php $x = "$alpha_one {$beta_three->wide_four} lost_five"; $y = <<<X\n{$beta_three->call_two()}\nX;\n',
    "ruby": 'x = "#{alpha_one} lost_five"\ny = <<~X\n  #{wide_four}\nX\n/#{call_two}/\n:"#{beta_three}"\n',
    "swift": 'let x = "\\(alpha_one) \\(call_two(beta_three)) lost_five"\nlet y = """\n\\(wide_four)\n"""\n',
    "csharp": 'class A { void F() { G($"{alpha_one} lost_five {call_two(beta_three)}", $@"{wide_four}"); } }\n',
    "javascript": "const x = `${alpha_one} lost_five ${call_two(beta_three)}` + wide_four; // lost_five\n",
    "typescript": "const x = `${alpha_one} lost_five ${call_two(beta_three)}`; type T = `a${wide_four}`;\n",
    "tsx": "const x = <A b={`${alpha_one}`} c='lost_five'>{call_two(beta_three)} {wide_four}</A>;\n",
    "rust": 'fn f() { println!("lost_five"); call_two(beta_three, alpha_one, wide_four) }\n',
    "go": 'package a\n\nvar x = call_two("lost_five", beta_three, alpha_one, wide_four) // lost_five\n',
}


def names_in(source: str, language: str) -> set[str]:
    """The names that a text is said to use."""
    return set(parse(source.encode(), language, "src/x").names.split())


@pytest.mark.parametrize("language", LITERALS)
def test_code_inside_of_literals_counts_and_their_words_do_not(language: str) -> None:
    """What an interpolated string calls is used; what a string or a comment only says is not."""
    found = names_in(LITERALS[language], language)
    assert {"alpha_one", "call_two", "beta_three", "wide_four"} <= found
    assert "lost_five" not in found or language in ("bash", "scala")  # there a literal is one piece


@pytest.mark.parametrize(
    "file", [file for file in GOLDEN if language_of(file.stem) not in LANDMARKS], ids=lambda f: f.stem
)
def test_no_identifier_is_missed(file: Path) -> None:
    """Whatever the grammar of a language calls an identifier is a name that its file uses, or defines."""
    source, language = file.read_bytes(), language_of(file.stem)
    parsed = parse(source, language, file.stem)
    known = set(parsed.names.split()) | {one.name for one in parsed.definitions}
    todo, spelled = [load(language)[0].parse(source).root_node], set()
    while todo:
        node = todo.pop()
        todo += node.children
        if not node.children and node.type.endswith("identifier"):
            spelled.add(source[node.start_byte : node.end_byte].decode())
    assert {name for name in spelled if is_kept(name)} <= known


def test_what_a_file_defines_it_does_not_use() -> None:
    """Nor does it use what is too short to say anything; a route is no name that code spells."""
    source = (
        "import shelf\n\n\ndef stock(ab): return shelf.count(stock, ab, 0x1f)\n\n\n"
        "@app.route('/shelf')\ndef page(): pass\n"
    )
    assert parse(source.encode(), "python", "a.py").names == " app count def import pass return route shelf "
    assert parse(b"# Title\n\nshelf\n", "markdown", "a.md").names == ""
    assert not is_kept("ab") and not is_kept("a" * 81) and not is_kept("fill-up") and is_kept("Shelf")


def reckon(text: str, imports: str = "", language: str = "python") -> Uses:
    """``a.py=Shelf,Door b.py:Shelf``: what files define (=) and use (:); ``b.py>a.py``: what they import."""
    words = text.split()
    definitions = [
        (path, name) for path, _, some in (w.partition("=") for w in words) for name in some.split(",") if name
    ]
    names = [(path, some.split(",")) for path, _, some in (w.partition(":") for w in words if ":" in w)]
    paths = {path for path, _ in definitions} | {path for path, _ in names}
    led: dict[str, set[str]] = {}
    for source, _, target in (edge.partition(">") for edge in imports.split()):
        led.setdefault(source, set()).add(target)
    return usage({path: kin_of(language_of(path) or language) for path in paths}, definitions, names, led, node_of)


def leads(text: str, imports: str = "") -> dict[str, list[str]]:
    """Where each file is led to, the most used first."""
    return {path: list(out) for path, out in reckon(text, imports).edges.items()}


def test_a_name_leads_to_what_defines_it() -> None:
    """By name; not to itself, not to another language, and not by a name that is nowhere defined."""
    assert leads("a.py=Shelf b.py:Shelf,Door c.ts=Door") == {"b.py": ["a.py"]}
    assert leads("a.py=Shelf b.js:Shelf c.ts=Shelf d.tsx=Door e.js:Door") == {"b.js": ["c.ts"], "e.js": ["d.tsx"]}
    assert leads("a.py=__init__ b.py:__init__") == {}


def test_an_import_says_which_one_is_meant() -> None:
    """Of several definitions those in imported files; without one all of them, each a little, and of many none."""
    two = "a.py=Shelf c.py=Shelf b.py:Shelf"
    assert leads(two, "b.py>c.py") == {"b.py": ["c.py"]}
    assert reckon(two).used == {("a.py", "Shelf"): (1, 0.5), ("c.py", "Shelf"): (1, 0.5)}
    many = " ".join(f"f{n}.py=Shelf" for n in range(AMBIGUOUS + 1))
    assert leads(f"{many} b.py:Shelf") == {} and reckon(f"{many} b.py:Shelf").used == {}
    assert leads(f"{many} b.py:Shelf", "b.py>f3.py") == {"b.py": ["f3.py"]}


def test_a_word_that_may_be_a_variable_counts_little() -> None:
    """Unless the file imports what defines it."""
    text = "a.py=items b.py:items"
    assert reckon(text).used["a.py", "items"] == (1, PLAIN)
    assert reckon(text, "b.py>a.py").used["a.py", "items"] == (1, 1.0)


def test_what_says_more_weighs_more() -> None:
    """Names of several words before others, private ones last, rare before common; and not to all that there is."""
    assert weight_of("load_config", 2, 100) > weight_of("Config", 2, 100) > weight_of("_Config", 2, 100)
    assert weight_of("Config", 2, 100) > weight_of("Config", 90, 100) > 0
    assert leads("a.py=Config c.py=load_config b.py:Config,load_config") == {"b.py": ["c.py", "a.py"]}
    wide = " ".join(f"f{n}.py=Name{n}" for n in range(MOST + 9))
    assert len(leads(f"{wide} b.py:{','.join(f'Name{n}' for n in range(MOST + 9))}")["b.py"]) == MOST


def test_files_of_a_go_package_are_one() -> None:
    """A package of Go is its folder: what its files use of each other leads nowhere, and it is used as one."""
    found = reckon("s/a.go=Shelf,Rack s/b.go:Shelf m/c.go:Shelf m/d.go:Rack")
    assert {path: list(out) for path, out in found.edges.items()} == {"m/c.go": ["s"], "m/d.go": ["s"]}
    assert found.used["s/a.go", "Shelf"] == (2, 2.0)


@pytest.mark.parametrize(
    ("name", "telling"),
    [
        ("RateLimiter", True),
        ("load_config", True),
        ("Redactor", True),
        ("items", False),
        ("_load_config", False),
        ("MAX_SIZE", True),
        ("Tag", False),
        ("DEBUG", False),
    ],
)
def test_names_that_are_worth_showing(name: str, telling: bool) -> None:
    """Several words, or a type's name of some length; nothing private."""
    assert is_telling(name) is telling
