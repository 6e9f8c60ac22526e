"""Records of Codex's rollouts with a paginated history: one thread that never ends."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from benchmarks.transcripts import Writer, vocabulary

_STEPS: Final = 6
_SKILLS: Final = 16  # of which the client's state tells, each with a text of some lines
_HISTORY: Final = 40  # messages that take the place of the history when it is summed up

Record = dict[str, Any]


class Thread:
    """Makes the records of a thread."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        words = vocabulary(self.rng)
        files = [f"src/{self.rng.choice(words)}/{self.rng.choice(words)}.py" for _ in range(40)]
        self.made = Writer(self.rng, words, "", "/home/dev/app", files)
        self.id = self.uuid()
        self.turn = ""
        self.ordinal = -1
        self.tokens = 0

    def uuid(self) -> str:
        """An identifier."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def record(self, kind: str, payload: Record) -> Record:
        """A record in its envelope."""
        self.ordinal += 1
        return {"timestamp": self.made.stamp(), "ordinal": self.ordinal, "type": kind, "payload": payload}

    def event(self, kind: str, **fields: Any) -> Record:
        """An event."""
        return self.record("event_msg", {"type": kind, **fields})

    def done(self, kind: str, name: str, **fields: Any) -> Record:
        """A completed item."""
        item = {"type": kind, "id": name, **fields}
        return self.event("item_completed", thread_id=self.id, turn_id=self.turn, item=item, completed_at_ms=1)

    def item(self, kind: str, id: str, **fields: Any) -> Record:
        """A response item."""
        aside = {"turn_id": self.turn, "create_time": 1.5, "content_item_kinds": ["user.text"]}
        told = {"type": kind, "id": id, **fields, "internal_chat_message_metadata_passthrough": aside}
        record = self.record("response_item", told)
        return {**record, "metadata": {"history_sequence": self.ordinal, "client_authored": False}}

    def head(self) -> Record:
        """The first record."""
        base = {"text": self.made.text(20_000)}
        git = {"commit_hash": self.made.hex(40), "branch": "main"}
        return self.record(
            "session_meta", {"id": self.id, "cwd": "/home/dev/app", "cli_version": "0.171.0", "source": "cli",
                             "history_mode": "paginated", "base_instructions": base, "git": git},
        )  # fmt: skip

    def state(self) -> Record:
        """What the client tells of its own state."""
        skills = {self.made.text(8): {"body": "\n".join(self.made.text(60) for _ in range(40)), "enabled": True}
                  for _ in range(_SKILLS)}  # fmt: skip
        return {"skills": skills, "environments": {"local": {"cwd": "/home/dev/app", "shell": "bash"}}}

    def said(self) -> list[Record]:
        """The content of a message."""
        return [{"type": "input_text", "text": "\n".join(self.made.text(70) for _ in range(12))}]

    def one_turn(self) -> Iterator[Record]:
        """A prompt, some steps with a command each, the answer, and what the client writes beside."""
        self.turn = self.uuid()
        yield self.event("task_started", turn_id=self.turn, model_context_window=258_400)
        yield self.record("turn_context", {"turn_id": self.turn, "cwd": "/home/dev/app", "model": "gpt-5.5"})
        yield self.record("world_state", {"full": True, "state": self.state()})
        prompt = self.made.prose(400)
        content = [{"type": "input_text", "text": prompt}]
        yield self.item("message", f"msg_{self.made.hex(24)}", role="user", content=content)
        yield self.done("UserMessage", self.uuid(), content=[{"type": "text", "text": prompt, "text_elements": []}])
        for _ in range(_STEPS):
            yield from self.step()
        yield from self.reply(self.made.prose(860))
        if self.rng.random() < 0.5:
            kept = [
                self.item("message", f"msg_{n}", role="user", content=self.said())["payload"] for n in range(_HISTORY)
            ]
            yield self.record("compacted", {"message": self.made.prose(1500), "replacement_history": kept})
        yield self.event("task_complete", turn_id=self.turn, last_agent_message="")

    def step(self) -> Iterator[Record]:
        """A thought, a command, and its output, which is told twice."""
        thought, name = self.made.prose(500), f"rs_{self.made.hex(12)}"
        yield self.done("Reasoning", name, summary_text=[thought], raw_content=[])
        summary = [{"type": "summary_text", "text": thought}]
        yield self.item("reasoning", name, summary=summary, encrypted_content=self.made.hex(5000))
        call, command, output = f"call_{self.made.hex(24)}", self.made.text(60), self.made.output()
        arguments = orjson.dumps({"cmd": command}).decode()
        yield self.item("function_call", f"fc_{call}", name="exec_command", arguments=arguments, call_id=call)
        yield self.done(
            "CommandExecution", call, command=["/bin/bash", "-lc", command], cwd="file:///home/dev/app",
            parsed_cmd=[{"type": "unknown", "cmd": command}], status="completed", aggregated_output=output, exit_code=0,
        )  # fmt: skip
        told = f"Chunk ID: 8f909b\nWall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\n{output}"
        yield self.item("function_call_output", f"fco_{call}", call_id=call, output=told)
        yield from self.usage()

    def reply(self, text: str) -> Iterator[Record]:
        """The agent's words, told twice."""
        name = f"msg_{self.made.hex(24)}"
        yield self.done("AgentMessage", name, content=[{"type": "Text", "text": text}])
        content = [{"type": "output_text", "text": text, "annotations": []}]
        yield self.item("message", name, role="assistant", content=content)

    def usage(self) -> Iterator[Record]:
        """The counts of tokens, told twice."""
        self.tokens += self.rng.randrange(20_000)
        total = {"input_tokens": self.tokens, "cached_input_tokens": self.tokens // 2, "output_tokens": 40}
        yield self.record("token_usage_record", {"thread_id": self.id, "usage": total, "thread_token_usage": total})
        yield self.event("token_count", info={"total_token_usage": total, "last_token_usage": total}, rate_limits=None)


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One thread that never ends."""
    thread = Thread(seed)
    yield thread.head()
    while True:
        yield from thread.one_turn()
