"""Faults 1 to 10 of what agents write: lines that are torn, glued, cut, huge, or rewritten while they are read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import zstandard
from tests.faults.conftest import LONG_AGO, MAIN, OTHER, Faults, line, record, reply, text
from tests.harvest.harvesting import NOW

from flywheel.harvest.sources import LINE_CAP
from flywheel.model import FileState, Micros


def codex(*texts: str, thread: str = OTHER) -> bytes:
    """A Codex rollout in which a user says these."""
    meta = {"id": thread, "timestamp": "2026-03-02T09:00:00Z", "cwd": "/w/app", "originator": "codex_exec"}
    rows: list[object] = [{"type": "session_meta", "payload": meta}]
    for number, words in enumerate(texts):
        turn = {"turn_id": f"t{number}", "cwd": "/w/app", "model": "gpt-x"}
        item = {"type": "UserMessage", "content": [{"type": "text", "text": words}]}
        rows.append({"type": "turn_context", "payload": turn})
        done = {"type": "item_completed", "turn_id": f"t{number}", "item": item}
        rows.append({"type": "event_msg", "payload": done})
    stamped = ({"timestamp": "2026-03-02T09:00:00Z", **row} for row in rows if isinstance(row, dict))
    return b"".join(json.dumps(row).encode() + b"\n" for row in stamped)


def test_01_an_unfinished_last_line_waits_and_a_torn_one_is_bad(faults: Faults) -> None:
    """A line without its end is read when its end comes; when nobody writes any more it is counted as bad."""
    whole = line("a", "First.") + line("b", "Second.")
    path = faults.claude(whole[:-40], old=False)
    os.utime(path, ns=(NOW * 1000, NOW * 1000))
    faults.harvest()
    assert (faults.said(), faults.file(path).bad_lines) == (["First."], 0)
    path.write_bytes(whole)
    faults.harvest()
    assert (faults.said(), faults.file(path).bad_lines) == (["First.", "Second."], 0)
    torn = faults.claude(line("c", "Third.") + line("d")[:50], session=OTHER)
    faults.harvest()
    assert faults.file(torn).bad_lines == 1
    assert "Third." in faults.said()


def test_02_two_records_glued_on_one_line(faults: Faults) -> None:
    """Both are read."""
    path = faults.claude(line("a", "One.")[:-1] + line("b", "Two."), line("c", "Three."))
    faults.harvest()
    assert faults.said() == ["One.", "Two.", "Three."]
    assert faults.file(path).bad_lines == 0


def test_03_a_whole_record_behind_a_cut_one(faults: Faults) -> None:
    """The whole one is found and the cut one counted; something nested that looks like a record is not taken."""
    nested = json.dumps(record("evil", "Never said.", sessionId=OTHER))
    cut = json.dumps(record("a", f"Output: {nested}")).encode()[:-30]
    path = faults.claude(line("x", "Before."), cut + line("b", "Behind."), line("c", "After."))
    faults.harvest()
    assert faults.said() == ["Before.", "Behind.", "After."]
    assert faults.file(path).bad_lines == 1


def test_04_raw_line_breaks_inside_a_string(faults: Faults) -> None:
    """A newline that was not escaped is mended; separators of other kinds are no line ends at all."""
    broken = line("a", "One line HERE and the next.").replace(b"HERE", b"\n")
    odd = json.dumps(record("b", "a\u2028b\u2029c\u0085d"), ensure_ascii=False).encode() + b"\n"
    faults.claude(broken, odd, line("c", "Last."))
    faults.harvest()
    said = faults.said()
    assert said[-1] == "Last." and len(said) == 3
    assert said[0].split() == ["One", "line", "and", "the", "next."]
    assert "a" in said[1] and "d" in said[1]


def test_05_runs_of_nul(faults: Faults) -> None:
    """NULs between lines, before one, at the end, and escaped in a string cost nothing."""
    nul = b"\0" * 9000
    faults.claude(line("a", "One."), nul + line("b", "Two."), nul + b"\n", line("c", "Th\u0000ree."), nul)
    faults.harvest()
    said = faults.said()
    assert said[:2] == ["One.", "Two."]
    assert "\0" not in said[2] and said[2].startswith("Th") and said[2].endswith("ree.")


def test_06_lone_surrogates_and_bytes_that_are_no_text(faults: Faults) -> None:
    """They are replaced; the words around them stay."""
    escaped = line("a", "Half PAIR here.").replace(b"PAIR", b"\\ud83d")
    faults.claude(escaped, line("b", "Bad BYTES here.").replace(b"BYTES", b"\xff\xfe\x80"), line("c", "Fine."))
    faults.harvest()
    said = faults.said()
    assert said[2] == "Fine."
    assert said[0].startswith("Half ") and said[0].endswith(" here.")
    assert said[1].startswith("Bad ") and said[1].endswith(" here.")
    assert all(one.encode() for one in said)


def test_07_one_enormous_line(faults: Faults) -> None:
    """A line over the cap is passed over and counted, base64 is left out, and what follows is read."""
    assert LINE_CAP <= 64 << 20
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 700_000}}
    picture = line("p", message={"role": "user", "content": [text("Look at this."), image]})
    path = faults.claude(line("a", "One."), b'{"x": "' + b"y" * 3_000_000 + b'"}\n', picture, line("b", "Two."))
    faults.harvest()
    assert faults.said() == ["One.", "Look at this.", "Two."]
    assert faults.file(path).bad_lines == 1
    assert "longer than the limit" in faults.file(path).error


def test_08_odd_but_legal_files(faults: Faults) -> None:
    """CRLF, a byte order mark, blank lines, values that are no objects, double keys, NaN, depth and huge numbers."""
    double = line("d", "Doubled.")[:-2] + b', "uuid": "d2"}\n'
    deep = b'{"type": "user", "uuid": "deep", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    huge = line("h", "Huge.")[:-2] + b', "n": 1' + b"0" * 400 + b', "m": NaN, "i": -Infinity}\n'
    body = [
        line("a", "One."),
        b"\n",
        b"  \n",
        b"42\n",
        b'"x"\n',
        b"[1]\n",
        b"null\n",
        double,
        deep,
        huge,
        line("z", "Z."),
    ]
    faults.claude(b"\xef\xbb\xbf" + b"".join(body).replace(b"\n", b"\r\n"))
    faults.harvest()
    assert faults.said() == ["One.", "Doubled.", "Huge.", "Z."]


def test_09_growing_while_it_is_read(faults: Faults) -> None:
    """Two writers on one session, and lines between two looks: each is read once, in the order of the file."""
    path = faults.claude(line("a", "A."), old=False)
    expected = ["A."]
    for number in range(5):
        faults.harvest()
        with path.open("ab") as one, path.open("ab") as two:
            one.write(line(f"one{number}", f"One {number}."))
            one.flush()
            two.write(line(f"two{number}", f"Two {number}."))
        expected += [f"One {number}.", f"Two {number}."]
    faults.harvest()
    faults.harvest()
    assert faults.said() == expected


@pytest.mark.parametrize("how", ["cut", "rewritten", "replaced", "renamed", "moved"])
def test_10_rewritten_cut_replaced_or_moved(faults: Faults, how: str) -> None:
    """Whatever becomes of the file, what it held is read once, what it holds now is read, nothing is forgotten."""
    path = faults.claude(line("a", "A."), line("b", "B."), line("c", "C."))
    faults.harvest()
    if how == "cut":
        path.write_bytes(line("a", "A."))
        faults.harvest()
        path.write_bytes(line("a", "A.") + line("d", "D."))
    elif how == "rewritten":
        path.write_bytes(line("a", "A.") + line("b", "B.") + line("x", "X.") + line("d", "D."))
    elif how == "replaced":
        other = path.with_name("new")
        other.write_bytes(line("a", "A.") + line("d", "D."))
        other.replace(path)
    elif how == "renamed":
        path.rename(path.with_name(f"{MAIN}.orphaned-20260302.jsonl"))
        faults.claude(line("d", "D."))
    else:
        (path.parent.parent / "-w-app-tree").mkdir()
        path = path.rename(path.parent.parent / "-w-app-tree" / path.name)
        path.write_bytes(path.read_bytes() + line("d", "D."))
    os.utime(path, ns=(LONG_AGO + 10**9, LONG_AGO + 10**9))
    faults.harvest(Micros(NOW + 10_000_000))
    said = faults.said()
    assert sorted(set(said)) == sorted(said)
    assert {"A.", "B.", "C.", "D."} <= set(said)


def test_10_packed_and_archived(faults: Faults) -> None:
    """A rollout that is packed, moved to the archive or both is the same conversation."""
    name = f"rollout-2026-03-02T09-00-00-{OTHER}.jsonl"
    content = codex("Pack me.", "Then go on.")
    path = faults.write(f".codex/sessions/2026/03/02/{name}", content)
    faults.harvest()
    path.unlink()
    faults.write(f".codex/sessions/2026/03/02/{name}.zst", zstandard.ZstdCompressor().compress(content))
    faults.write(f".codex/archived_sessions/{name}", content + codex("Unread.", thread=OTHER)[:10])
    faults.harvest(Micros(NOW + 10_000_000))
    assert faults.said() == ["Pack me.", "Then go on."]
    assert list(faults.sessions()) == [OTHER]
    assert faults.file(path).state is FileState.GONE


def test_a_reply_may_be_anything(faults: Faults, tmp_path: Path) -> None:
    """The corpus itself makes what it says it makes: a reply is read as one."""
    faults.claude(line("a", "Hello?"), reply("b", text("Hello.")))
    faults.harvest()
    assert faults.said() == ["Hello?", "Hello."]
