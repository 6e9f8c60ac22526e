"""Extraction by models that answer perfectly: is everything applied exactly, and what part of a transcript is sent?

The models are a server on loopback: for our own talks it gives the operations of a perfect pair (`model_gold`),
and some that do not hold; for the transcripts in the data folder the router picks everything, which is the dearest it
can be. Tokens are those of the whole request as it came over the wire (instructions, tool and records), by our counter.
Floor: sending each session's messages once.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from benchmarks.model_gold import TALKS, Gold, Talk
from flywheel.app import App, open_parts, settle_all
from flywheel.config import Places, parse_config
from flywheel.harvest.models import worker
from flywheel.jobs.kinds import EXTRACT_MODEL
from flywheel.model import Claim, Edge, Entry, Job, Micros, ModelRead, Session
from flywheel.store.mapper import find
from flywheel.text.tokens import count

LONG: Final = 4_000
"""Tokens of a session from which on the fixed words of two calls should not matter."""

BAR: Final = 0.25
"""The part of a transcript's own tokens that both passes may take as input."""


@dataclass(slots=True)
class Models:
    """Both models; ``gold`` are the operations of the talk that is read."""

    url: str = ""
    gold: Sequence[Gold] = ()
    shorts: dict[str, str] = field(default_factory=dict)
    sent: int = 0
    calls: int = 0

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What the model that is asked says."""
        prompt = str(body["messages"][0]["content"])
        words = [str(body["system"][0]["text"]), prompt, json.dumps(body["tools"])]
        self.sent += sum(map(count, words))
        self.calls += 1
        records = [line for line in prompt.split("\n") if line.startswith("#")]
        if body["tools"][0]["name"] == "route":
            pages = [line[4:].split("]")[0] for line in prompt.split("\n") if line.startswith("[fw:")]
            return {"spans": [{"first": 1, "last": len(records), "touches": pages[:6]}] if records else []}
        return {"operations": [self._operation(one) for one in self.gold]}

    def _operation(self, one: Gold) -> dict[str, Any]:
        named = {name: self.shorts.get(getattr(one, name), getattr(one, name)) for name in ("page", "other")}
        cites = [{"n": number, "quote": quote} for number, quote in one.cites]
        told = {"op": one.op, "statement": one.statement, "type": one.type, "cites": cites, **named}
        return {name: value for name, value in (told | {"kind": one.kind}).items() if value}


@contextmanager
def _serving(models: Models) -> Iterator[None]:
    class Asked(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
            value = models.answer(body)
            block = {"type": "tool_use", "id": "toolu_1", "name": body["tools"][0]["name"], "input": value}
            told = {
                "id": "m", "type": "message", "role": "assistant", "model": body["model"], "content": [block],
                "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
            }  # fmt: skip
            raw = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    server.daemon_threads = True
    models.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Both parts; without ``data`` only the first. ``n``: transcripts at most."""
    models = Models()
    with tempfile.TemporaryDirectory(prefix="flywheel-models-") as folder, _serving(models):
        exact = _exact(Path(folder, "gold"), models)
        cost = _cost(Path(folder, "cost"), models, data, n) if data is not None else {}
    sessions = cost.pop("sessions", 0)
    return {"results": {**exact, **cost}, "floor": {"input_share": 1.0}, "n": sessions or exact["operations"]}


def _open(folder: Path, models: Models, *, pays: bool) -> App:
    llm = {"provider": "anthropic", "url": models.url, "day_usd": -1, "month_usd": -1}
    extract = {"model_days": 0} if pays else {"model_days": 0, "model_share": 0.0}
    config = parse_config({"embed": {"model": "none", "code": "none"}, "llm": llm, "extract": extract})
    places = Places(config=folder / "f.toml", data=folder / "data", run=folder / "run")
    return App(open_parts(config, places, {"ANTHROPIC_API_KEY": "none"}, folder / "user"))


def _exact(folder: Path, models: Models) -> dict[str, Any]:
    """Read talks of our own and look whether each operation is where it belongs."""
    app = _open(folder, models, pays=False)
    hit = {"applied": 0, "operations": 0, "refused": 0, "to_refuse": 0}
    for talk in TALKS:
        session = _import(app, folder, talk)
        models.gold = talk.gold
        models.shorts = {str(one.title): one.short for one in _all(app, Entry)}
        models.shorts |= {
            page: next(short for title, short in models.shorts.items() if page in title) for page in talk.pages
        }
        _read(app, session)
        (row,) = [one for one in _all(app, ModelRead) if one.source_id == session.id]
        models.shorts |= _made(app, talk)
        for gold in talk.gold:
            if gold.dropped:
                hit["to_refuse"] += 1
            else:
                hit["operations"] += 1
                hit["applied"] += _is_there(app, gold, models.shorts)
        hit["refused"] += sum(int(str(many)) for many in row.dropped.values())
    cited, verified = _citations(app)
    confirmed = sum(one.status.value == "confirmed" for one in _all(app, Entry))
    app.close()
    app.parts.close()
    share = 100 * hit["applied"] / hit["operations"]
    return {
        **hit,
        "applied_percent": round(share, 1),
        "citations": cited,
        "citations_verified": verified,
        "confirmed": confirmed,
    }


