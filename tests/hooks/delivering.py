"""Events of every agent delivered to a hook entry over a memory of a few ids; payloads in the shapes that were seen."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flywheel.api import Briefing, Item, Slice
from flywheel.hooks.events import HookDeps, Hooks
from flywheel.hooks.moment import Action
from flywheel.model import Micros
from flywheel.text.redact import Redactor

START, ASK = "what is known", "what bears on it"
"""The texts of the two kinds of briefing."""

WHY = "why was redis dropped"
"""A prompt that asks something."""


def briefing(*ids: str, text: str = START) -> Briefing:
    """A briefing of that text with one item per id; empty without ids."""
    items = [Item(kind="entry", id=i, short=i[:6], level="title", text=i, tokens=1) for i in ids]
    part = Slice(source="entries", items=items, tokens=len(ids), share=10)
    return Briefing(
        id="b", project_id="p", project="shop", text=text if ids else "", tokens=1, budget=9, slices=[part], micros=1
    )


@dataclass
class Desk:
    """The hook entry, with a clock that stands still until told."""

    starts: list[str] = field(default_factory=lambda: ["e1"])  # ids that a start tells
    asks: list[str] = field(default_factory=lambda: ["e2"])  # ids that a prompt is told
    roots: Sequence[Path] = ()
    suffixes: tuple[str, ...] = (".jsonl", ".json", ".db")
    asked: list[tuple[str, str]] = field(default_factory=list)  # agent and query of each briefing
    ledger: dict[str, list[str]] = field(default_factory=dict)
    now: int = 1_000_000_000
    hooks: Hooks = field(init=False)

    def __post_init__(self) -> None:
        self.hooks = Hooks(
            HookDeps(
                assemble=self._assemble,
                injected=lambda session: self.ledger.get(session, []),
                roots=lambda agent: self.roots,
                redact=Redactor(),
                now=lambda: Micros(self.now),
                reads=lambda agent, path: path.suffix in self.suffixes,
            )
        )

    def _assemble(
        self, *, cwd: str, query: str, agent: str, budget: int | None, session: str, exclude: Collection[str]
    ) -> Briefing:
        self.asked.append((agent, query))
        known = self.asks if query else self.starts
        return briefing(*(i for i in known if i not in exclude), text=ASK if query else START)

    def send(self, agent: str, event: str, payload: Mapping[str, object], host: str = "") -> bytes:
        """Deliver it; the answer."""
        return self.deliver(agent, event, payload, host)[0]

    def deliver(
        self, agent: str, event: str, payload: Mapping[str, object], host: str = ""
    ) -> tuple[bytes, Sequence[Action]]:
        """Deliver it; the answer and what it sets going."""
        return self.hooks.handle(agent, event, json.dumps(payload).encode(), host=host)

    def work(self, agent: str, event: str, payload: Mapping[str, object], host: str = "") -> list[str]:
        """Deliver it; the kinds of what it sets going."""
        return [type(action).__name__ for action in self.deliver(agent, event, payload, host)[1]]

    def later(self, seconds: float = 60) -> None:
        """Let time pass."""
        self.now += int(seconds * 1_000_000)


def codex(event: str, **more: object) -> dict[str, object]:
    """What Codex CLI 0.171 sends."""
    base: dict[str, object] = {
        "session_id": "01a22b5d-539a",
        "transcript_path": None,
        "cwd": "/w/shop",
        "hook_event_name": event,
        "model": "gpt-x",
        "permission_mode": "bypassPermissions",
    }
    return base | more


def gemini(event: str, **more: object) -> dict[str, object]:
    """What Gemini CLI 0.61 sends."""
    base: dict[str, object] = {
        "session_id": "7aed996d-688b",
        "transcript_path": "/h/.gemini/tmp/shop/chats/session-7aed996d.jsonl",
        "cwd": "/w/shop",
        "hook_event_name": event,
        "timestamp": "2026-11-30T07:31:15.634Z",
    }
    return base | more


def cursor(event: str, **more: object) -> dict[str, object]:
    """What Cursor sends; Claude Code's hooks get the same."""
    base: dict[str, object] = {
        "conversation_id": "c-1",
        "generation_id": "g-1",
        "model": "m",
        "session_id": "c-1",
        "hook_event_name": event,
        "cursor_version": "2026.09.02",
        "workspace_roots": ["/w/shop"],
        "user_email": "nobody@example.invalid",
        "transcript_path": None,
    }
    return base | more


def copilot(**more: object) -> dict[str, object]:
    """What Copilot CLI 1.0.102 sends to an entry in camelCase."""
    return {"sessionId": "0b4af309", "timestamp": 1_796_023_786_628, "cwd": "/w/shop"} | more


def pascal(event: str, **more: object) -> dict[str, object]:
    """What Copilot CLI 1.0.102 sends to an entry in PascalCase, as in Claude Code's settings of a project."""
    base: dict[str, object] = {
        "hook_event_name": event,
        "session_id": "0b4af309",
        "timestamp": "2026-11-30T07:29:46.628Z",
        "cwd": "/w/shop",
    }
    return base | more


def vscode(event: str, **more: object) -> dict[str, object]:
    """What VS Code sends."""
    base: dict[str, object] = {
        "timestamp": "2026-11-30T07:29:46.628Z",
        "cwd": "/w/shop",
        "sessionId": "v-1",
        "hookEventName": event,
        "transcript_path": "/h/.config/Code/x.json",
    }
    return base | more


def claude(event: str, **more: object) -> dict[str, object]:
    """What Claude Code sends."""
    base: dict[str, object] = {
        "session_id": "s1",
        "transcript_path": "/h/.claude/projects/-w-shop/s1.jsonl",
        "cwd": "/w/shop",
        "hook_event_name": event,
        "permission_mode": "default",
    }
    return base | more


def opencode(event: str, **more: object) -> dict[str, object]:
    """What our plugin sends."""
    base: dict[str, object] = {
        "hook_event_name": event,
        "hook_source": "flywheel",
        "session_id": "ses_1",
        "cwd": "/w/shop",
        "parent_id": "",
    }
    return base | more
