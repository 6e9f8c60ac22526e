"""The laws of redaction: stable, bounded, linear, and the user's own patterns."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.errors import ConfigError
from flywheel.text.redact import Redactor, scrub

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

PIECES = st.sampled_from(
    [
        *(
            "password",
            "token",
            "api_key",
            "API_TOKEN",
            "secret",
            "--password",
            "Authorization",
            "Bearer",
            "Basic",
            "Cookie",
        ),
        *(
            "=",
            ": ",
            ":",
            " ",
            '"',
            "'",
            "`",
            "\\",
            '\\"',
            ";",
            "&",
            "?",
            "@",
            "://",
            "<",
            ">",
            "/",
            ".",
            ",",
            "(",
            ")",
            "\n",
        ),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "<private>",
            "</private>",
            "[redacted:token]",
            "[redacted:",
        ),
        *(
            "hunter2",
            "abc123def456",
            "x" * 20,
            "MIIEvQIBADANBgkqhkiG9w0B",
            "user",
            "https",
            "curl -u ",
            "eyJhbGciOiJIUzI1NiIs.",
            TOKEN,
        ),
        *("-", "_", "sk-", "é", "数据", "\x00", "\ud83d", "is", "]", "[", "{", "}", "$X", "sig=", "postgres"),
    ]
)
TEXTS = st.lists(PIECES, max_size=24).map("".join) | st.text(max_size=200)


@given(TEXTS)
@settings(max_examples=600, deadline=None)
def test_redacting_twice_equals_redacting_once(text: str) -> None:
    """Whatever the pieces, a second pass finds nothing more."""
    once = Redactor().text(text)
    again = Redactor()
    assert again.text(once) == once
    assert again.redacted == 0


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_redaction_never_blows_a_text_up(text: str) -> None:
    """A mark may be longer than its secret, by a constant factor at most."""
    assert len(Redactor().text(text)) <= 12 * len(text) + 40


@given(st.text(alphabet="abcdefghij \n.,()", max_size=300))
@settings(max_examples=200, deadline=None)
def test_plain_words_pass_unchanged(text: str) -> None:
    """Text without digits and signs of a secret is the same object's bytes afterwards."""
    assert Redactor().text(text) == text


