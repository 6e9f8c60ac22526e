"""How fast secrets are taken out of transcript-like text on one core, against one pass of a compiled alternation."""

from __future__ import annotations

import random
import re
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from flywheel.text.redact import Redactor

ROUNDS: Final = 5
_FLOOR: Final = re.compile(
    "token|secret|password|api_key|credential|authorization|cookie|bearer|AKIA|ghp_|glpat-|xoxb|sk-|eyJ|AIza|npm_|://"
)
_WORDS: Final = tuple(
    """
    the a to of and in is it that for on with as this we be are not have if you can so do but from at or an by will use
    should test file error because add change run when then check code function value return type name new old line call
    path build parse query index import module config server client request response user session cache first second
    before after result input output list string number data table column row schema migration release branch commit
    review merge deploy worker queue retry timeout socket thread process memory disk model search rank score filter page
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_LOUD: Final = (
    *("token", "tokens", "key", "keys", "password", "secret", "pass", "authentication", "api key", "auth"),
    *("author", "monkey", "compass", "passed", "keyboard"),
)
"""What a prefilter must stop at: one word in fifty, so 4,000 a megabyte of prose.

The source of a web API's client, where they are at home, has 1,600 a megabyte.
"""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` is megabytes (default 16). ``data`` may name a folder whose text files replace the standard library's."""
    texts = list(corpus(data or Path(sysconfig.get_paths()["stdlib"]), (n or 16) * 1_000_000))
    size = sum(map(len, texts)) / 1e6
    redactor = Redactor()
    taken, floor = _seconds(texts, redactor.text), _seconds(texts, lambda text: _FLOOR.findall(text))
    return {
        "results": {"mb_per_s": round(size / taken, 1), "ratio": round(taken / floor, 2)},
        "floor": {"mb_per_s": round(size / floor, 1)},
        "n": round(size),
    }


def _seconds(texts: Sequence[str], act: Callable[[str], object]) -> float:
    """CPU seconds for all texts, median of `ROUNDS`."""
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for text in texts:
            act(text)
        rounds.append(time.process_time() - started)
    return statistics.median(rounds)


def corpus(code: Path, size: int) -> Iterator[str]:
    """About ``size`` characters as messages have them: half code that was read, a quarter prose, a quarter output.

    One message in thirty holds a secret.
    """
    rng = random.Random(11)
    files = sorted(path for path in code.rglob("*.py") if path.is_file() and "site-packages" not in path.parts)
    made = 0
    while made < size:
        kind = rng.random()
        length = int(rng.lognormvariate(7.2, 1.0)) + 40
        if kind < 0.45:
            text = _code(rng, files, length)
        else:
            text = _prose(rng, length) if kind < 0.75 else _output(rng, length)
        if rng.random() < 1 / 30:
            text += f"\nexport SERVICE_TOKEN=ghp_{''.join(rng.choices('abcXYZ0123456789', k=36))}\n"
        made += len(text)
        yield text


def _code(rng: random.Random, files: Sequence[Path], length: int) -> str:
    source = rng.choice(files).read_text("utf-8", "replace")
    start = rng.randrange(max(1, len(source) - length))
    lines = source[start : start + length].split("\n")
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, rng.randrange(1, 900)))


def _prose(rng: random.Random, length: int) -> str:
    words = [rng.choice(_LOUD) if rng.random() < 0.02 else word for word in rng.choices(_WORDS, k=length // 5)]
    return "".join(word + (". " if at % 13 == 12 else " ") for at, word in enumerate(words))


def _output(rng: random.Random, length: int) -> str:
    lines = []
    for _ in range(length // 90 + 1):
        digest = f"{rng.getrandbits(160):040x}"
        lines.append(
            rng.choice(
                (
                    f"{digest[:7]} {digest} Fix the {rng.choice(_WORDS)} of the {rng.choice(_WORDS)}",
                    f"tests/unit/test_{rng.choice(_WORDS)}_{rng.choice(_WORDS)}.py::test_it_{digest[:5]} PASSED [ 42%]",
                    f'{{"id": "{digest[:8]}-{digest[8:12]}", "token_count": 4{digest[0]}, "key": "abc"}}',
                    f'      "integrity": "sha512-{digest}{digest.upper()}==",',
                    f"2026-03-02T09:15:01.{rng.randrange(999):03}Z INFO worker[{rng.randrange(9999)}] took 12.5 ms",
                    f"https://example.org/{rng.choice(_WORDS)}/{digest[:10]}?page=2&sort=key",
                )
            )
        )
    return "\n".join(lines)
