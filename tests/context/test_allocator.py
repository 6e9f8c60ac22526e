"""The four laws of packing, each as a property, and the rules for what nobody has reviewed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.context.allocator import Cost, Level, Offer, Packed, Piece, allocate, in_order, shares, total

SOURCES = ("slot", "skills", "entries", "history", "topology", "conventions")
FEW = settings(max_examples=50, deadline=None)
COSTS = st.builds(Cost, st.integers(1, 60), st.integers(1, 200))


@st.composite
def pieces(draw: st.DrawFn, source: str) -> list[Piece]:
    """Up to nine items with one to three levels, the largest first."""
    made = []
    for number in range(draw(st.integers(0, 9))):
        costs = sorted(draw(st.lists(COSTS, min_size=1, max_size=3)), key=lambda c: (-c.tokens, -c.units))
        costs = [Cost(c.tokens, max(d.units for d in costs[at:])) for at, c in enumerate(costs)]
        names = ("body", "summary", "title")[3 - len(costs) :]
        made.append(
            Piece(
                kind="entry",
                id=f"{source}-{number}",
                short=str(number),
                relevance=draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])),
                levels=[
                    Level(name=n, text=f"{source}-{number} {n}", cost=c) for n, c in zip(names, costs, strict=True)
                ],
                subject=draw(st.sampled_from(["", "x", "y"])),
                unreviewed=draw(st.booleans()),
            )
        )
    return made


@st.composite
def offers(draw: st.DrawFn) -> list[Offer]:
    """All six sources with any shares that add up to at most 1."""
    weights = draw(st.lists(st.floats(0, 1), min_size=6, max_size=6))
    scaled = shares(dict(zip(SOURCES, weights, strict=True)), SOURCES)
    return [
        Offer(
            source=source,
            share=scaled[source],
            pieces=draw(pieces(source)),
            heading=draw(st.builds(Cost, st.integers(0, 8), st.integers(0, 20))),
            cap=draw(st.sampled_from([0.0, 0.2, 1.0])),
        )
        for source in SOURCES
    ]


BUDGETS = st.builds(Cost, st.integers(0, 600), st.integers(0, 2000))


def names(placed: Sequence[object]) -> list[str]:
    return [repr(one) for one in placed]


@FEW
@given(budget=BUDGETS, given_offers=offers())
def test_total_never_exceeds_the_budget(budget: Cost, given_offers: list[Offer]) -> None:
    """Law 1, counted anew from what was placed: in tokens and in the agent's own unit."""
    packed = allocate(budget, given_offers)
    spent = Cost()
    for offer, got in zip(given_offers, packed, strict=True):
        own = sum((placed.level.cost for placed in got.placed), Cost())
        spent += own + (offer.heading if got.placed else Cost())
    assert spent.fits(budget)
    assert spent == total(packed)


@FEW
@given(budget=BUDGETS, given_offers=offers(), others=offers(), at=st.integers(0, 5))
def test_higher_sources_never_depend_on_lower_ones(
    budget: Cost, given_offers: list[Offer], others: list[Offer], at: int
) -> None:
    """Law 2: whatever lower sources offer, what one gets from its share and from above stays; the rest only adds."""
    changed = [
        *given_offers[:at],
        *(replace(o, share=g.share) for o, g in zip(others[at:], given_offers[at:], strict=True)),
    ]
    bare = [*given_offers[:at], *(replace(o, pieces=()) for o in given_offers[at:])]
    first, second, third = (allocate(budget, those) for those in (given_offers, changed, bare))
    for one, two, three in list(zip(first, second, third, strict=True))[:at]:
        assert names(one.own) == names(two.own) == names(three.own)
        assert one.share == two.share == three.share
        assert set(names(one.own)) <= set(names(one.placed))


@FEW
@given(budget=BUDGETS, given_offers=offers())
def test_own_share_is_there_whatever_the_others_want(budget: Cost, given_offers: list[Offer]) -> None:
    """Law 2: the most relevant item goes in if its smallest level fits the source's own share, cap and order aside."""
    plain = [replace(o, pieces=[replace(p, unreviewed=False) for p in o.pieces]) for o in given_offers]
    for offer, got in zip(plain, allocate(budget, plain), strict=True):
        first = next(iter(in_order(offer.pieces)), None)
        if first is not None and (first.levels[-1].cost + offer.heading).fits(got.share):
            assert any(placed.piece == first for placed in got.own)


@FEW
@given(budget=BUDGETS, given_offers=offers())
def test_nothing_that_fits_is_left_out(budget: Cost, given_offers: list[Offer]) -> None:
    """Law 2: what sources leave is offered to all others; in the end no item left out would fit what is left."""
    plain = [replace(o, cap=1.0, pieces=[replace(p, unreviewed=False) for p in o.pieces]) for o in given_offers]
    packed = allocate(budget, plain)
    left = budget - total(packed)
    slack = Cost(len(plain) + 1, len(plain) + 1)  # shares are rounded down; the last source sees all that is left
    for offer, got in zip(plain, packed, strict=True):
        placed = {one.piece.id for one in got.placed}
        for piece in offer.pieces:
            if piece.id not in placed:
                price = piece.levels[-1].cost + (Cost() if got.placed else offer.heading)
                assert not (price + slack).fits(left)


