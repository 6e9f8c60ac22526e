"""Hashes of definitions: white space and comments change nothing, everything else does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.codemap.definitions import parse


def hashes(source: str, language: str) -> dict[str, str]:
    """Qualified name and ordinal → hash."""
    found = parse(source.encode(), language, "a/b").definitions
    return {f"{item.qualified}#{item.ordinal}": item.hash for item in found}


SAME = {
    "python spacing": ("python", "def f(a,b=1):\n  return a+b\n", "def f( a, b = 1 ) :\n\n\n        return a + b\n\n"),
    "python comments": ("python", "def f():\n  x = 1\n", "# lead\ndef f():  # c\n  # d\n\n  x = 1  # e\n  # f\n"),
    "python lines": ("python", "def f(): return (a + b)\n", "def f(): return (\n    a\n    + b  # sum\n)\n"),
    "python continued": ("python", "def f(): return a + b\n", "def f(): return a \\\n + b\n"),
    "python docstring indent": (
        "python",
        'class A:\n  def f(self):\n    """One.\n\n    Two.\n    """\n',
        'class A:\n      def f(self):\n            """One.\n\n            Two.\n            """\n',
    ),
    "python crlf": ("python", "def f():\n  x = 1\n  y = 2\n", "def f():\r\n  x = 1\r\n  y = 2\r\n"),
    "javascript": (
        "javascript",
        "function f(a){return a+1;}",
        "// c\nfunction f ( a ) {\n  /* d */ return a + 1 ;\n}\n",
    ),
    "javascript export": ("javascript", "export const f=()=>1;", "export /* c */ const f = () => 1 ;"),
    "typescript": (
        "typescript",
        "class A{f(a:B<C>):D{return a}}",
        "class A {\n  // c\n  f(a: B<C>): D { return a }\n}",
    ),
    "tsx": ("tsx", "const F=()=><b x='1'>{y}</b>;", "const F = () => <b x='1'>{ y /* c */ }</b>;"),
    "go": (
        "go",
        "package p\nfunc f(a int)int{return a}\n",
        "package p\n\n// F.\nfunc f(a int) int {\n\treturn a // c\n}\n",
    ),
    "rust": (
        "rust",
        "#[x]\nfn f(a:u8)->u8{a+1}\n",
        "/// Doc.\n#[x]\n\nfn f( a: u8 ) -> u8 {\n    /* c */ a + 1 // d\n}\n",
    ),
}

DIFFERENT = {
    "a token": ("python", "def f(): return 1\n", "def f(): return 2\n"),
    "a name": ("python", "def f(a): return a\n", "def f(b): return b\n"),
    "space in a string": ("python", "def f(): return 'a b'\n", "def f(): return 'a  b'\n"),
    "a hash sign in a string": ("python", "def f(): return 'a # b'\n", "def f(): return 'a # c'\n"),
    "indentation that means something": (
        "python",
        "def f():\n  if a:\n    b()\n    c()\n",
        "def f():\n  if a:\n    b()\n  c()\n",
    ),
    "words that run together": ("python", "def f(): return x\n", "def f(): returnx\n"),
    "lines that run together": ("python", "def f():\n  a = b\n  c = d\n", "def f():\n  a = bc = d\n"),
    "a decorator": ("python", "@a\ndef f(): pass\n", "@b\ndef f(): pass\n"),
    "a docstring's words": ("python", "def f():\n  'A.'\n", "def f():\n  'B.'\n"),
    "async": ("python", "def f(): pass\n", "async def f(): pass\n"),
    "space in a template": ("javascript", "function f(){return `a b`}", "function f(){return `a  b`}"),
    "space in a regular expression": ("javascript", "function f(){return /a b/}", "function f(){return /a  b/}"),
    "an export": ("javascript", "function f(){}", "export function f(){}"),
    "space in a raw string": ("go", "package p\nfunc f(){g(`a b`)}\n", "package p\nfunc f(){g(`a  b`)}\n"),
    "an attribute": ("rust", "#[a]\nfn f(){}\n", "#[b]\nfn f(){}\n"),
    "space in a Rust string": ("rust", 'fn f(){g("a b")}', 'fn f(){g("a  b")}'),
}


@pytest.mark.parametrize("case", SAME)
def test_what_does_not_matter(case: str) -> None:
    """Reformatting and commenting leave every hash alone."""
    language, one, other = SAME[case]
    assert hashes(one, language) == hashes(other, language) != {}


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_matters(case: str) -> None:
    """A change of the code itself changes the hash of its definition."""
    language, one, other = DIFFERENT[case]
    assert list(hashes(one, language).values())[-1] != list(hashes(other, language).values())[-1]


def test_neighbours_do_not_matter() -> None:
    """What comes before or after a definition, or around it, is not part of its hash; what is inside is."""
    alone = hashes("class A:\n    def m(self):\n        if x:\n            return 1\n", "python")
    among = hashes(
        "import os\nclass A:\n    y = 2\n\n    def m(self):\n        if x:\n            return 1\n\n"
        "    def n(self): pass\nz = 3\n",
        "python",
    )
    assert alone["A.m#0"] == among["A.m#0"]
    assert alone["A#0"] != among["A#0"]


def test_a_moved_function_keeps_its_hash() -> None:
    """The same function at another depth, or as the last of its block, hashes the same."""
    top = hashes("def f():\n    for x in y:\n        g(x)\n", "python")["f#0"]
    deep = hashes("if a:\n    if b:\n        def f():\n            for x in y:\n                g(x)\n", "python")[
        "f#0"
    ]
    assert top == deep


GAPS = st.text(alphabet=" \t\n", min_size=1, max_size=4)
CODE = "function f ( a , b ) { if ( a ) { return b ; } return 'x__y' ; }"
WORDS = [word.replace("_", " ") for word in CODE.split(" ")]


@settings(max_examples=60, deadline=None)
@given(st.lists(GAPS, min_size=len(WORDS), max_size=len(WORDS)), st.sampled_from(["", "/* c */", "// c\n"]))
def test_any_white_space_between_tokens(gaps: list[str], comment: str) -> None:
    """Whatever blanks, line ends and comments stand between the tokens, the hash is that of the plain text."""
    kept = [" " if word == "return" else gap for word, gap in zip(WORDS, gaps, strict=True)]
    text = "".join(word + gap + comment * (word != "return") for word, gap in zip(WORDS, kept, strict=True))
    assert hashes(text, "javascript") == hashes(" ".join(WORDS), "javascript")
