"""What reranking costs besides the model: searches with a server that answers at once, against the same without.

The quality that a cross-encoder brings is not measured here: that needs weights.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from flywheel import app
from flywheel.app import App, open_parts
from flywheel.config import Places, parse_config

SEARCHES: Final = 200
"""Searches of each kind."""

NOTES: Final = 60
"""Documents that are searched, all of which are found."""


class _Weighing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["documents"]
        rows = [{"index": at, "relevance_score": -at} for at in range(len(given))]
        body = json.dumps({"results": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _server() -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Weighing)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n``: searches of each kind."""
    many = n or SEARCHES
    with tempfile.TemporaryDirectory() as made, _server() as url:
        folder = Path(made)
        (folder / "notes").mkdir()
        plain, asked = _times(folder, url, many)
    median, slow = statistics.median(plain), statistics.median(asked)
    results = {
        "search_ms": round(median * 1e3, 2),
        "reranked_ms": round(slow * 1e3, 2),
        "added_ms": round((slow - median) * 1e3, 2),
        "ratio": round(slow / median, 2),
    }
    return {"results": results, "floor": {"search_ms": results["search_ms"]}, "n": many}


def _times(folder: Path, url: str, many: int) -> tuple[list[float], list[float]]:
    """Seconds of each search, without and with, turn by turn."""
    places = Places(config=folder / "flywheel.toml", data=folder / "data", run=folder / "run")
    settings: dict[str, Any] = {"store": {"url": f"sqlite://{folder / 'flywheel.db'}"}, "embed": {"model": "none"}}
    parts = open_parts(parse_config(settings), places, {}, folder)
    bare = App(parts)
    cwd = str(folder / "notes")
    for at in range(NOTES):
        bare.note(text=f"The tide gauge number {at} of Dover is read every {at + 2} hours by the crew.", cwd=cwd)
    app.settle_all(parts)
    parts.config = parse_config(settings | {"search": {"rerank": "http", "rerank_url": url, "rerank_seconds": 5.0}})
    helped = App(parts)
    spent: dict[App, list[float]] = {bare: [], helped: []}
    for at in range(many + 3):
        for one in (bare, helped):
            began = time.perf_counter()
            hits = one.search(query=f"tide gauge {at % NOTES} of Dover", cwd=cwd, kinds=["document"], limit=20).hits
            spent[one].append(time.perf_counter() - began)
            if not hits or (one is helped) is not any("reranked" in hit.why for hit in hits):
                raise SystemExit("the hits are not what they should be")
    for one in (bare, helped):
        one.close()
    parts.close()
    return spent[bare][3:], spent[helped][3:]
