"""Rows of opencode's databases as the source gives them: parts of the first generation, session after session."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from benchmarks.transcripts import vocabulary

_TOOLS = ("bash", "read", "grep", "edit", "glob")


class Talk:
    """One session that never ends: turns of a prompt, steps with their tools, and a reply."""

    def __init__(self, seed: int = 1) -> None:
        self._rng = random.Random(seed)
        self._words = vocabulary(self._rng)
        self.now = 1_780_000_000_000  # milliseconds
        self._count = 0
        self.session = self.id("ses")

    def id(self, kind: str) -> str:
        """An identifier as opencode makes them: ascending."""
        self._count += 1
        tail = "".join(self._rng.choices("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", k=14))
        return f"{kind}_{self.now * 4096 + self._count & 0xFFFFFFFFFFFF:012x}{tail}"

    def prose(self, words: int) -> str:
        """Some words."""
        return " ".join(self._rng.choices(self._words, k=max(1, int(self._rng.gauss(words, words / 4)))))

    def turn(self) -> Iterator[tuple[str, Mapping[str, Any], list[Mapping[str, Any]]]]:
        """Messages of one turn: id, the message's own object, and its parts' objects."""
        prompt = self.id("msg")
        yield prompt, self._user(), [{"type": "text", "text": self.prose(120)}]
        for _ in range(self._rng.randint(3, 9)):
            yield self.id("msg"), self._assistant(prompt, "tool-calls"), self._step()
        reply = {"type": "text", "text": self.prose(480), "time": self._span()}
        parts: list[Mapping[str, Any]] = [{"type": "step-start"}, reply, self._finish("stop")]
        yield self.id("msg"), self._assistant(prompt, "stop"), parts

    def _user(self) -> Mapping[str, Any]:
        model = {"providerID": "stub", "modelID": "model-1"}
        return {"role": "user", "time": {"created": self._tick()}, "agent": "build", "model": model}

    def _assistant(self, parent: str, finish: str) -> Mapping[str, Any]:
        return {
            "parentID": parent, "role": "assistant", "mode": "build", "agent": "build", "cost": 0.01,
            "path": {"cwd": "/home/dev/app", "root": "/home/dev/app"}, "modelID": "model-1", "providerID": "stub",
            "tokens": {"input": 900, "output": 120, "reasoning": 0, "cache": {"read": 8000, "write": 10}},
            "time": {"created": self._tick(), "completed": self._tick(900)}, "finish": finish,
        }  # fmt: skip

    def _step(self) -> list[Mapping[str, Any]]:
        rng = self._rng
        parts: list[Mapping[str, Any]] = [{"snapshot": f"{rng.getrandbits(160):040x}", "type": "step-start"}]
        if rng.random() < 0.5:
            parts.append({"type": "reasoning", "text": self.prose(230), "time": self._span()})
        if rng.random() < 0.5:
            parts.append({"type": "text", "text": self.prose(210), "time": self._span()})
        parts += [self._tool() for _ in range(rng.choice((1, 1, 2)))]
        return [*parts, self._finish("tool-calls")]

    def _tool(self) -> Mapping[str, Any]:
        tool, path = self._rng.choice(_TOOLS), f"/home/dev/app/src/{self.prose(1)}.py"
        output = "\n".join(self.prose(9) for _ in range(self._rng.randint(5, 270)))
        arguments: dict[str, Any] = {"filePath": path}
        metadata: dict[str, Any] = {"truncated": False}
        if tool == "bash":
            arguments = {"command": f"pytest -q {path}", "description": self.prose(4)}
            metadata = {"output": output, "exit": int(self._rng.random() < 0.2), "truncated": False}
        elif tool == "edit":
            arguments |= {"oldString": self.prose(30), "newString": self.prose(30)}
            output = "Edit applied successfully."
            metadata["diff"] = self.prose(80)
        elif tool in ("grep", "glob"):
            arguments = {"pattern": self.prose(1), "path": "/home/dev/app"}
        state = {"status": "completed", "input": arguments, "output": output, "title": path, "metadata": metadata}
        call = f"call_{self._rng.getrandbits(48):012x}"
        return {"type": "tool", "tool": tool, "callID": call, "state": {**state, "time": self._span()}}

    def _finish(self, reason: str) -> Mapping[str, Any]:
        tokens = {"total": 9000, "input": 900, "output": 120, "reasoning": 0, "cache": {"read": 8000, "write": 10}}
        snapshot = f"{self._rng.getrandbits(160):040x}"
        return {"reason": reason, "snapshot": snapshot, "type": "step-finish", "tokens": tokens, "cost": 0.01}

    def _span(self) -> Mapping[str, int]:
        return {"start": self._tick(), "end": self._tick(300)}

    def _tick(self, most: int = 2000) -> int:
        self.now += self._rng.randint(1, most)
        return self.now


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """Rows as the query for parts gives them."""
    talk = Talk(seed)
    about = {"parent": None, "title": "Tides", "directory": "/home/dev/app", "version": "1.18.33", "began": talk.now}
    facts, base, row = orjson.dumps(about).decode(), 0, 0
    while True:
        for id, message, parts in talk.turn():
            own = orjson.dumps(message).decode()
            for index, part in enumerate(parts):
                row += 1
                yield {
                    "mark": talk.now << 20 | row, "session": talk.session, "message": id, "id": talk.id("prt"),
                    "made": talk.now, "place": base + 2 * index, "later": 1, "reverted": 0, "again": 0,
                    "last": int(index == len(parts) - 1), "first": int(index == 0), "images": 0, "about": own,
                    "data": orjson.dumps(part).decode(), "facts": facts, "table": "part",
                }  # fmt: skip
            base += 24