def _made(app: App, talk: Talk) -> dict[str, str]:
    """The short ids of what the operations of a talk created, by ``op:N``."""
    entries = {one.id: one.short for one in _all(app, Entry)}
    texts = {str(one.text): entries[one.entry_id] for one in _all(app, Claim)}
    return {f"op:{at}": texts[one.statement] for at, one in enumerate(talk.gold, 1) if one.statement in texts}


def _import(app: App, folder: Path, talk: Talk) -> Session:
    """A talk as a transcript of the generic form, read by the rules."""
    path = folder / f"{talk.name}.json"
    said = [
        {"role": role, "content": text, "timestamp": f"2026-03-01T10:{at:02d}:00Z"}
        for at, (role, text) in enumerate(talk.turns)
    ]
    path.write_text(json.dumps({"id": talk.name, "cwd": str(folder / "shop"), "messages": said}), "utf-8")
    app.import_path(path=str(path))
    settle_all(app.parts)
    with app.parts.db.read() as tx:
        return find(tx, Session, "WHERE native_id = :name", name=talk.name)[0]


def _read(app: App, session: Session) -> None:
    job = Job(
        id="m", kind=EXTRACT_MODEL, key=session.id, project_id=session.project_id, run_after=Micros(0),
        created_at=Micros(0), updated_at=Micros(0),
    )  # fmt: skip
    worker.run(job, app.parts.deps(lambda: False, lambda doing: None))


def _all(app: App, cls: type[Any]) -> list[Any]:
    with app.parts.db.read() as tx:
        return find(tx, cls, "")


def _is_there(app: App, gold: Gold, shorts: Mapping[str, str]) -> bool:
    """Whether the store holds what the operation asks for, as a candidate with its speaker's type."""
    claims = [one for one in _all(app, Claim) if one.text == gold.statement]
    if gold.op in ("create", "update", "supersede", "question"):
        fits = [one for one in claims if one.type.value == gold.found and one.status.value == "candidate"]
        if not fits:
            return False
    entries = {one.id: one for one in _all(app, Entry)}
    page = shorts.get(gold.page, "")
    if gold.op == "update":
        return any(entries[one.entry_id].short == page for one in claims)
    if gold.op == "question":
        return any(entries[one.entry_id].short == page and one.attribute == "question" for one in claims)
    kinds = {"link": (gold.kind,), "supersede": ("contradicts", "supersedes")}.get(gold.op)
    if kinds is None:
        return True
    target = shorts.get(gold.other, "") if gold.op == "link" else page
    return any(one.kind.value in kinds and entries[one.target_id].short == target for one in _all(app, Edge))


def _citations(app: App) -> tuple[int, int]:
    """How many citations there are, and how many of them read in the store as they are quoted."""
    with app.parts.db.read() as tx:
        rows = tx.all(
            "SELECT c.quote, substr(m.text, c.start + 1, c.stop - c.start) FROM citation c"
            " JOIN message m ON m.id = c.message_id"
        )
    return len(rows), sum(quote == text for quote, text in rows)


def _cost(folder: Path, models: Models, data: Path, n: int | None) -> dict[str, Any]:
    """Read the transcripts and compare what was sent with what they hold."""
    app = _open(folder, models, pays=True)
    for path in sorted(data.resolve().rglob("*.jsonl"))[: n or None]:
        app.import_path(path=str(path))
    settle_all(app.parts)
    models.gold = ()
    with app.parts.db.read() as tx:
        texts: dict[str, int] = {}
        for id, text in tx.all("SELECT session_id, text FROM message"):
            texts[id] = texts.get(id, 0) + count(text)
    usual = _shares(app, models, texts)
    config = app.parts.config
    app.parts.config = replace(config, extract=replace(config.extract, model_least=0))
    bound = _again(app, models, texts)
    app.parts.config = replace(config, extract=replace(config.extract, model_least=0, model_share=0.0))
    every = _again(app, models, texts)
    app.close()
    app.parts.close()
    own = sum(texts.values())
    long = [(mine, sent) for mine, sent in every if mine >= LONG]
    asked = [sent / mine for mine, sent in bound if sent]
    return {
        "sessions": len(usual),
        "asked": sum(sent > 0 for _, sent in usual),
        "transcript_tokens": own,
        "input_tokens": sum(sent for _, sent in usual),
        "input_share": round(sum(sent for _, sent in usual) / max(1, own), 4),
        "within_bar": all(sent <= BAR * mine for mine, sent in [*usual, *bound]),
        "asked_where_it_pays": len(asked),
        "worst_share_where_it_pays": round(max(asked, default=0.0), 4),
        "share_if_all_were_asked": round(sum(sent for _, sent in every) / max(1, own), 4),
        "long_sessions": len(long),
        "worst_share_of_long_if_all_were_asked": round(max((sent / mine for mine, sent in long), default=0.0), 4),
    }


def _again(app: App, models: Models, texts: Mapping[str, int]) -> list[tuple[int, int]]:
    """The same, as if nothing had been read."""
    with app.parts.db.write() as tx:
        tx.run("DELETE FROM model_read")
    return _shares(app, models, texts)


def _shares(app: App, models: Models, texts: Mapping[str, int]) -> list[tuple[int, int]]:
    """Of each session its own tokens, and those that were sent for it."""
    found: list[tuple[int, int]] = []
    for session in _all(app, Session):
        models.sent = 0
        _read(app, session)
        if texts.get(session.id):
            found.append((texts[session.id], models.sent))
    return found
