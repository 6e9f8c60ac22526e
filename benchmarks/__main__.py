"""``python -m benchmarks NAME [--data FOLDER] [--n N]``: progress on stderr, one JSON object as the last line."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

BENCHMARKS: Final[Mapping[str, str]] = {
    "abstain": "benchmarks.abstain",
    "ast": "benchmarks.ast",
    "attribution": "benchmarks.attribution",
    "beliefs": "benchmarks.beliefs",
    "budget": "benchmarks.budget",
    "cockpit": "benchmarks.cockpit",
    "conflict": "benchmarks.conflict",
    "corrections": "benchmarks.corrections",
    "cosqa": "benchmarks.cosqa",
    "client_start": "benchmarks.client_start",
    "context_latency": "benchmarks.context_latency",
    "devmembench": "benchmarks.devmembench",
    "digest": "benchmarks.digest",
    "effect": "benchmarks.effect",
    "embed": "benchmarks.embed",
    "extraction": "benchmarks.extraction",
    "glossary": "benchmarks.glossary",
    "hook": "benchmarks.hook",
    "idle": "benchmarks.idle",
    "ingest": "benchmarks.ingest",
    "late_history": "benchmarks.late_history",
    "lint": "benchmarks.lint",
    "live": "benchmarks.live",
    "llm": "benchmarks.llm",
    "locomo": "benchmarks.locomo",
    "long_messages": "benchmarks.long_messages",
    "mcp": "benchmarks.mcp",
    "model_extract": "benchmarks.model_extract",
    "near": "benchmarks.near",
    "precision": "benchmarks.precision",
    "readers": "benchmarks.readers",
    "redact": "benchmarks.redact",
    "rename": "benchmarks.rename",
    "render": "benchmarks.render",
    "rerank": "benchmarks.rerank",
    "retro": "benchmarks.retro",
    "replay": "benchmarks.replay",
    "swe_loc": "benchmarks.swe_loc",
    "symbols": "benchmarks.symbols",
    "sync": "benchmarks.sync",
    "threads": "benchmarks.threads",
    "topology": "benchmarks.topology",
    "worktree": "benchmarks.worktree",
}
"""Name to module; each has ``run(data: Path | None, n: int | None) -> dict`` with ``results``, ``floor`` and ``n``."""


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; without ``--n`` at the size of its bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted(BENCHMARKS))
    parser.add_argument("--data", type=Path, help="folder of the data set, for the benchmarks that need one")
    parser.add_argument("--n", type=int, help="size of the run, in the benchmark's own unit")
    chosen = parser.parse_args(arguments)
    print(f"{chosen.name}: starting", file=sys.stderr)
    answer = importlib.import_module(BENCHMARKS[chosen.name]).run(chosen.data, chosen.n)
    line = {"benchmark": chosen.name, "results": answer["results"], "floor": answer["floor"], "n": answer["n"]}
    print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