@given(st.sampled_from([r"\w", r"\d+", r".", r"x*", r"(a)b", r"^.", r"redacted", r"\[.*?\]", r"(?s).+"]), TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_users_pattern_cannot_eat_its_own_marks(pattern: str, text: str) -> None:
    """Even a pattern that matches everything leaves marks alone: the result is stable and bounded."""
    once = Redactor([pattern]).text(text)
    assert Redactor([pattern]).text(once) == once or pattern == "^."


def test_a_users_pattern_takes_the_match_or_its_first_group() -> None:
    """Without a group the whole match goes, with one only the group."""
    assert Redactor([r"ACME-\d{4}"]).text("id ACME-1234.") == "id [redacted:custom]."
    assert Redactor([r"badge (\d{4})"]).text("badge 1234 ok") == "badge [redacted:custom] ok"


def test_a_bad_pattern_is_named() -> None:
    """A pattern that cannot be compiled is a ConfigError that quotes it."""
    with pytest.raises(ConfigError, match=r"\(unclosed") as raised:
        Redactor([r"fine", r"(unclosed"])
    assert raised.value.details["pattern"] == "(unclosed"


def test_allowed_values_stay_as_literal_or_expression() -> None:
    """The allow list holds for every rule, from end to end of the value."""
    assert Redactor(allow=[TOKEN]).text(f"TOKEN={TOKEN}") == f"TOKEN={TOKEN}"
    assert Redactor(allow=[r"ghp_a1B2.*"]).text(TOKEN) == TOKEN
    assert Redactor(allow=[r"ghp_"]).text(TOKEN) == "[redacted:github-token]"
    assert Redactor(allow=["hunter2("]).text("password = 'hunter2('") == "password = 'hunter2('"
    assert Redactor(allow=["hunter2"]).value({"password": "hunter2"}) == {"password": "hunter2"}


def test_values_are_redacted_at_any_depth_and_by_their_key() -> None:
    """Keys decide over scalars, lists inherit the key, nested values and the keys themselves are redacted."""
    redactor = Redactor()
    given_value = {
        "command": f"export X_TOKEN={TOKEN}",
        "password": "hunter2",
        "pin": 1234,
        "db_password": 123456,
        "api_key": ["abc", "${KEY}"],
        "input": {"headers": {"Authorization": f"Bearer {TOKEN}"}, "max_tokens": 4096, "ok": True, "none": None},
        TOKEN: 1,
        "session_id": "0af7651916cd43dd8448eb211c80319c",
    }
    assert redactor.value(given_value) == {
        "command": "export X_TOKEN=[redacted:github-token]",
        "password": "[redacted:password]",
        "pin": 1234,
        "db_password": "[redacted:password]",
        "api_key": ["[redacted:key]", "${KEY}"],
        "input": {
            "headers": {"Authorization": "Bearer [redacted:github-token]"},
            "max_tokens": 4096,
            "ok": True,
            "none": None,
        },
        "[redacted:github-token]": 1,
        "session_id": "0af7651916cd43dd8448eb211c80319c",
    }
    assert redactor.redacted == 6


@given(
    st.recursive(
        TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["password", "a", "token"]) | TEXTS, inner, max_size=4)
        ),
        max_leaves=12,
    )
)
@settings(max_examples=200, deadline=None)
def test_values_redacted_twice_are_the_same(value: object) -> None:
    """Idempotence holds for JSON values too."""
    once = Redactor().value(value)
    assert Redactor().value(once) == once


def test_a_nesting_bomb_is_cut_and_not_fatal() -> None:
    """Nesting past the cap becomes a note instead of a RecursionError."""
    bomb: object = "x"
    for _ in range(5000):
        bomb = [bomb]
    assert "too-deep" in str(Redactor().value(bomb))


def test_nul_and_lone_surrogates_are_scrubbed_and_pairs_joined() -> None:
    """What no database and no encoder takes is replaced before anything else looks."""
    assert scrub("a\x00b\ud83dc") == "ab\ufffdc"
    assert scrub("\ud83d\ude00") == "\U0001f600"
    assert Redactor().text("gh\x00p_" + TOKEN[4:]) == "[redacted:github-token]"


HOSTILE = [
    "token:", "password=", 'secret="', "key: '", "Bearer ", "Authorization: Basic ", "Cookie: a=b; ", "://a:b@",
    "://", "curl -u a:b ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n",
    "<private ", "<private>", "</private>", "eyJ-", "eyJhbGciOiJIUzI1NiIs.", "sk-", "sk-1a-", "ghp_", "a_", "-",
    " ", "\t", "\\", '\\"', "a" * 19 + " ", "AKIA", "1:", "xoxb-1-", "[redacted:token]", "[redacted:", "mysql -p",
    " login -p x", "password is ", "password: str = ", "token&", "=", "MTEabcdefghijklmnopqrstuv.",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_hostile_text_costs_little_more_than_its_length(piece: str) -> None:
    """Half a megabyte of anything repeated takes CPU seconds in the order of its length: nothing is quadratic.

    Four times the text may cost at most about four times as much; the bound leaves room for a busy machine.
    """
    short, long = (piece * (size // len(piece) + 1) for size in (60_000, 480_000))
    assert _cpu(long) <= 20 * max(_cpu(short), 0.02)


def _cpu(text: str) -> float:
    started = time.process_time()
    Redactor().text(text)
    return time.process_time() - started


def test_text_is_cut_after_redaction() -> None:
    """Wherever the cut falls, no part of a secret is left of it."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    text = f"push with {key} please"
    for most in range(len(text)):
        short = Redactor().short(text, most)
        assert len(short) <= most and key[:8] not in short
