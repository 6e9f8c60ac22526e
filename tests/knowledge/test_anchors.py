"""Pages tied to code: made where they are compiled, checked at each sync, and what each kind of change does to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.knowledge.claiming import House, P, claim
from tests.knowledge.coding import LIMITS, Code

from flywheel.codemap.pool import ParserPool
from flywheel.knowledge import freshness, states
from flywheel.model import Clean, EntryLink, Status
from flywheel.store.mapper import insert

FILE = "src/auth/mw.py"


@pytest.fixture
def code(house: House, tmp_path: Path, pool: ParserPool) -> Code:
    """A checkout with one file, indexed."""
    root = tmp_path / "checkout"
    root.mkdir()
    made = Code(house, root, pool)
    made.write(FILE, LIMITS)
    made.sync()
    return made


def test_a_page_is_tied_to_the_one_thing_that_a_name_means(code: Code) -> None:
    """With its hash, signature and, soon, its text; of what means nothing or several things only the name is kept."""
    code.write("src/other.py", "def twice(): pass\n")
    code.write("src/third.py", "def twice(): pass\n")
    code.sync()
    entry = code.page(f"`RateLimiter.allow` is called in twice() of {FILE}, never no_such_name, after `make test -q`.")
    found = code.anchors(entry)
    allow = found["RateLimiter.allow"]
    assert (allow.kind, allow.target, allow.path) == ("symbol", f"{FILE}::RateLimiter.allow", FILE)
    assert allow.checkout == str(code.root) and allow.hash and not allow.note and not allow.due
    assert allow.signature == "def allow(self, key: str) -> bool"
    assert allow.text.startswith("    def allow") and allow.text.endswith("self.burst")
    assert found[FILE].kind == "file" and found[FILE].target == FILE
    assert {name: found[name].target for name in ("twice", "no_such_name")} == {"twice": "", "no_such_name": ""}
    assert found["make test -q"].kind == "command"


def test_links_of_an_entry_are_tied_like_its_words(code: Code) -> None:
    """What extraction found in the conversation counts, though the page does not repeat it."""
    entry = code.page("Requests are counted for each user.", confirmed=False)
    with code.house.db.write() as tx:
        insert(tx, EntryLink(project_id=P, entry_id=entry.id, kind="symbol", name=Clean("RateLimiter.allow")))
    code.house.say(entry, claim("more", "Requests are counted for each user, as we said.", day=2))
    assert code.anchors(entry)["RateLimiter.allow"].target == f"{FILE}::RateLimiter.allow"


def test_a_name_is_tied_when_its_thing_comes_and_let_go_when_the_page_drops_it(code: Code) -> None:
    """A page may be older than the code's index."""
    entry = code.page("`Later.run` and src/later.py do the rest.", confirmed=False)
    assert code.anchors(entry)["Later.run"].target == ""
    code.write("src/later.py", "class Later:\n    def run(self): return 1\n")
    assert code.sync(["src/later.py"]) == 1
    found = code.anchors(entry)
    assert found["Later.run"].target == "src/later.py::Later.run" and found["Later.run"].text
    assert found["src/later.py"].target == "src/later.py"
    code.house.say(entry, claim("new", "Nothing else does the rest any more.", day=3))
    with code.house.db.write() as tx:
        tx.run("UPDATE claim SET status = 'rejected' WHERE text LIKE '%Later%'")
    code.house.say(entry, claim("newer", "Nothing else does the rest any more, really.", day=4))
    assert code.anchors(entry) == {}


