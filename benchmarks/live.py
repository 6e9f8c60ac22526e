"""How soon a session in progress is searchable: from a line being written to the search that finds it, per agent."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.daemon import Running, running_daemon
from benchmarks.talk import TALK

LINES: Final = 10
"""Lines of each agent when ``n`` is not given."""

_WORDS: Final = ("otter", "heron", "lynx", "badger", "marten", "stoat", "kestrel", "osprey", "plover", "curlew")
_PATIENCE: Final = 60.0


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` lines of each agent; seconds until `search` finds each, the agent's first line with them. ``data`` unused.

    Floor: the same search when the message is there.
    """
    results: dict[str, float] = {}
    asked: list[float] = []
    with running_daemon() as running:
        checkout = running.home / "app"
        subprocess.run(["git", "init", "-q", str(checkout)], check=True)
        for agent, say in TALK.items():
            waits = []
            for number in range(n or LINES):
                words = f"The {_WORDS[number % len(_WORDS)]} of {agent} number{agent}{number} is ready"
                say(running.home, checkout, number, words)
                waits.append(_found_after(running, f"number{agent}{number}", asked))
            waits.sort()
            results |= {f"{agent}_p50_s": round(waits[len(waits) // 2], 2), f"{agent}_max_s": round(waits[-1], 2)}
            print(f"{agent}: median {waits[len(waits) // 2]:.2f} s, longest {waits[-1]:.2f} s", file=sys.stderr)
    results["worst_s"] = max(value for name, value in results.items() if name.endswith("_max_s"))
    asked.sort()
    return {"results": results, "floor": {"search_ms": round(asked[len(asked) // 2] * 1000, 2)}, "n": n or LINES}


def _found_after(running: Running, word: str, asked: list[float]) -> float:
    """Seconds until a message with the word is found."""
    began = time.perf_counter()
    while True:
        before = time.perf_counter()
        found = running.client.search(query=word, everywhere=True, kinds=["message"]).hits
        after = time.perf_counter()
        if any(word in hit.text for hit in found):
            asked.append(after - before)
            return before - began
        if after - began > _PATIENCE:
            raise RuntimeError(f"{word} was not found within {_PATIENCE:.0f} s")
        time.sleep(0.05)
