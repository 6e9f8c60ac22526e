"""By what signs an injected item counts as used or called wrong, and what is no sign."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.harvest.rules_talk import Turn, talk

from flywheel.harvest.rules.topic import stems
from flywheel.model import Micros
from flywheel.retro.attribution.items import Item, distinguish, item_of
from flywheel.retro.attribution.nearness import is_near
from flywheel.retro.attribution.objecting import of_cited
from flywheel.retro.attribution.watching import CITED, RAN, REPEATED, TOUCHED, Watch

LOCK = item_of(
    id="7f3a1c" + "0" * 26, kind="entry", at=Micros(0), short="7f3a1c",
    text="The outbox claims rows with SKIP LOCKED under a lease of sixty seconds; run `make check-outbox` afterwards.",
    files=["src/mail/outbox.py"], symbols=["Outbox.renew_lease"],
)  # fmt: skip
TABS = item_of(id="beef01" + "0" * 26, kind="entry", at=Micros(0), short="beef01", text="Use tabs", files=["a.py"])
REPEATS = "It claims rows with SKIP LOCKED, and the lease lasts sixty seconds in the outbox."
ASK: Turn = ("user", "Why are mails sent twice?")


def watched(*turns: Turn, items: Sequence[Item] = (LOCK, TABS)) -> Watch:
    """A session that was told these items at its start."""
    watch = Watch(items, ["/p"])
    for message in talk(*turns):
        watch.hear(message)
    return watch


def signs(*turns: Turn) -> set[tuple[str, str]]:
    """(first letter of the short id, sign) of what was found."""
    return {(id[0], sign) for id, sign in watched(*turns).signs}


def edit(path: str) -> Turn:
    """An edit of a file."""
    return ("call", "", {"files": [path], "command": ""})


@pytest.mark.parametrize(
    ("sign", "turns"),
    [
        (CITED, [ASK, ("assistant", "As [fw:7f3a1c] says, the lease is too short.")]),
        (CITED, [ASK, ("assistant", f"See fw:{LOCK.id}.")]),
        (CITED, [ASK, ("call", "git commit -m 'longer lease, see fw:7F3A1C'")]),
        (TOUCHED, [ASK, edit("/p/src/mail/outbox.py")]),
        (TOUCHED, [ASK, edit("src/mail/outbox.py")]),
        (TOUCHED, [ASK, ("call", "sed -n 1,40p src/mail/outbox.py")]),
        (TOUCHED, [ASK, ("call", "grep -rn renew_lease src")]),
        (RAN, [ASK, ("call", "cd /p && make check-outbox 2>&1 | tail -5")]),
        (RAN, [ASK, ("call", "git pull; make check-outbox VERBOSE=1")]),
        (REPEATED, [ASK, ("assistant", REPEATS)]),
    ],
)
def test_signs_of_use(sign: str, turns: list[Turn]) -> None:
    """Its id is cited, its file or symbol touched, its command run, its words repeated."""
    assert signs(*turns) == {("7", sign)}
    assert watched(*turns).used() == {LOCK.id}


@pytest.mark.parametrize(
    "turns",
    [
        [("user", "Look at src/mail/outbox.py"), edit("/p/src/mail/outbox.py")],
        [("user", "What is wrong in outbox.py?"), ("call", "cat src/mail/outbox.py")],
        [("user", "Please run make check-outbox now"), ("call", "make check-outbox")],
        [("user", "Why does Outbox.renew_lease fail?"), ("call", "grep -rn Outbox.renew_lease src")],
        [("user", "Why does Outbox.renew_lease fail?"), ("call", "grep -rn renew_lease src")],
        [("user", "Why does renew_lease fail?"), ("call", "grep -rn Outbox.renew_lease src")],
        [("user", "I read [fw:7f3a1c]."), ("assistant", "Then [fw:7f3a1c] it is.")],
        [("user", f"{REPEATS} Is that so?"), ("assistant", REPEATS)],
        [ASK, ("result", REPEATS)],
        [ASK, ("assistant", "The outbox has rows.")],
        [ASK, edit("/elsewhere/src/mail/outbox.py")],
        [ASK, edit("/p/lib/src/mail/outbox.py")],
        [ASK, ("call", "make check-outbox-all")],
        [ASK, ("assistant", "fw:7f3a1d and fw:7f3a1c0f are others.")],
        [ASK, ("assistant", "a.py uses tabs")],
    ],
)
def test_what_is_no_sign(turns: list[Turn]) -> None:
    """What the prompt named itself, what tools said, other files of that name, one shared word, other ids."""
    assert signs(*turns) == set()


def test_what_came_before_is_no_sign_and_known_afterwards() -> None:
    """A file that the session had open before it was told is no use, also later on."""
    late = item_of(id="a" * 32, kind="entry", at=Micros(2_000_000), short="aaaaaa", text="", files=["src/b.py"])
    turns = [ASK, ("call", "cat src/b.py"), ("assistant", "Hm."), ("call", "cat src/b.py")]
    assert watched(*turns, items=[late]).used() == set()
    assert watched(ASK, ("assistant", "."), ("assistant", "."), ("call", "cat src/b.py"), items=[late]).used()


@pytest.mark.parametrize(
    ("sign", "turns"),
    [
        ("wrong", [ASK, ("user", "fw:7f3a1c is wrong")]),
        ("wrong", [ASK, ("assistant", "[fw:7f3a1c] is not correct: there is no lease.")]),
        ("stale", [ASK, ("assistant", "[fw:7f3a1c] is out of date.")]),
        ("stale", [ASK, ("assistant", "The note on the lease is obsolete ([fw:7f3a1c]).")]),
        ("stale", [ASK, ("assistant", "[fw:7f3a1c] speaks of a lease. That no longer holds.")]),
        ("wrong", [ASK, ("assistant", "Memory says the outbox claims rows with SKIP LOCKED under a lease of sixty"
                         " seconds, but actually there is no lease.")]),
        ("stale", [ASK, ("assistant", "By [fw:7f3a1c] the lease lasts a minute."), ("user", "That's outdated.")]),
        ("wrong", [ASK, ("assistant", REPEATS), ("user", "No, that is wrong. Fix it.")]),
    ],
)  # fmt: skip
def test_who_calls_it_wrong(sign: str, turns: list[Turn]) -> None:
    """By its id, by its words, or by "that" after a reply that rests on it alone; what is called wrong was not used."""
    watch = watched(*turns)
    assert sign in {found for id, found in watch.signs if id == LOCK.id}
    assert watch.wrong() == {LOCK.id} and watch.used() == set()


@pytest.mark.parametrize(
    "turns",
    [
        [("user", "If fw:7f3a1c is wrong, tell me.")],
        [("user", "Is fw:7f3a1c outdated?")],
        [("assistant", "[fw:7f3a1c] is not outdated.")],
        [("assistant", "I do not think that [fw:7f3a1c] is wrong.")],
        [("assistant", "As [fw:7f3a1c] says, polling is wrong.")],
        [("assistant", "[fw:7f3a1c] holds; the README is out of date.")],
        [("assistant", "> [fw:7f3a1c] is wrong\n\nSo somebody said.")],
        [("assistant", "See [fw:7f3a1c] and [fw:beef01]."), ("user", "That's outdated.")],
        [("assistant", "The test is green."), ("user", "That is wrong.")],
        [("assistant", "The briefing is long, but the test is wrong.")],
    ],
)
def test_who_does_not(turns: list[Turn]) -> None:
    """Questions, suppositions, denials, quotations, and what is said of something else or of one of several."""
    assert watched(ASK, *turns).wrong() == set()


def test_the_first_message_is_the_receipt() -> None:
    """Each sign keeps the message that gave it first, and the sentence that called it wrong."""
    watch = watched(ASK, ("call", "cat src/mail/outbox.py"), ("call", "cat src/mail/outbox.py"),
                    ("user", "Listen. fw:7f3a1c is wrong."))  # fmt: skip
    assert watch.signs[LOCK.id, TOUCHED].at == 1_000_000
    assert watch.signs[LOCK.id, "wrong"].said == "fw:7f3a1c is wrong."


def test_words_of_all_items_tell_none() -> None:
    """What most items share says what the project is, and is left out; items of few words are never repeated."""
    items = [item_of(id=f"{n:032x}", kind="entry", at=Micros(0), short=f"{n:06x}",
                     text=f"The postroom service of parcels needs thing{n} and part{n} with piece{n} by bolt{n}")
             for n in range(6)]  # fmt: skip
    one = distinguish(items)[0]
    assert {"postroom", "parcel"} & items[0].words and not {"postroom", "parcel", "servic"} & one.words
    assert one.words >= {"thing0", "part0", "piece0", "bolt0"}
    assert TABS.words == frozenset()


def test_near_is_what_shares_a_file_a_folder_or_a_word_of_the_prompt() -> None:
    """An item that was not used is irrelevant only when it lay off the session's way."""
    assert is_near(LOCK, {"src/mail/outbox.py"}, ())
    assert is_near(LOCK, {"src/mail/worker.py"}, ())
    assert is_near(LOCK, (), set(stems("the lease of the outbox")))
    assert not is_near(LOCK, {"src/web/page.py", "README.md"}, {"button"})


