"""What may be spent, and that nobody spends more: pure rules, and the ledger over both stores."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.llm.conftest import GOOD, NOON, SHOP, Made, ledger, question
from tests.llm.loopback import Wire, dawdles, says

from flywheel.config import Config, LlmConfig, parse_config
from flywheel.errors import ConfigError, Waiting
from flywheel.llm import Purpose, Usage
from flywheel.llm.budget import Cap, Spent, Used, dollars, periods, refusal
from flywheel.llm.ledger import Estimate, Ledger, by_purpose, spending
from flywheel.llm.pricing import is_own, load_prices
from flywheel.llm.projection import project
from flywheel.model import LlmCall, Micros, Project, ProjectId
from flywheel.store import Db
from flywheel.store.mapper import insert
from flywheel.text.compose import fixed

DAY = 86_400_000_000


def llm(**more: Any) -> LlmConfig:
    """Settings."""
    return parse_config({"llm": more}).llm


def at(text: str) -> Micros:
    """A time UTC."""
    return Micros(round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1e6))


@pytest.mark.parametrize(
    ("now", "day", "next_day", "next_month"),
    [
        ("2026-05-28T20:26", "2026-05-28", "2026-05-29", "2026-06-01"),
        ("2026-12-31T23:59", "2026-12-31", "2027-01-01", "2027-01-01"),
        ("2024-02-29T00:00", "2024-02-29", "2024-03-01", "2024-03-01"),
    ],
)
def test_days_and_months_are_of_the_calendar(now: str, day: str, next_day: str, next_month: str) -> None:
    """A cap is lifted at midnight UTC, or with the first of the month."""
    found = periods(at(now))
    assert (found.day, found.next_day, found.next_month) == (at(day), at(next_day), at(next_month))
    assert found.month == at(now[:8] + "01")


NONE = Used(day=Spent(), month=Spent())


def used(cost: int = 0, tokens: int = 0, month: int | None = None) -> Used:
    """As much today, and more this month."""
    return Used(
        day=Spent(cost=cost, tokens=tokens), month=Spent(cost=month if month is not None else cost, tokens=tokens)
    )


REFUSALS: dict[str, tuple[dict[str, Any], Used, Spent, str]] = {
    "nothing spent": ({"day_usd": 1.0}, NONE, Spent(cost=999_999), ""),
    "to the last millionth": ({"day_usd": 1.0}, used(600_000), Spent(cost=400_000), ""),
    "one millionth too much": ({"day_usd": 1.0}, used(600_000), Spent(cost=400_001), "the day's cap of $1.00"),
    "the month": ({"day_usd": -1, "month_usd": 5}, used(0, month=5_000_000), Spent(cost=1), "the month's cap of $5.00"),
    "tokens of a day": ({"day_tokens": 100}, used(tokens=90), Spent(tokens=11), "the day's cap of 100 tokens"),
    "tokens of a month": (
        {"month_tokens": 100, "day_tokens": -1},
        used(tokens=90),
        Spent(tokens=11),
        "month's cap of 100",
    ),
    "no cap": ({"day_usd": -1, "month_usd": -1}, used(10**9), Spent(cost=10**9), ""),
    "nothing allowed": ({"day_usd": 0}, NONE, Spent(cost=1), "the day's cap of $0.00"),
    "free is free": ({"day_usd": 0}, NONE, Spent(cost=0, tokens=5), ""),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_cap_is_hard(name: str) -> None:
    """A call that would go past a cap by a millionth of a dollar, or one token, is refused in words."""
    given, so_far, need, why = REFUSALS[name]
    found = refusal(llm(**given), {"": so_far}, {"": 1.0}, need, periods(NOON))
    assert (found is None) is (why == "") and (found is None or why in found.why)


def test_the_cap_that_is_lifted_last_says_until_when() -> None:
    """Day and month are both reached: it goes on next month."""
    found = refusal(llm(day_usd=1, month_usd=1), {"": used(10**6)}, {"": 1.0}, Spent(cost=1), periods(NOON))
    assert found is not None and found.until == at("2026-06-01")


def test_shares_are_parts_of_the_cap() -> None:
    """A purpose that has had its part waits, though the whole is far from reached."""
    part = Cap(cost=1_000_000, tokens=None).part(0.25)
    assert part == Cap(cost=250_000, tokens=None)
    names = {"": 1.0, "the purpose ask": 0.25}
    found = refusal(
        llm(day_usd=1), {"": used(250_000), "the purpose ask": used(250_000)}, names, Spent(cost=1), periods(NOON)
    )
    assert found is not None and "the purpose ask's share of the day's cap of $0.25" in found.why


def reserve(book: Ledger, cost: int, *, now: Micros = NOON, purpose: Purpose = Purpose.ASK, **more: Any) -> LlmCall:
    """Put one call on the bill."""
    one = Estimate(usage=Usage(cache_write=100, output=10), cost=cost)
    given: dict[str, Any] = {"project_id": SHOP, "provider": "anthropic", "model": "m"} | more
    return book.reserve(purpose=purpose, estimates=[one], now=now, **given)[0]


def test_what_is_reserved_counts_until_it_is_settled(db: Db) -> None:
    """The estimate is on the bill before the call, the truth afterwards; a new day begins at nothing."""
    book = Ledger(db, llm(day_usd=1, purpose_shares={"ask": 1}))
    call = reserve(book, 800_000)
    with pytest.raises(
        Waiting, match=r"the day's cap of \$1\.00 is reached \(\$0\.80\); it goes on at 2026-05-29 00:00"
    ):
        reserve(book, 300_000)
    book.settle(call, outcome="ok", usage=Usage(input=50, output=5, cache_read=7), cost=100_000, ms=12, now=NOON)
    book.settle(call, outcome="ok", usage=Usage(input=9), cost=9, ms=9, now=NOON)  # who comes second changes nothing
    second = reserve(book, 300_000)
    assert sorted(row.cost for row in ledger(db)) == [100_000, 300_000] and second.outcome == "open"
    reserve(book, 900_000, now=Micros(NOON + DAY))
    with db.read() as tx:
        assert spending(tx, NOON).day == Spent(cost=1_300_000, tokens=62 + 110 + 110, calls=3)
        assert spending(tx, Micros(NOON + DAY)).day.calls == 1 and spending(tx, Micros(NOON + DAY)).month.calls == 3
        assert by_purpose(tx, Micros(0))["ask"].calls == 3


def test_a_projects_share_and_a_purposes_are_its_own(db: Db) -> None:
    """One project that had its half waits; another goes on. So do purposes."""
    with db.write() as tx:
        insert(tx, Project(id=SHOP, key=fixed("k"), name=fixed("shop"), root=fixed(""), created_at=NOON))
    book = Ledger(db, llm(day_usd=1, project_shares={"shop": 0.5}, purpose_shares={"ask": 1, "retro": 0.2}))
    reserve(book, 500_000)
    with pytest.raises(Waiting, match="the project shop's share"):
        reserve(book, 1)
    reserve(book, 200_000, project_id=ProjectId("other"), purpose=Purpose.RETRO)
    with pytest.raises(Waiting, match="the purpose retro's share"):
        reserve(book, 1, project_id=ProjectId("other"), purpose=Purpose.RETRO)
    reserve(book, 300_000, project_id=ProjectId("other"))


def test_callers_at_once_do_not_spend_the_same_dollar(open_db: Callable[[], Db]) -> None:
    """Eight callers over four connections want a third of the cap each: three get it, to the millionth."""
    books = [Ledger(open_db(), llm(day_usd=0.999999, purpose_shares={"ask": 1})) for _ in range(4)]
    got: list[str] = []
    ready = threading.Barrier(8)

    def want(book: Ledger) -> None:
        ready.wait()
        try:
            got.append(reserve(book, 333_333).id)
        except Waiting:
            got.append("")

    threads = [threading.Thread(target=want, args=(books[number % 4],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8 and len([id for id in got if id]) == 3
    assert sum(row.cost for row in ledger(open_db())) == 999_999


def test_an_estimate_is_above_what_a_call_takes(made: Made, wire: Wire, sqlite_db: Db) -> None:
    """What is put on the bill first covers the prompt and the longest answer."""
    seen: list[LlmCall] = []

    def look(body: dict[str, Any]) -> object:
        seen.extend(ledger(sqlite_db))
        return dict(GOOD)

    wire.does(says(look))
    made().ask(question("word " * 2000))
    (open_,) = seen
    assert open_.outcome == "open" and open_.output_tokens == 100
    assert 2000 * 1.35 < open_.cache_write < 2000 * 1.35 * 1.6 + 800
    assert ledger(sqlite_db)[0].cost < open_.cost


def test_at_the_cap_nothing_is_sent(made: Made, wire: Wire) -> None:
    """The provider does not hear of a question that there is no money for."""
    wire.does(dawdles(0))
    with pytest.raises(Waiting, match=r"the day's cap of \$0\.0001"):
        made(day_usd=0.0001).ask(question())
    assert wire.heard == []


def test_prices_come_from_the_table_with_a_date() -> None:
    """Every default is priced; what nobody knows is taken for dear, unless it runs at home."""
    prices = load_prices()
    assert prices.date == "2026-10-10" and all(name in prices.models for name in prices.defaults.values() if name)
    haiku = prices.of("claude-haiku-5-5", LlmConfig(), own=False)
    assert haiku.cost(Usage(input=1_000_000)) == 500_000 and haiku.cost(Usage(input=100_000)) == 10_000  # two bands
    assert haiku.cost(Usage(input=1000, output=1000), batch=True) == 300
    assert haiku.cost(Usage(input=1)) == 1  # rounded up
    strange = prices.of("next-year", LlmConfig(), own=False)
    assert not strange.known and strange.cost(Usage(output=1_000_000)) == 25_000_000
    assert prices.of("llama", LlmConfig(), own=True).cost(Usage(input=10**9)) == 0
    mine = prices.of("llama", llm(input_usd=2, output_usd=4), own=True)
    assert mine.cost(Usage(input=1_000_000, output=500_000)) == 4_000_000


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:8000/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://10.1.2.3/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://10.example.org/v1", False),
        ("http://8.8.8.8/v1", False),
    ],
)
def test_what_runs_at_home_costs_nothing(url: str, own: bool) -> None:
    """This machine and private networks."""
    assert is_own(url) is own


def test_a_projection_says_what_a_person_wants_to_know() -> None:
    """Tokens, dollars, and how many days the daily cap makes of it."""
    price = load_prices().models["claude-sonnet-4-6"]
    found = project(calls=200, prompt=1_000_000, prefix=1000, answer=100, price=price, config=llm(day_usd=1))
    assert found.words == "about 1.2 M tokens, $3.36, spread over 4 days by the daily cap"
    assert project(calls=0, prompt=0, prefix=9, answer=9, price=price, config=llm()).words == "about 0 tokens, no money"
    assert "allows none" in project(calls=1, prompt=9, prefix=9, answer=9, price=price, config=llm(day_usd=0)).words


def test_dollars_are_readable() -> None:
    """Small sums keep their digits."""
    assert [dollars(n) for n in (0, 20, 2100, 99_999, 100_000, 3_100_000, 1_234_000_000)] == [
        "$0.00",
        "$0.000020",
        "$0.0021",
        "$0.1000",
        "$0.10",
        "$3.10",
        "$1,234.00",
    ]


def test_settings_are_checked() -> None:
    """Shares of any project, but only of known purposes; `offline` stands above the sections."""
    assert set(LlmConfig().purpose_shares) == set(Purpose)
    config = parse_config({"offline": True, "llm": {"project_shares": {"any name": 0.5}}})
    assert config.offline and config.llm.project_shares["any name"] == 0.5 and not Config().offline
    for table in (
        {"offline": "yes"},
        {"llm": {"purpose_shares": {"cooking": 1}}},
        {"llm": {"project_shares": {"a": 2}}},
    ):
        with pytest.raises(ConfigError, match=r"offline|cooking|between"):
            parse_config(table)


def test_the_sums_of_days_are_the_sums_of_calls(db: Db) -> None:
    """Whatever order calls are made, settled and lost in, over two months' ends, twice, and by another process."""
    dice, day = random.Random(7), DAY
    opened: list[LlmCall] = []
    books = [Ledger(db, Config().llm) for _ in range(3)]
    for step in range(120):
        book = dice.choice(books)
        now = Micros(NOON + step * day // 2)
        estimate = Estimate(usage=Usage(cache_write=dice.randrange(900), output=50), cost=dice.randrange(90))
        opened += book.reserve(
            purpose=dice.choice(list(Purpose)), project_id=SHOP, provider="p", model="m", estimates=[estimate], now=now
        )
        if dice.random() < 0.7:
            call = dice.choice(opened)
            usage = dice.choice([None, Usage(input=dice.randrange(2000), output=3)])
            for _ in range(2):
                book.settle(call, outcome="ok", usage=usage, cost=dice.choice([None, 7]), ms=1, now=Micros(now + day))
    with db.read() as tx:
        days = tx.all("SELECT day, SUM(cost), SUM(tokens), SUM(calls) FROM llm_day GROUP BY day ORDER BY day")
        calls = tx.all(
            "SELECT created_at / 86400000000, SUM(cost), SUM(input_tokens + output_tokens + cache_read + cache_write),"
            " COUNT(*) FROM llm_call GROUP BY 1 ORDER BY 1"
        )
        assert [(row[0] // day, *map(int, row[1:])) for row in days] == [(row[0], *map(int, row[1:])) for row in calls]
        month = spending(tx, Micros(NOON + 60 * day)).month
        assert month.calls == sum(row[3] for row in days if row[0] >= periods(Micros(NOON + 60 * day)).month)