CHANGES = [
    pytest.param("`RateLimiter.allow` counts.", [("key: str", "key: bytes")],
                 f"{FILE}:RateLimiter.allow changed its signature", id="signature"),
    pytest.param("`RateLimiter.allow` counts.", [("< self.burst", "<= self.burst")],
                 f"{FILE}:RateLimiter.allow changed its body", id="body"),
    pytest.param("`RateLimiter.allow` counts.", [("return len(key) <", "return len(key)  <")], "", id="layout"),
    pytest.param("require_user strips.", [("# who asks", "# who is it that asks")], "", id="comment"),
    pytest.param("require_user strips.", [("def require_user", "def require_login")],
                 f"{FILE}:require_user was renamed to require_login", id="renamed"),
    pytest.param("`RateLimiter.allow` counts.", [("class RateLimiter", "class Limiter")],
                 f"{FILE}:RateLimiter.allow was renamed to Limiter.allow", id="class renamed"),
    pytest.param("require_user strips.", [(LIMITS[LIMITS.index("def require_user") :], "")],
                 f"{FILE}:require_user was deleted", id="deleted"),
    pytest.param("require_user strips.", [("def require_user", "def require_login"), ("strip()", "lower()")],
                 f"{FILE}:require_user was renamed to require_login", id="renamed and edited"),
    pytest.param("require_user strips.", [(LIMITS[LIMITS.index("def require_user") :],
                 "def require_login(door, keys):\n    opened = [key for key in keys if door.fits(key)]\n"
                 "    return opened[0] if opened else door.knock(len(keys))\n")],
                 f"{FILE}:require_user was deleted", id="replaced by another one"),
    pytest.param("`RateLimiter` counts.", [("< self.burst", "<= self.burst")], "", id="member's body"),
    pytest.param("`RateLimiter` counts.", [("key: str", "key: bytes")],
                 f"{FILE}:RateLimiter changed its members", id="member's signature"),
    pytest.param("`RateLimiter` counts.", [("    def reset(self) -> None:\n        self.burst = 10\n", "")],
                 f"{FILE}:RateLimiter changed its members", id="member gone"),
    pytest.param("`RateLimiter` counts.", [("    burst = 10\n\n", "    burst = 11\n\n")],
                 f"{FILE}:RateLimiter changed its body", id="own body"),
    pytest.param("`RateLimiter` counts.", [("class RateLimiter", "class RateLimiter(dict)")],
                 f"{FILE}:RateLimiter changed its signature", id="bases"),
    pytest.param(f"{FILE} checks who asks.", [("strip()", "lower()")], "", id="a file's content"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "swaps", "reason"), CHANGES)
def test_each_kind_of_change_is_named_and_only_what_matters_makes_stale(
    code: Code, text: str, swaps: list[tuple[str, str]], reason: str
) -> None:
    """By the real parser and a sync of the one file; twice is once."""
    entry = code.page(text)
    assert entry.status is Status.CONFIRMED
    code.change(FILE, *swaps)
    code.sync([FILE])
    after = code.house.read(entry.id)
    assert after.status is (Status.STALE if reason else Status.CONFIRMED)
    assert after.stale_reason.rpartition(" on 20")[0] == reason
    code.sync()
    assert code.house.read(entry.id) == after and after.last_confirmed == entry.last_confirmed


@pytest.mark.parametrize(
    ("text", "to", "reason"),
    [
        ("`RateLimiter.allow` counts.", "src/guard.py", ""),
        (f"{FILE}:require_user strips.", "src/guard.py", f"{FILE}:require_user moved to src/guard.py"),
        (f"The checks are in {FILE} today.", "src/guard.py", f"{FILE} moved to src/guard.py"),
        (f"The checks are in {FILE} today.", "", f"{FILE} was deleted"),
    ],
)
def test_what_moves_is_followed(code: Code, text: str, to: str, reason: str) -> None:
    """A page is stale only where it names the place; the anchor leads to the new one in any case."""
    entry = code.page(text)
    code.write(FILE, None)
    if to:
        code.write(to, LIMITS)
    code.sync()
    after = code.house.read(entry.id)
    assert after.status is (Status.STALE if reason else Status.CONFIRMED)
    assert after.stale_reason.rpartition(" on 20")[0] == reason
    if to:
        assert {one.path for one in code.anchors(entry).values()} == {to}
        if not reason:
            code.change(to, ("key: str", "key: bytes"))
            code.sync([to])
            assert f"{to}:RateLimiter.allow changed its signature" in code.house.read(entry.id).stale_reason


def test_what_code_marked_code_takes_back_when_the_code_is_as_it_was(code: Code) -> None:
    """A candidate is one again, a confirmed page confirmed as of the same day, with both steps on record."""
    candidate = code.page("`RateLimiter.allow` counts.", confirmed=False)
    firm = code.page("`RateLimiter.allow` counts in every case.", name="firm")
    code.change(FILE, ("key: str", "key: bytes"))
    code.sync()
    assert [code.house.read(one.id).status for one in (candidate, firm)] == [Status.STALE, Status.STALE]
    code.change(FILE, ("key: bytes", "key: str"))
    code.sync()
    one, two = code.house.read(candidate.id), code.house.read(firm.id)
    assert (one.status, one.stale_reason) == (Status.CANDIDATE, "")
    assert two == firm
    assert [row.actor for row in code.house.reviews(candidate.id)] == ["rules", "rules"]
    steps = [(row.new_status, row.actor, str(row.reason)) for row in code.house.reviews(firm.id)][-2:]
    assert [step[:2] for step in steps] == [("stale", "rules"), ("confirmed", "rules")]
    assert "changed its signature" in steps[0][2] and steps[1][2] == "what had changed is as it was"


