"""How answers read: few tokens, every line with its id, status and date. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from flywheel.api import CodeAnswer, CodeHit, Hit, Proposed, SearchAnswer, Shown
from flywheel.text.tokens import clip, count

BUDGET: Final = 520
"""Tokens of an answer's text; the fence around it comes on top."""

LEVELS: Final = {"title": 80, "summary": 220, "body": BUDGET, "receipts": BUDGET}
"""Levels of one thing, and the tokens of each."""

_SAID: Final = {"prompt": "the user said", "reply": "the assistant said", "tool_result": "tool output"}
_LEAST: Final = 45  # tokens of a hit that is worth showing
_STATUS: Final = {"candidate": "unconfirmed", "disputed": "DISPUTED", "stale": "stale, check before relying on it"}


def found(answer: SearchAnswer, *, budget: int = BUDGET) -> str:
    """Hits, best first, as many as fit."""
    if not answer.hits:
        return f"Nothing found: {_reason(answer)}."
    lines = _packed([_hit(hit) for hit in answer.hits], budget)
    left = len(answer.hits) - len(lines)
    if left:
        lines.append(f"{left} more did not fit; ask a narrower question.")
    if answer.behind:
        lines.append(f"The index is {answer.behind} changes behind; ask again in a moment for the newest.")
    return "\n".join(lines)


def symbols(answer: CodeAnswer, *, budget: int = BUDGET) -> str:
    """Definitions: where each stands, and its signature."""
    if not answer.hits:
        return " ".join([f"No definition found: {_reason(answer)}.", *answer.notes])
    lines = _packed([_symbol(hit) for hit in answer.hits], budget)
    left = len(answer.hits) - len(lines)
    return "\n".join([*lines, *([f"{left} more did not fit."] if left else []), *answer.notes])


def thing(shown: Shown, level: str) -> str:
    """One thing at a level of `LEVELS`."""
    head = _titled(shown)
    loud = shown.facts.get("banner", "")
    head = f"{head}\n{loud}" if loud else head
    if level == "receipts":
        lines = _receipts(shown)
        return clip("\n".join([head, *(lines or ["No citation: this is evidence itself; get its body."])]), BUDGET)
    body = shown.body.strip()
    if level == "title" or not body:
        return clip(head, LEVELS["title"])
    if level == "summary":
        body = body.partition("\nTimeline:")[0].strip()
    told = "\n".join([head, body])
    cut = clip(told, LEVELS[level])
    more = {"summary": "body", "body": ""}[level]
    return cut if cut == told or not more else f"{cut}\nMore with level {more}."


def proposed(done: Proposed) -> str:
    """What became of a proposal."""
    return f"[fw:{done.short}] {done.message} Cited: {done.said_by}."


def _packed(lines: Sequence[str], budget: int) -> list[str]:
    """As many lines as fit, each within its even share of what is left; at least one."""
    kept: list[str] = []
    for number, line in enumerate(lines):
        left = budget - sum(count(one) + 1 for one in kept)
        if kept and left < _LEAST:
            break
        kept.append(clip(line, max(_LEAST, left // min(len(lines) - number, 5))))
    return kept


def _hit(hit: Hit) -> str:
    about = [_STATUS.get(hit.status, hit.status), hit.feedback, _day(hit.created_at)]
    if hit.kind == "entry":
        about.insert(0, hit.type.replace("_", " "))
        text = _line(hit.text)
        told = text if text.startswith(hit.title.rstrip("…")) else f"{hit.title}: {text}" if text else hit.title
    elif hit.kind == "message":
        about[:0] = [_SAID.get(hit.type, hit.type.replace("_", " ")), hit.agent]
        told = f"“{_line(hit.text)}”"
    else:
        about[:0] = [hit.type, hit.path]
        told = f"{hit.title}: {_line(hit.text)}"
    # what tells how far to trust it comes first, so that no cut loses it
    return f"- [fw:{hit.short}] ({', '.join(part for part in about if part)}) {_loud(hit)}{told}"


def _loud(hit: Hit) -> str:
    """What must be known before it is relied on. Of a dispute the text has both sides."""
    return f"{hit.banner} " if hit.banner and hit.status != "disputed" else ""


def _symbol(hit: CodeHit) -> str:
    told = f"{hit.kind} {hit.name}"
    more = [one for one in (hit.banner, _line(hit.signature), _line(hit.doc)) if one not in ("", told, hit.name)]
    return "\n  ".join([f"- {hit.path}:{hit.line} {told} [fw:{hit.short}]", *more])


def _titled(shown: Shown) -> str:
    facts = shown.facts
    status = facts.get("status", "")
    about = [
        shown.kind if shown.kind != "entry" else facts.get("type", "").replace("_", " "),
        _STATUS.get(status, status),
        facts.get("who", ""),
        facts.get("where", "") or facts.get("path", ""),
        (facts.get("updated", "") or facts.get("when", "") or facts.get("from", "") or facts.get("recorded", ""))[:10],
        f"only {facts['scope']}" if facts.get("scope") else "",
        facts.get("feedback", ""),
    ]
    return f"[fw:{shown.short}] ({', '.join(part for part in about if part)}) {shown.title}"


def _receipts(shown: Shown) -> list[str]:
    lines = [
        f"- “{_line(one.quote)}” — "
        + ", ".join(part for part in (one.said_by, one.agent, _day(one.at), _session(one.session_id)) if part)
        for one in shown.receipts
    ]
    return [*lines, *(f"→ {_line(link)}" for link in shown.links)]


def _session(id: str) -> str:
    return f"session [fw:{id[:6]}]" if id else ""


def _reason(answer: SearchAnswer | CodeAnswer) -> str:
    reasons = {"below the floor": "nothing relevant enough", "": "no match"}
    return reasons.get(answer.reason, answer.reason)


def _line(text: str) -> str:
    return " ".join(text.split())


def _day(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d") if micros else ""
