"""The edits of single files: members, tables, marked blocks and lists, put in and taken out whatever stands around."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hooks.setting_up import COMMENTED, TOML

from flywheel.errors import BadInput, Conflict
from flywheel.hooks.edits import Block, is_bare, same, strip
from flywheel.hooks.jsontext import without_comments
from flywheel.hooks.members import member_of, with_member, without_member
from flywheel.hooks.reading import is_read, with_read, without_read
from flywheel.hooks.tables import SERVER, Table, table_of, with_tables, without_tables
from flywheel.text.blocks import HASH, MARKDOWN, Damaged, cut_block, find_block, inside_block, put_block, without_blocks
from flywheel.text.compose import FENCE_CLOSE, FENCE_OPEN

OURS = {"command": "/x/flywheel", "args": ["mcp"]}
KEYS = ("mcp", "flywheel")
SERVER_TABLE = Table(path=SERVER, values={"command": "/x/flywheel", "args": ["mcp"]})
STATE = Table(path=("hooks", "state", "/h/hooks.json:stop:0:0"), values={"trusted_hash": "sha256:1"}, shared=True)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.text(max_size=5).filter(lambda key: key != "mcp")
OTHERS = st.dictionaries(st.text(max_size=5).filter(lambda key: key != "flywheel"), VALUES, min_size=1, max_size=2)


@settings(max_examples=60, deadline=None)
@given(
    document=st.dictionaries(NAMES, VALUES, max_size=3),
    others=st.none() | OTHERS,
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
)
def test_a_member_goes_in_and_out_of_any_file(
    document: dict[str, object], others: dict[str, object] | None, indent: int | str | None
) -> None:
    """Whatever else is there and however it is laid out; a second time changes nothing; a new value takes its place."""
    text = json.dumps(document | ({"mcp": others} if others else {}), indent=indent)
    put = with_member(text, KEYS, OURS)
    assert json.loads(put) == document | {"mcp": {**(others or {}), "flywheel": OURS}}
    assert with_member(put, KEYS, OURS) == put and member_of(put, KEYS) == OURS
    newer = with_member(put, KEYS, {**OURS, "env": {"A": "b"}})
    assert without_member(newer, KEYS) == without_member(put, KEYS) == text


PIECES = st.sampled_from(["// note\n", "/* a\n b */", "  ", "\n", "\t", '// "mcp": {\n', ""])


@settings(max_examples=100, deadline=None)
@given(
    gaps=st.lists(PIECES, min_size=8, max_size=8),
    members=st.lists(st.sampled_from(['"a": 1', '"b": "// no"', '"c": [1, 2,]']), max_size=3, unique=True),
    trailing=st.booleans(),
    inside=st.booleans(),
)
def test_comments_and_trailing_commas_survive(
    gaps: list[str], members: list[str], trailing: bool, inside: bool
) -> None:
    """JSON with comments anywhere: the result means the same and ours, and taking it out gives every byte back."""
    fill = iter(gaps)
    listed = [*members, *(['"mcp": {' + next(fill) + '"x": {}' + next(fill) + "}"] if inside else [])]
    body = ("," + gaps[0]).join(next(fill, "") + member for member in listed)
    text = f"{gaps[6]}{{{gaps[7]}{body}{',' if trailing and listed else ''}{gaps[5]}}}{gaps[6]}"
    put = with_member(text, KEYS, OURS, comments=True)
    before = json.loads(without_comments(text)[1])
    assert json.loads(without_comments(put)[1]) == before | {"mcp": {**before.get("mcp", {}), "flywheel": OURS}}
    assert with_member(put, KEYS, OURS, comments=True) == put
    left = without_member(put, KEYS, comments=True)
    if members or inside or "/" in text:
        assert left == text
    else:  # white space alone inside of braces is nobody's words
        assert left.split() == ["".join(text.split())]


def test_a_member_is_taken_out_wherever_it_was_moved() -> None:
    """Another program has sorted the file, put ours last, or left a trailing comma behind it."""
    for text in (
        '{ "mcp": { "x": 1, /* c */ "flywheel": {"a": "flywheel"} /* d */ } }',
        '{ "mcp": { "x": 1, "flywheel": {"a": "flywheel"}, /* c */ } }',
        '{ "mcp": { "flywheel": {"a": "flywheel"}, /* c */ "x": 1 } }',
        '{ "mcp": { /* c */ "flywheel": {"a": "flywheel"}, }, "y": 2 }',
    ):
        left = without_member(text, KEYS, comments=True)
        found = json.loads(without_comments(left)[1])
        assert found in ({"mcp": {"x": 1}}, {"mcp": {}, "y": 2}) and "/* c */" in left
        assert "flywheel" not in left


def test_somebody_elses_member_is_left_alone() -> None:
    """Of our name but not ours: a conflict when putting in, untouched when taking out."""
    text = '{"mcp": {"flywheel": {"command": "pinball"}}}'
    with pytest.raises(Conflict, match=r"mcp\.flywheel"):
        with_member(text, KEYS, OURS)
    assert without_member(text, KEYS) == text and member_of(text, KEYS) is None


@pytest.mark.parametrize("text", ['{"mcp": 1}', "[]", '{"mcp": []}', "{", "nope", "{ /* open"])
def test_what_is_no_object_is_refused(text: str) -> None:
    """With a word on what to mend."""
    with pytest.raises(BadInput):
        with_member(text, KEYS, OURS, comments=True)


def test_comments_are_refused_where_the_agent_knows_none() -> None:
    """Plain JSON stays plain JSON."""
    with pytest.raises(BadInput, match="line 2"):
        with_member(COMMENTED, KEYS, OURS)


@pytest.mark.parametrize(
    "text", ["", "\n", TOML, TOML + "\n", 'a = 1\n\n\n[x]\ny = """\n[z]\n"""\n', "# only a comment"]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_tables_go_in_and_out(text: str, newline: str) -> None:
    """Appended, idempotent, and gone again to the byte."""
    text = text.replace("\n", newline)
    put = with_tables(text, [SERVER_TABLE, STATE])
    found = tomllib.loads(put)
    assert found["mcp_servers"]["flywheel"] == SERVER_TABLE.values
    assert put.startswith(text) and with_tables(put, [SERVER_TABLE, STATE]) == put
    assert without_tables(put) == text
    assert without_tables(with_tables(put, [SERVER_TABLE])) == text


def test_tables_that_codex_wrote_anew_are_known() -> None:
    """It sorts tables, puts its own between ours, and drops the marks at headers."""
    put = with_tables('model = "x"\n', [SERVER_TABLE, STATE])
    server, state = put.split("\n[hooks.state")
    moved = f'{server.replace(" # flywheel", "")}\n[mcp_servers.other]\ncommand = "o"\n\n[hooks.state{state}'
    moved = (
        moved.replace("[mcp_servers.flywheel] # flywheel", "[mcp_servers.flywheel]") + '\n[projects."/w"]\ntrust = 1\n'
    )
    assert with_tables(moved, [SERVER_TABLE, STATE]) == moved
    left = tomllib.loads(without_tables(moved))
    assert left == {"model": "x", "mcp_servers": {"other": {"command": "o"}}, "projects": {"/w": {"trust": 1}}}
    bare = moved.replace(" # flywheel", "")
    assert "trusted_hash" in without_tables(bare) and "trusted_hash" not in without_tables(bare, ["sha256:1"])


def test_keys_that_are_there_are_never_written_over() -> None:
    """A server of our name that is not ours is a conflict; trust that a person gave is as good as ours."""
    with pytest.raises(Conflict, match=r"mcp_servers\.flywheel"):
        with_tables('[mcp_servers.flywheel]\ncommand = "pinball"\n', [SERVER_TABLE])
    mine = '[hooks.state."/h/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:other"\n'
    put = with_tables(mine, [SERVER_TABLE, STATE])
    assert put.startswith(mine) and "sha256:1" not in put
    assert with_tables(put, [SERVER_TABLE, STATE]) == put and without_tables(put) == mine
    assert table_of(put, STATE.path) == {"trusted_hash": "sha256:other"}


@pytest.mark.parametrize("text", ["a = ", "mcp_servers = {a = {command = 'x'}}", "[mcp_servers]\nflywheel = 1"])
def test_toml_that_cannot_be_extended_is_refused(text: str) -> None:
    """No TOML, or tables written inline."""
    with pytest.raises((BadInput, Conflict)):
        with_tables(text, [SERVER_TABLE])


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.sampled_from("ab#<>-! \n\r"), max_size=40), inner=st.text(st.sampled_from("x \n#"), max_size=20))
def test_a_block_goes_in_and_out_of_any_text(text: str, inner: str) -> None:
    """Nothing outside the two lines is touched, at the first time and at every later one."""
    text = text.replace("\r", "\r\n")
    for marks in (MARKDOWN, HASH):
        put = put_block(text, inner, marks)
        assert put.startswith(text) and cut_block(put) == text
        newer = put_block(put + "after\n", "other", marks)
        assert newer.endswith("after\n") and inside_block(newer) == "other"
        ended = "\n" if text and not text.endswith("\n") and "\r\n" not in text else ""
        ended = "\r\n" if text and not text.endswith("\n") and "\r\n" in text else ended
        assert cut_block(newer) == text + ended + "after\n"  # two lines do not become one


@pytest.mark.parametrize(
    "text",
    [
        MARKDOWN.begin + "\nx\n",
        "x\n" + MARKDOWN.end,
        f"{MARKDOWN.end}\n{MARKDOWN.begin}\n",
        f"{MARKDOWN.begin}\n{MARKDOWN.begin}\n{MARKDOWN.end}\n",
        f"{MARKDOWN.begin}\n{MARKDOWN.end}\n{MARKDOWN.end}",
    ],
)
def test_damaged_marks_are_noticed(text: str) -> None:
    """Neither written nor cut; and putting a block in by an installation names the file."""
    for use in (find_block, cut_block, lambda text: put_block(text, "x", MARKDOWN)):
        with pytest.raises(Damaged):
            use(text)
    with pytest.raises(BadInput, match=r"AGENTS\.md"):
        Block(path=Path("AGENTS.md"), text="x", agent="codex", root=Path("/r")).put(text.encode())


def test_a_block_cannot_end_itself() -> None:
    """A line in it that looks like a mark is made inert."""
    put = put_block("a\n", f"x\n{MARKDOWN.end}\n# flywheel:begin\ny", MARKDOWN)
    assert cut_block(put) == "a\n" and "y" in inside_block(put)


def test_a_reader_sees_nothing_of_ours() -> None:
    """The block goes, lines keep their numbers; a fence without a block goes, too; damaged marks take nothing along."""
    fenced = f"{FENCE_OPEN}\nknown\n{FENCE_CLOSE}"
    text = put_block("one\ntwo\n", fenced, MARKDOWN) + "last\n"
    read = without_blocks(text)
    assert "known" not in read and "flywheel" not in read
    assert read.split("\n").index("last") == text.split("\n").index("last")
    assert without_blocks(f"a\n{fenced}\nb").split() == ["a", "b"]
    assert without_blocks(f"{MARKDOWN.begin}\nkept\n") == f"{MARKDOWN.begin}\nkept\n"


READS = [
    ("", "read: C.md # flywheel\n"),
    ("model: x", None),
    ("model: x\n", "model: x\n\nread: C.md # flywheel\n"),
    (
        "read:\n  - a.md\n  # c\n  - b.md\nmodel: x\n",
        "read:\n  - C.md # flywheel\n  - a.md\n  # c\n  - b.md\nmodel: x\n",
    ),
    ("read: # list\n- a.md\n", "read: # list\n- C.md # flywheel\n- a.md\n"),
    ("read: [a.md, 'b c.md'] # mine\nmodel: x\n", "read: [a.md, 'b c.md', C.md] # flywheel mine\nmodel: x\n"),
    ("read: a#b.md\n", "read: [a#b.md, C.md] # flywheel\n"),
]


@pytest.mark.parametrize(("text", "wanted"), READS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_name_goes_into_aiders_list(text: str, wanted: str | None, newline: str) -> None:
    """Each layout of `read:`; the other names and comments stay, and ours goes again."""
    text = text.replace("\n", newline)
    put = with_read(text, "C.md")
    assert wanted is None or put == wanted.replace("\n", newline if text else "\n")
    assert with_read(put, "C.md") == put and is_read(put, "C.md")
    left = without_read(put, "C.md")
    assert left == text or left == text.replace("a#b.md", "[a#b.md]")


@pytest.mark.parametrize("text", ["read: C.md\n", "read: [a, C.md]\n", "read:\n  - 'C.md'\n"])
def test_a_name_that_is_read_already_stays_somebody_elses(text: str) -> None:
    """Nothing is put in and nothing taken out."""
    assert with_read(text, "C.md") == text == without_read(text, "C.md")


@pytest.mark.parametrize(
    "text", ["read: [a,\n  b]\n", "read: &x [a]\n", "read: |\n  a\n", "read:\nmodel: x\n", "read: 'a, b'"]
)
def test_a_layout_unknown_is_refused(text: str) -> None:
    """With the name to add by hand."""
    with pytest.raises(BadInput, match=r"C\.md"):
        with_read(text, "C.md")
    assert not is_read(text, "C.md")


def test_whole_files_and_what_is_left_of_made_ones() -> None:
    """A file of ours goes whole; one that we made goes when nothing else is in it."""
    whole = {"kind": "whole"}
    assert strip(Path("x"), whole, b"flywheel") is None and strip(Path("x"), whole, b"mine") == b"mine"
    assert is_bare({"kind": "flat"}, b'{\n  "version": 1\n}') and not is_bare({"kind": "groups"}, b'{"a": 1}')
    head = {"kind": "block", "head": "---\na: b\n---\n"}
    assert strip(Path("x"), head, put_block("---\na: b\n---\n", "x", MARKDOWN).encode()) is None
    assert same({"kind": "block", "agent": "a"}, {"kind": "block", "agent": "b"})
    assert not same({"kind": "member", "keys": ["a"]}, {"kind": "member", "keys": ["b"]})