def _rewrite(code: Code) -> None:
    code.write(FILE, LIMITS.replace("key: str", "key: bytes").replace("strip()", "lower()"))


def _rename(code: Code) -> None:
    code.write(FILE, LIMITS.replace("require_user", "require_login").replace("RateLimiter", "Limiter"))


def _rename_and_edit(code: Code) -> None:
    code.write(FILE, LIMITS.replace("require_user", "require_login").replace("strip()", "lower()"))


def _move_and_edit(code: Code) -> None:
    code.write("src/guard.py", LIMITS)
    code.write(FILE, None)
    code.sync()
    code.write("src/guard.py", LIMITS.replace("strip()", "lower()"))


def _delete(code: Code) -> None:
    code.write(FILE, None)


BRANCHES = [_rewrite, _rename, _rename_and_edit, _move_and_edit, _delete]
PAGES = ["`RateLimiter.allow` counts.", "`RateLimiter` limits.", "require_user strips.",
         f"{FILE}:require_user strips.", f"The checks are in {FILE} today."]  # fmt: skip


@pytest.mark.parametrize("branch", BRANCHES, ids=lambda one: one.__name__.strip("_"))
def test_a_branch_and_back_leaves_every_page_as_it_was(code: Code, branch: Callable[[Code], None]) -> None:
    """Whatever a branch does with the code that pages rest on: back on the first one, nothing is left of it."""
    pages = [code.page(text, name=f"page {n}") for n, text in enumerate(PAGES)]
    before = [{**code.anchors(page)} for page in pages]
    branch(code)
    code.sync()
    assert any(code.house.read(page.id).status is Status.STALE for page in pages)
    for path in ("src/guard.py",):
        if (code.root / path).exists():
            code.write(path, None)
    code.write(FILE, LIMITS)
    code.sync()
    assert [code.house.read(page.id) for page in pages] == pages
    after = [code.anchors(page) for page in pages]
    for then, now in zip(before, after, strict=True):
        assert {(a.name, a.target, a.hash, a.signature, a.text) for a in then.values()} == {
            (a.name, a.target, a.hash, a.signature, a.text) for a in now.values()
        }


def test_other_causes_stay_when_the_code_is_as_it_was(code: Code) -> None:
    """What was said since, an age that a lint marked, and another change of code each keep the page stale."""
    said = code.page("`RateLimiter.allow` counts.", name="said")
    other = code.house.entry("other", claim("b", "Tokens are counted by `RateLimiter.allow`, not calls.", day=900))
    with code.house.db.write() as tx:
        freshness.contradicted(tx, other.id, said.id, code.house.tick())
    aged = code.page("`RateLimiter.allow` counts calls.", name="aged")
    with code.house.db.write() as tx:
        states.move(tx, aged, Status.STALE, actor=states.RULES, reason=freshness.AGED, now=code.house.tick())
    both = code.page("`RateLimiter.allow` and require_user decide.", name="both")
    code.change(FILE, ("key: str", "key: bytes"), ("strip()", "lower()"))
    code.sync()
    code.change(FILE, ("key: bytes", "key: str"))
    code.sync()
    assert [code.house.read(one.id).status for one in (said, aged, both)] == [Status.STALE] * 3
    reasons = [str(code.house.read(one.id).stale_reason) for one in (said, both)]
    assert reasons[0].startswith("something said since contradicts it") and "allow" not in reasons[0]
    assert "require_user changed its body" in reasons[1] and "allow" not in reasons[1]


