"""Makes transcripts shaped like real ones: the record kinds of today's Claude Code, their sizes, their repetition.

About 3.5 kB a line; 15 % of the bytes are message text, and 70 % of that is tool output. The rest is what the client
repeats: request logs, prompt snapshots, attachments, the rich form of tool results.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import orjson

_STEPS: Final = 6  # tool calls of a turn
_SNAPSHOT: Final = 52_000  # characters
_SHAPE: Final = 36_000
_OUTPUT: Final = 2_950
_PROSE: Final = 860
_START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
_SYLLABLES: Final = (
    "ka",
    "lo",
    "mi",
    "ren",
    "tu",
    "sha",
    "vel",
    "do",
    "pin",
    "gra",
    "ze",
    "fo",
    "ny",
    "bel",
    "ast",
    "or",
)


@dataclass(slots=True)
class Writer:
    """Writes the lines of one session. The same seed gives the same bytes."""

    rng: random.Random
    words: list[str]
    session: str
    cwd: str
    files: list[str]  # of the checkout
    now: datetime = _START
    parent: str | None = None
    message_chars: int = 0
    output_chars: int = 0
    lines: list[bytes] = field(default_factory=list)

    def turn(self) -> None:
        """A prompt, some steps with a tool each, the answer, and everything that the client writes beside."""
        prompt = self.prose(400)
        self.aside("queue-operation", operation="enqueue", timestamp=self.stamp(), content=prompt)
        self.aside("queue-operation", operation="dequeue", timestamp=self.stamp())
        self.attachment("hook_additional_context", content=[self.text(700)])
        self.chain("user", message={"role": "user", "content": prompt}, promptSource="typed", rowSource="local")
        self.attachment("prompt_snapshot", systemPrompt=[self.text(_SNAPSHOT // 8) for _ in range(8)])
        self.aside("last-prompt", lastPrompt=prompt[:120], leafUuid=self.parent)
        if self.rng.random() < 0.5:
            self.aside("api-request-shape", shapeHash=self.hex(64), shape={"system": [], "tools": self.text(_SHAPE)})
        for _ in range(_STEPS):
            self.step()
        self.assistant({"type": "text", "text": self.prose(_PROSE)})
        self.chain("system", subtype="stop_hook_summary", hookCount=1, hookInfos=[], hookErrors=[], level="suggestion")
        self.aside("cost-state", totalCostUSD=0.2, modelUsage={"m": {"inputTokens": 5, "note": self.text(350)}})

    def step(self) -> None:
        """One request: thinking, a tool's call, its output, and the request's log."""
        call = f"toolu_{self.hex(24)}"
        output = self.output()
        command = self.text(60)
        self.aside(
            "api-request", id=self.hex(32), timestamp=self.stamp(), params={"betas": [], "note": self.text(1000)}
        )
        name = f"msg_{self.hex(24)}"
        self.assistant({"type": "thinking", "thinking": self.prose(_PROSE), "signature": self.hex(200)}, name)
        source = self.parent
        self.assistant({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}, name)
        block = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}
        rich = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        content = {"role": "user", "content": [block]}
        self.chain("user", message=content, toolUseResult=rich, sourceToolAssistantUUID=source)
        self.aside("api-request-blob", hash=self.hex(64), message=content)
        self.aside("tools-used", tools=["Bash"])
        self.aside("atis-latch", atis="")

    def assistant(self, block: dict[str, Any], name: str = "") -> None:
        """One block of the assistant's side; blocks of one API message have its name."""
        usage = {
            "input_tokens": 12_000,
            "output_tokens": 40,
            "cache_read_input_tokens": 9_000,
            "service_tier": "standard",
        }
        name = name or f"msg_{self.hex(24)}"
        message = {"id": name, "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": [block],
                   "stop_reason": None, "usage": usage}  # fmt: skip
        self.chain("assistant", message=message, requestId=f"req_{self.hex(24)}", effort="medium")

    def attachment(self, kind: str, **fields: Any) -> None:
        """What the client attached."""
        self.chain("attachment", attachment={"type": kind, **fields}, rendered=[{"content": self.text(300)}])

    def chain(self, kind: str, **fields: Any) -> None:
        """A record of the conversation."""
        name = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        record = {"parentUuid": self.parent, "isSidechain": False, "type": kind, **fields, "uuid": name,
                  "timestamp": self.stamp(), "userType": "external", "entrypoint": "cli", "cwd": self.cwd,
                  "sessionId": self.session, "version": "2.1.332", "gitBranch": "main"}  # fmt: skip
        self.parent = name
        self.lines.append(orjson.dumps(record))

    def aside(self, kind: str, **fields: Any) -> None:
        """A record beside it."""
        self.lines.append(orjson.dumps({"type": kind, "sessionId": self.session, **fields}))

    def prose(self, size: int) -> str:
        """Words of a person or a model, about ``size`` characters."""
        text = self.text(size)
        self.message_chars += len(text)
        return text

    def output(self) -> str:
        """A tool's output: a file with its line numbers, a search's hits, or a run's log."""
        kind, size = self.rng.randrange(3), 0
        lines: list[str] = []
        target = self.rng.expovariate(1 / _OUTPUT)
        while size < target:
            if kind == 0:
                indent = "    " * self.rng.randrange(4)
                lines.append(f"{len(lines) + 1:6}\t{indent}{self.text(14).replace(' ', ' = ', 1)}({self.text(20)})")
            elif kind == 1:
                lines.append(f"{self.rng.choice(self.files)}:{self.rng.randrange(900)}:    {self.text(50)}")
            else:
                lines.append(f"{self.rng.choice(('INFO', 'ok', 'PASSED', '  warning:'))} {self.text(60)}")
            size += len(lines[-1]) + 1
        self.message_chars += size
        self.output_chars += size
        return "\n".join(lines)

    def text(self, size: int) -> str:
        """Words, frequent ones frequently, about ``size`` characters."""
        count = max(1, size // 7)
        picks = self.rng.choices(range(len(self.words)), k=count)
        return " ".join(self.words[min(one, two)] for one, two in zip(picks, reversed(picks), strict=True))

    def hex(self, digits: int) -> str:
        """Hexadecimal digits."""
        return f"{self.rng.getrandbits(4 * digits):0{digits}x}"

    def stamp(self) -> str:
        """The next moment."""
        self.now += timedelta(milliseconds=self.rng.randrange(1, 4000))
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Corpus:
    """What was written."""

    files: int
    lines: int
    bytes: int
    message_share: float  # of the bytes
    output_share: float  # of the message text


def vocabulary(rng: random.Random, size: int = 6000) -> list[str]:
    """Made-up words, some of them identifiers."""
    made: dict[str, None] = {}
    while len(made) < size:
        word = "".join(rng.choices(_SYLLABLES, k=rng.randrange(1, 4)))
        made["_".join((word, rng.choice(_SYLLABLES))) if rng.random() < 0.15 else word] = None
    return list(made)


def write_corpus(root: Path, cwds: list[str], lines: int, seed: int = 7) -> Corpus:
    """Transcripts of at least ``lines`` lines below ``root`` (a folder ``projects``), about 800 lines each."""
    rng = random.Random(seed)
    words = vocabulary(rng)
    total = size = chars = output = files = 0
    while total < lines:
        cwd = cwds[files % len(cwds)]
        session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        names = [f"src/{rng.choice(words)}/{rng.choice(words)}.py" for _ in range(40)]
        writer = Writer(random.Random(rng.getrandbits(64)), words, session, cwd, names)
        for _ in range(16):
            writer.turn()
        data = b"\n".join(writer.lines) + b"\n"
        folder = root / cwd.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{session}.jsonl").write_bytes(data)
        total, size, files = total + len(writer.lines), size + len(data), files + 1
        chars, output = chars + writer.message_chars, output + writer.output_chars
    return Corpus(files, total, size, chars / size, output / chars)


def paths_of(root: Path) -> Iterator[Path]:
    """The transcripts below a folder, in order."""
    return iter(sorted(root.rglob("*.jsonl")))