def test_ids_in_hostile_sentences_are_found_quickly() -> None:
    """A long sentence full of ids and cues costs little."""
    began = time.process_time()
    of_cited("[fw:7f3a1c] is wrong, not if " * 200, "", "")
    assert time.process_time() - began < 1


_TURN = st.tuples(
    st.sampled_from(["user", "assistant", "call", "result"]),
    st.lists(st.sampled_from(["fw:7f3a1c", "is wrong", "src/mail/outbox.py", REPEATS, "make check-outbox", ".", "no"]),
             max_size=5).map(" ".join),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(turns=st.lists(_TURN, max_size=8))
def test_use_and_harm_exclude_each_other(turns: list[Turn]) -> None:
    """Whatever is said, nothing is both, and what no message says is neither."""
    watch = watched(*turns)
    assert not watch.used() & watch.wrong()
    assert TABS.id not in watch.used()


def test_many_items_cost_little_more_than_few() -> None:
    """Two hundred items are looked for in one pass: not two hundred times the work of one."""
    chance = random.Random(4)
    words = [f"word{number}" for number in range(3000)]
    items = [
        item_of(id=f"{number:032x}", kind="entry", at=Micros(0), short=f"{number:06x}",
                text=" ".join(chance.sample(words, 12)), files=[f"src/part{number}.py"])
        for number in range(200)
    ]  # fmt: skip
    turns: list[Turn] = [("assistant", " ".join(chance.sample(words, 120))) for _ in range(150)]
    messages = talk(*turns)

    def cost(some: Sequence[Item]) -> float:
        watch = Watch(some, ["/p"])
        began = time.process_time()
        for message in messages:
            watch.hear(message)
        return time.process_time() - began

    few = min(cost(items[:1]) for _ in range(3))
    assert min(cost(items) for _ in range(3)) < 20 * few + 0.05
