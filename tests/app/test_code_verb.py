"""The verb ``code``: definitions by what they do, by name, and who uses them; with the real model in its process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.projects.repos import git

from flywheel import app
from flywheel.codemap.referring import Question, find_uses, look_through
from flywheel.config import Places, parse_config
from flywheel.embed.asking import STARTING
from flywheel.embed.minilm import MODEL_ID
from flywheel.errors import BadInput, Unavailable
from flywheel.model import Clean, Setting
from flywheel.search.query import WAITING
from flywheel.store import mapper

FILES = {
    "limits.py": '''
class RateLimiter:
    """Counts requests in a sliding window."""

    def allow(self, now):
        """Whether one more request may pass."""
        self.stamps = [at for at in self.stamps if at > now - 60]
        return len(self.stamps) < self.most


def password(): return "hunter2"
''',
    "server.py": '''
from limits import RateLimiter

limiter = RateLimiter()


def handle(request):
    if not limiter.allow(request.at) or not limiter.allow(request.at + 1):
        raise TooMany
    return draw(request)


def draw(picture):
    """Paint a picture of a cat on a canvas."""
    return picture.canvas.paint("cat")
''',
    "doors.py": '''
class Door:
    def allow(self, guest):
        """Let a guest into the house."""
        return guest in self.friends


Door().allow("me")
''',
}


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[app.App, str]]:
    """The product with a small checkout in it, indexed."""
    home = tmp_path_factory.mktemp("code")
    checkout = home / "shop"
    checkout.mkdir()
    for name, text in FILES.items():
        (checkout / name).write_text(text)
    parts = app.open_parts(parse_config({}), Places(config=home / "c", data=home / "d", run=home / "r"), {}, home)
    made = app.App(parts)
    made.sync(cwd=str(checkout))
    app.settle_all(parts)
    yield made, str(checkout)
    made.close()
    parts.close()


@pytest.fixture
def ready(product: tuple[app.App, str]) -> tuple[app.App, str]:
    """The same, when the model has been loaded."""
    code = product[0].readers.code
    assert code is not None
    assert code.encode(Clean("ready?"), 60.0)[0] is not None
    return product


def test_the_first_answer_does_not_wait_for_the_model(product: tuple[app.App, str]) -> None:
    """Full text answers meanwhile, and the answer says so."""
    made, shop = product
    answer = made.code(query="request may pass", cwd=shop)
    assert [hit.name for hit in answer.hits][:1] == ["RateLimiter.allow"]
    assert list(answer.notes) == [STARTING]


def test_code_is_found_by_what_it_does(ready: tuple[app.App, str]) -> None:
    """Without a word of it: with file, lines and signature, and the list that proposed it."""
    made, shop = ready
    best = made.code(query="where do we throttle traffic", cwd=shop).hits[0]
    assert best.name in ("RateLimiter.allow", "RateLimiter") and best.path == "limits.py"
    assert "vector 1" in best.why
    best = made.code(query="sketching an animal", cwd=shop).hits[0]
    assert (best.name, best.path, best.line, best.signature) == ("draw", "server.py", 13, "def draw(picture)")


def test_a_word_that_is_a_name_finds_that_first(ready: tuple[app.App, str]) -> None:
    """The definitions of that name come before what is near in meaning, and each once."""
    made, shop = ready
    for name in ("RateLimiter", "RateLimiter.allow", "Door"):
        hits = made.code(query=name, cwd=shop).hits
        assert hits[0].name == name and len({hit.id for hit in hits}) == len(hits)
    assert {hit.name for hit in made.code(query="allow", cwd=shop).hits[:2]} == {"RateLimiter.allow", "Door.allow"}


def test_a_search_of_everything_does_not_ask_the_model(ready: tuple[app.App, str]) -> None:
    """Only who asks for definitions gets them by meaning."""
    made, shop = ready
    assert not any("vector" in why for hit in made.search(query="throttle traffic", cwd=shop).hits for why in hit.why)
    only = made.search(query="throttle traffic", cwd=shop, kinds=["symbol"])
    assert any("vector" in why for why in only.hits[0].why)


def test_files_are_found_by_all_that_is_in_them_and_by_name(product: tuple[app.App, str]) -> None:
    """The text of an issue leads to files, each with the definitions that speak for it; a name is no question."""
    made, shop = product
    issue = "Counting in a sliding window lets one more request pass\n\nTraceback:\n  File doors.py, line 8"
    answer = made.code(query=issue, files=True, cwd=shop)
    found = {one.path: one for one in answer.files}
    assert next(iter(found)) in ("limits.py", "doors.py") and not answer.hits
    assert found["doors.py"].named and not found["limits.py"].named
    assert {"RateLimiter", "RateLimiter.allow"} <= {hit.name for hit in found["limits.py"].hits}
    assert made.code(query="zebra", files=True, cwd=shop).reason == "no match"
    with pytest.raises(BadInput, match="by a question"):
        made.code(symbol="allow", files=True, cwd=shop)


def test_names_are_exact(product: tuple[app.App, str]) -> None:
    """A name, the end of a qualified one, or behind a path; several that have it are all listed; else a note."""
    made, shop = product

    def names(symbol: str) -> list[tuple[str, str]]:
        return [(hit.path, hit.name) for hit in made.code(symbol=symbol, cwd=shop).hits]

    both = [("doors.py", "Door.allow"), ("limits.py", "RateLimiter.allow")]
    assert names("allow") == both
    for spelling in ("RateLimiter.allow", "RateLimiter::allow", "limits.py:allow", "limits.py:RateLimiter#allow"):
        assert names(spelling) == both[1:], spelling
    assert names("Allow") == names("allo") == names("imits.py:allow") == []
    assert [hit.used_in for hit in made.code(symbol="allow", cwd=shop).hits] == [1, 1]
    assert [hit.used_in for hit in made.code(symbol="draw", cwd=shop).hits] == [0]
    assert {hit.used_in for hit in made.code(query="request", cwd=shop).hits} == {None}
    nothing = made.code(symbol="nowhere", cwd=shop)
    assert nothing.reason == "no match" and "'nowhere'" in nothing.notes[0]


def test_uses_are_found_in_the_files_as_they_are(product: tuple[app.App, str]) -> None:
    """Each definition that uses the name once, with how often; uses outside of any only among the references."""
    made, shop = product
    answer = made.code(symbol="allow", refs=True, cwd=shop)
    told = [(ref.path, ref.line, ref.kind, ref.within, ref.count) for ref in answer.refs]
    assert told == [("doors.py", 8, "", "", 1), ("server.py", 8, "function", "handle", 2)]
    assert answer.refs[0].text == 'Door().allow("me")' and answer.refs[1].within_line == 7
    assert "2 definitions are called 'allow': a use may mean any of them" in answer.notes
    callers = made.code(symbol="RateLimiter.allow", callers=True, cwd=shop)
    assert [ref.within for ref in callers.refs] == ["handle"] and not callers.notes
    (Path(shop) / "late.py").write_text("def late(): return draw(1)\n")
    assert [ref.within for ref in made.code(symbol="draw", callers=True, cwd=shop).refs] == ["handle"]


def test_a_stale_index_is_never_served_silently(product: tuple[app.App, str]) -> None:
    """By name, by words and by file: what has changed since says so, and nothing else does."""
    made, shop = product
    file = Path(shop) / "limits.py"
    before = file.stat()
    file.write_text(FILES["limits.py"].replace("def allow", "def permit"))
    try:
        by_name = made.code(symbol="allow", cwd=shop).hits
        assert [(hit.path, hit.banner[:13]) for hit in by_name] == [("doors.py", ""), ("limits.py", "CHANGED SINCE")]
        for answer in (made.code(query="allow", cwd=shop), made.code(query="limits.py", files=True, cwd=shop)):
            hits = [*answer.hits, *(hit for one in answer.files for hit in one.hits)]
            told = {hit.path for hit in hits if hit.banner.startswith("CHANGED")}
            assert told == {"limits.py"}
    finally:
        file.write_text(FILES["limits.py"])
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_secrets_stay_where_they_are(product: tuple[app.App, str]) -> None:
    """A line that is shown went through redaction."""
    made, shop = product
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    file = Path(shop) / "limits.py"
    file.write_text(FILES["limits.py"] + f'\npassword(token="{token}")\n')
    (ref,) = made.code(symbol="password", refs=True, cwd=shop).refs
    assert ref.text.startswith("password(token=") and token not in ref.text


def test_what_is_asked_must_make_sense(product: tuple[app.App, str]) -> None:
    """One of question and name; uses only of a name; a bearable number."""
    made, shop = product
    for given in ({}, {"query": "x", "symbol": "y"}, {"query": "x", "callers": True}, {"query": "x", "limit": 0}):
        with pytest.raises(BadInput):
            made.code(cwd=shop, **given)


def test_a_backlog_wakes_the_index_lane(product: tuple[app.App, str]) -> None:
    """Definitions without a vector keep the lane at work, and answers say that some are missing; then both end."""
    made, shop = product
    parts, readers = made.parts, made.readers
    assert not readers.unfinished() and "index" not in app.lanes_with_work(parts, readers)
    note = Setting(name=f"backlog:{MODEL_ID}", value="[]")
    with parts.db.write() as tx:
        mapper.upsert(tx, note)
    assert readers.unfinished() and "index" in app.lanes_with_work(parts, readers)
    assert WAITING in made.code(query="one more request", cwd=shop).notes
    app.settle_all(parts)
    assert not readers.unfinished()


def test_looking_through_ends_in_time(tmp_path: Path) -> None:
    """Files that the time does not reach are counted; links, huge files and what is gone are passed over."""
    (tmp_path / "a.py").write_text("f()\n")
    (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
    files = [(str(tmp_path / name), name, "python") for name in ("gone.py", "b.py", "a.py")]
    assert [use.path for use in look_through(Question(name="f", files=files)).uses] == ["a.py"]
    assert look_through(Question(name="f", files=files, max_bytes=2)).uses == []
    assert look_through(Question(name="f", files=files, seconds=-1.0)).unread == 3


def test_a_process_that_fails_is_an_error_of_ours() -> None:
    """Whoever asked is told to try again."""
    with pytest.raises(Unavailable, match="try again"):
        find_uses(Question(name="f", files=[]), (sys.executable, "-c", "raise SystemExit(3)"))


def test_two_work_trees_show_a_definition_once(tmp_path: Path) -> None:
    """Of the tree that one stands in, else once; what only the other one has is found as well."""
    shop, tree = tmp_path / "shop", tmp_path / "tree"
    git(tmp_path, "init", "-q", "-b", "main", str(shop))
    for name, text in FILES.items():
        (shop / name).write_text(text)
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "begin")
    git(shop, "worktree", "add", "-q", "-b", "next", str(tree))
    (tree / "limits.py").write_text("# moved\n" * 9 + FILES["limits.py"])
    (tree / "newer.py").write_text('def refill(window):\n    """Empty the sliding window of requests."""\n')
    config = parse_config({"embed": {"model": "none", "code": "none"}})
    places = Places(config=tmp_path / "c", data=tmp_path / "d", run=tmp_path / "r")
    parts = app.open_parts(config, places, {}, tmp_path)
    made = app.App(parts)
    try:
        for root in (shop, tree):
            made.sync(cwd=str(root))
        app.settle_all(parts)
        for root, line in ((shop, 2), (tree, 11)):
            found = made.code(query="counts requests in a sliding window", cwd=str(root), limit=5).hits
            names = [(hit.name, hit.line) for hit in found]
            assert {("RateLimiter", line), ("refill", 1)} <= set(names) and len(names) == len(dict(names)) >= 3
            assert [hit.line for hit in made.code(symbol="RateLimiter", cwd=str(root)).hits] == [line]
        (drawn,) = made.code(symbol="draw", cwd=str(tree)).hits
        assert len(made.code(symbol="draw", project=drawn.project_id).hits) == 1
    finally:
        made.close()
        parts.close()