def test_confirming_with_what_was_read_again_takes_the_code_as_it_is_now(code: Code) -> None:
    """Stamped, the reason gone, the new text kept; the next change counts from there."""
    entry = code.page("`RateLimiter.allow` counts.")
    code.change(FILE, ("key: str", "key: bytes"))
    code.sync()
    assert code.confirm(entry, f"{FILE}:RateLimiter.allow")
    code.follow()
    after = code.house.read(entry.id)
    assert (after.status, after.stale_reason) == (Status.CONFIRMED, "")
    assert after.last_confirmed is not None and entry.last_confirmed is not None
    assert after.last_confirmed > entry.last_confirmed
    assert "key: bytes" in code.anchors(entry)["RateLimiter.allow"].text
    code.sync()
    assert code.house.read(entry.id) == after
    code.change(FILE, ("key: bytes", "key: str"))
    code.sync()
    assert code.house.read(entry.id).status is Status.STALE


def test_a_renamed_thing_is_followed_under_the_name_that_a_person_accepted(code: Code) -> None:
    """After the rename was read and confirmed, a change of what it became counts as its own."""
    entry = code.page("require_user strips.")
    code.change(FILE, ("def require_user", "def require_login"))
    code.sync()
    code.change(FILE, ("strip()", "lower()"))
    code.sync()
    assert "was renamed to require_login" in code.house.read(entry.id).stale_reason
    code.confirm(entry, FILE)
    code.follow()
    assert code.house.read(entry.id).status is Status.CONFIRMED
    code.change(FILE, ("lower()", "upper()"))
    code.sync()
    assert f"{FILE}:require_login changed its body" in code.house.read(entry.id).stale_reason


def test_what_a_conversation_changes_itself_does_not_make_its_candidates_stale(code: Code) -> None:
    """While it goes on; half an hour after its last word a change is news."""
    entry = code.page("`RateLimiter.allow` counts.", confirmed=False)
    with code.house.db.write() as tx:
        tx.run("UPDATE session SET last_at = :now", now=code.house.now)
    code.change(FILE, ("key: str", "key: bytes"))
    code.sync()
    assert code.house.read(entry.id).status is Status.CANDIDATE
    assert "bytes" in code.anchors(entry)["RateLimiter.allow"].signature
    code.later(2000)
    code.change(FILE, ("key: bytes", "key: int"))
    code.sync()
    assert code.house.read(entry.id).status is Status.STALE


def test_another_work_tree_leaves_the_pages_alone(code: Code, tmp_path: Path, pool: ParserPool) -> None:
    """A page is tied to the code of one checkout."""
    entry = code.page("`RateLimiter.allow` counts.")
    other = Code(code.house, tmp_path / "other", pool)
    other.root.mkdir()
    other.write(FILE, LIMITS.replace("key: str", "key: bytes"))
    assert other.sync() == 0 and code.house.read(entry.id).status is Status.CONFIRMED


def test_several_changes_are_told_together_and_disputed_pages_stay_disputed(code: Code) -> None:
    """Each reason once; a dispute shows both values whatever else changed."""
    entry = code.page("`RateLimiter.allow` and require_user decide.")
    with code.house.db.write() as tx:
        tx.run("UPDATE entry SET status = 'disputed' WHERE id = :id", id=entry.id)
    code.change(FILE, ("key: str", "key: bytes"), ("strip()", "lower()"))
    code.sync()
    after = code.house.read(entry.id)
    assert after.status is Status.DISPUTED and after.stale_reason.count(" changed its ") == 2


def test_a_sync_without_anchors_asks_for_nothing_and_a_stopped_job_goes_on(code: Code) -> None:
    """No page speaks of what changed: no job. Asked to end, the job gives the rest back."""
    code.change(FILE, ("strip()", "lower()"))
    assert code.sync() == 0
    for number in range(12):
        code.page(f"`RateLimiter.allow` counts, number {number}.", name=f"page {number}")
    code.change(FILE, ("key: str", "key: bytes"))
    code.stopping = True
    assert code.sync() == 0
    code.stopping = False
    assert code.follow() == 1
    with code.house.db.read() as tx:
        assert tx.all("SELECT status, count(*) FROM entry GROUP BY status") == [("stale", 12)]
        assert tx.all("SELECT count(*) FROM anchor WHERE due = 1") == [(0,)]


def test_secrets_in_code_are_not_kept(code: Code) -> None:
    """The text of a definition is redacted like any other."""
    code.write("src/keys.py", 'def open_door():\n    password = "hunter2hunter2!X9"\n    return password\n')
    code.sync()
    entry = code.page("open_door() opens.")
    kept = code.anchors(entry)["open_door"].text
    assert "hunter2" not in kept and "[redacted:" in kept
