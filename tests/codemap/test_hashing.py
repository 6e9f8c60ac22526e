"""Hashes of definitions: white space and comments change nothing, everything else does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.codemap.definitions import parse
from flywheel.codemap.languages import LANGUAGES


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
    "java": (
        "java",
        "class A{@X int f(int a){return a+1;}}",
        "/** Doc. */\nclass A {\n    // c\n    @X int f( int a ) {\n        return a /* d */ + 1;\n    }\n}\n",
    ),
    "kotlin": ("kotlin", "fun f(a:Int):Int{return a+1}\n", "// c\nfun f( a: Int ): Int {\n  return a + 1 // d\n}\n"),
    "scala": ("scala", "def f(a: Int) = { g(a) }\n", "/* c */\ndef f( a: Int ) = {\n  // d\n  g( a )\n}\n"),
    "c": ("c", "int f(int a){return a+1;}\n", "/* c */\nint f( int a )\n{\n    return a + 1; // d\n}\n"),
    "c-header": ("c-header", "int f(int a);\n", "/* c */\nint  f( int a ) ;\n"),
    "cpp": (
        "cpp",
        "class A{int f()const{return 1;}};\n",
        "// c\nclass A {\n  int f() const { return 1; /* d */ }\n};\n",
    ),
    "csharp": (
        "csharp",
        "class A{int F(int a){return a;}}",
        "/// Doc.\nclass A {\n  int F( int a ) { return a; } // c\n}\n",
    ),
    "ruby": ("ruby", "def f(a)\n  a + 1\nend\n", "# c\ndef f( a )\n\n    a + 1 # d\nend\n"),
    "php": ("php", "<?php function f($a){return $a+1;}", "<?php\n// c\nfunction f( $a ) {\n  return $a + 1; # d\n}\n"),
    "swift": (
        "swift",
        "func f(a: Int)->Int{return a+1}\n",
        "/// Doc.\nfunc f( a: Int ) -> Int {\n  return a+1 // c\n}\n",
    ),
    "bash": ("bash", "f() { echo $1; }\n", "# c\nf() {   echo   $1;   }  # d\n"),
    "sql": ("sql", "CREATE TABLE a (id INT);\n", "-- c\nCREATE TABLE a (\n  id INT -- d\n);\n"),
    "hcl": ("hcl", 'variable "a" {\n  type = string\n}\n', '# c\nvariable "a" {\n  type    = string # d\n}\n'),
    "markdown": ("markdown", "# A\n\nOne two.\n", "#  A\n\nOne\ntwo.\n"),
    "toml": ("toml", "[a]\nx=1\n", "# c\n[ a ]\nx = 1 # d\n"),
    "yaml": ("yaml", "a:\n  b:\n    c: 1\n", "# c\na:\n    # d\n    b:\n        c: 1 # e\n"),
    "json": ("json", '{"a":{"b":1}}', '{\n  "a": {\n    "b": 1\n  }\n}\n'),
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
    "Java": ("java", 'class A{void f(){g("a b");}}', 'class A{void f(){g("a  b");}}'),
    "Java text": ("java", 'class A{void f(){g("""\na b""");}}', 'class A{void f(){g("""\na  b""");}}'),
    "Kotlin": ("kotlin", 'fun f() = g("a b")\n', 'fun f() = g("a  b")\n'),
    "Scala": ("scala", 'def f = g("a b")\n', 'def f = g("a  b")\n'),
    "Scala's indentation": (
        "scala",
        "def f =\n  if a then\n    b()\n    c()\n",
        "def f =\n  if a then\n    b()\n  c()\n",
    ),
    "C": ("c", 'int f(){return g("a b");}', 'int f(){return g("a  b");}'),
    "C character": ("c", "int f(){return ' ';}", "int f(){return '  ';}"),
    "C header": ("c-header", "int f(int a);", "int f(long a);"),
    "C++ raw": ("cpp", 'int f(){return g(R"(a b)");}', 'int f(){return g(R"(a  b)");}'),
    "C#": ("csharp", 'class A{void F(){G("a b");}}', 'class A{void F(){G("a  b");}}'),
    "C# verbatim": ("csharp", 'class A{void F(){G(@"a b");}}', 'class A{void F(){G(@"a  b");}}'),
    "C# interpolated": ("csharp", 'class A{void F(){G($"a b{x}");}}', 'class A{void F(){G($"a  b{x}");}}'),
    "Ruby": ("ruby", "def f\n  g 'a b'\nend\n", "def f\n  g 'a  b'\nend\n"),
    "Ruby heredoc": ("ruby", "def f\n  g <<~X\n    a b\n  X\nend\n", "def f\n  g <<~X\n    a  b\n  X\nend\n"),
    "PHP": ("php", "<?php function f(){g('a b');}", "<?php function f(){g('a  b');}"),
    "PHP heredoc": ("php", "<?php function f(){g(<<<X\na b\nX);}", "<?php function f(){g(<<<X\na  b\nX);}"),
    "Swift": ("swift", 'func f() { g("a b") }\n', 'func f() { g("a  b") }\n'),
    "Bash": ("bash", 'f() { g "a b"; }\n', 'f() { g "a  b"; }\n'),
    "Bash words": ("bash", "f() { g a b; }\n", "f() { g ab; }\n"),
    "Bash heredoc": ("bash", "f() { g <<X\na b\nX\n}\n", "f() { g <<X\na  b\nX\n}\n"),
    "SQL": ("sql", "CREATE TABLE a (b TEXT DEFAULT 'a b');", "CREATE TABLE a (b TEXT DEFAULT 'a  b');"),
    "HCL": ("hcl", 'variable "a" {\n  b = "a b"\n}\n', 'variable "a" {\n  b = "a  b"\n}\n'),
    "a word of a section": ("markdown", "# A\n\nOne.\n", "# A\n\nTwo.\n"),
    "space in a code block": ("markdown", "# A\n\n```\na b\n```\n", "# A\n\n```\na  b\n```\n"),
    "TOML": ("toml", '[a]\nx = "a b"\n', '[a]\nx = "a  b"\n'),
    "YAML": ("yaml", 'a:\n  b: "a b"\n', 'a:\n  b: "a  b"\n'),
    "YAML's nesting": ("yaml", "a:\n  b:\n    c: 1\n    d: 2\n", "a:\n  b:\n    c: 1\n  d: 2\n"),
    "YAML block": ("yaml", "a: |\n  rm -rf ./ x\n", "a: |\n  rm -rf ./x\n"),
    "JSON": ("json", '{"a": "b c"}', '{"a": "b  c"}'),
}


def test_every_language_has_cases() -> None:
    """A new language without a reformatted and a changed sample is noticed."""
    names = {language.name for language in LANGUAGES}
    assert {case[0] for case in SAME.values()} == names
    assert {case[0] for case in DIFFERENT.values()} >= names - {"typescript", "tsx"}


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