@FEW
@given(budget=BUDGETS, given_offers=offers())
def test_items_go_in_whole_and_by_relevance(budget: Cost, given_offers: list[Offer]) -> None:
    """Law 3: each at most once, at one of its own levels; at equal sizes the more relevant goes first."""
    for offer, got in zip(given_offers, allocate(budget, given_offers), strict=True):
        by_id = {piece.id: piece for piece in offer.pieces}
        ids = [placed.piece.id for placed in got.placed]
        assert len(ids) == len(set(ids)) and got.left_out == len(by_id) - len(ids)
        assert all(placed.level in by_id[placed.piece.id].levels for placed in got.placed)
        for missing in (p for p in offer.pieces if p.id not in ids and not p.unreviewed):
            smallest = missing.levels[-1].cost
            for placed in got.own:
                lesser = not placed.piece.unreviewed and placed.piece.relevance < missing.relevance
                assert not (lesser and smallest.fits(placed.level.cost))


@FEW
@given(budget=BUDGETS, given_offers=offers(), seed=st.integers())
def test_same_input_same_packing(budget: Cost, given_offers: list[Offer], seed: int) -> None:
    """Law 4: twice, and with the items offered in another order."""
    shuffled = [replace(o, pieces=random.Random(seed).sample(list(o.pieces), len(o.pieces))) for o in given_offers]
    first = allocate(budget, given_offers)
    assert names(first) == names(allocate(budget, given_offers)) == names(allocate(budget, shuffled))


@FEW
@given(budget=BUDGETS, given_offers=offers())
def test_unreviewed_items_keep_to_their_cap(budget: Cost, given_offers: list[Offer]) -> None:
    """All unreviewed items of a source together cost at most the cap's part of its share, extra room or not."""
    for offer, got in zip(given_offers, allocate(budget, given_offers), strict=True):
        spent = sum((placed.level.cost for placed in got.placed if placed.piece.unreviewed), Cost())
        assert spent.fits(got.share.part(offer.cap))


@FEW
@given(budget=BUDGETS, given_offers=offers())
def test_unreviewed_items_stand_behind_reviewed_ones(budget: Cost, given_offers: list[Offer]) -> None:
    """On one subject a candidate never goes in without every confirmed item, and never above one."""
    for offer, got in zip(given_offers, allocate(budget, given_offers), strict=True):
        placed = [one.piece for one in got.placed]
        for at, piece in enumerate(placed):
            if piece.unreviewed and piece.subject:
                rivals = [p for p in offer.pieces if p.subject == piece.subject and not p.unreviewed]
                assert all(rival in placed[:at] for rival in rivals)


def offer(*sizes: Sequence[int], share: float = 1.0, source: str = "entries") -> Offer:
    """An offer of items whose levels cost these tokens, in falling relevance."""
    made = [
        Piece(
            kind="entry",
            id=f"{source}{n}",
            short="",
            relevance=1.0 - n / 100,
            levels=[Level(name=str(at), text="", cost=Cost(size, size)) for at, size in enumerate(levels)],
        )
        for n, levels in enumerate(sizes)
    ]
    return Offer(source=source, share=share, pieces=made)


def sizes(packed: Packed) -> list[int]:
    return [placed.level.cost.tokens for placed in packed.placed]


def test_depth_does_not_push_out_breadth() -> None:
    """The first item is shortened where its body would cost the next ones their place; a lone item has its body."""
    assert sizes(allocate(Cost(100, 100), [offer([90, 30, 10], [90, 30, 10], [90, 30, 10])])[0]) == [30, 30, 30]
    assert sizes(allocate(Cost(100, 100), [offer([90, 30, 10])])[0]) == [90]


def test_leftovers_go_to_the_top_first_and_then_down() -> None:
    """What the middle source leaves is offered to the one above before the one below."""
    top, middle = offer([30], [30], share=0.3, source="a"), offer([5], share=0.4, source="b")
    low = offer([30], [30], share=0.3, source="c")
    first, second, third = allocate(Cost(100, 100), [top, middle, low])
    assert (len(first.own), len(first.extra)) == (1, 1)
    assert (len(second.own), len(third.placed)) == (1, 1)


def test_agents_own_unit_binds_too() -> None:
    """With tokens to spare, the agent's limit in units decides."""
    wide = Piece(kind="e", id="1", short="", relevance=1, levels=[Level(name="title", text="", cost=Cost(1, 900))])
    assert allocate(Cost(1000, 899), [Offer(source="s", share=1, pieces=[wide])])[0].left_out == 1


def test_shares_are_scaled_only_when_too_large() -> None:
    """Shares that add up to less than 1 leave the rest open; more than 1 is scaled down."""
    assert shares({"a": 0.5, "b": 0.1}, ["a", "b", "c"]) == {"a": 0.5, "b": 0.1, "c": 0.0}
    assert shares({"a": 3.0, "b": 1.0}, ["a", "b"]) == {"a": 0.75, "b": 0.25}
