"""Events of Copilot CLI: one session that never ends."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.transcripts import Writer, vocabulary

_STEPS = 8

Record = dict[str, Any]


class Session:
    """Makes the events of a session."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        words = vocabulary(self.rng)
        self.files = [f"/home/dev/app/src/{self.rng.choice(words)}/{self.rng.choice(words)}.py" for _ in range(40)]
        self.made = Writer(self.rng, words, "", "/home/dev/app", self.files)
        self.id = self.uuid()
        self.last: str | None = None

    def uuid(self) -> str:
        """An identifier."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def event(self, kind: str, **data: Any) -> Record:
        """An event in its envelope."""
        before, self.last = self.last, self.uuid()
        return {"type": kind, "data": data, "id": self.last, "timestamp": self.made.stamp(), "parentId": before}

    def head(self) -> Record:
        """The first event."""
        context = {
            "cwd": "/home/dev/app",
            "gitRoot": "/home/dev/app",
            "branch": "main",
            "headCommit": self.made.hex(40),
        }
        return self.event(
            "session.start", sessionId=self.id, version=1, producer="copilot-agent", copilotVersion="1.0.102",
            startTime=self.made.stamp(), selectedModel="gpt-5", context=context, alreadyInUse=False,
        )  # fmt: skip

    def usage(self) -> Record:
        """What a model call cost."""
        usage = {"model": "gpt-5", "inputTokens": 12_054, "outputTokens": 40, "duration": 33, "numToolCalls": 1}
        usage |= {"requestBodyBytes": 48_216, "apiEndpoint": "/chat/completions", "finishReason": "tool_calls"}
        return self.event("session.usage_record", usage=usage)

    def arguments(self) -> tuple[str, Record]:
        """A tool and what it is asked."""
        return self.rng.choice(
            [
                ("bash", {"command": f"python -m pytest {self.rng.choice(self.files)}", "description": "Run"}),
                ("view", {"path": self.rng.choice(self.files)}),
                ("edit", {"path": self.rng.choice(self.files), "old_str": self.made.prose(80),
                          "new_str": self.made.prose(90)}),
            ]
        )  # fmt: skip

    def step(self) -> Iterator[Record]:
        """The model asks for a tool, and it runs."""
        turn, call, (tool, arguments) = self.uuid(), f"call_{self.made.hex(12)}", self.arguments()
        yield self.event("assistant.turn_start", turnId=turn)
        yield self.usage()
        request = {"toolCallId": call, "name": tool, "arguments": arguments, "type": "function"}
        request["intentionSummary"] = self.made.text(60)
        sealed = {"reasoningOpaque": self.made.hex(440), "encryptedContent": self.made.hex(4_300)}
        yield self.event(
            "assistant.message", messageId=self.uuid(), model="gpt-5", content=self.made.prose(900),
            toolRequests=[request], reasoningText=self.made.prose(600), turnId=turn, **sealed,
            outputTokens=364, apiCallId=self.made.hex(440),
        )  # fmt: skip
        yield self.event("tool.execution_start", toolCallId=call, toolName=tool, arguments=arguments, turnId=turn)
        telemetry = {"properties": {"executionMode": "sync"}, "metrics": {"commandTimeout": 30000.0}}
        output = "\n".join(self.made.output() for _ in range(2))
        result = {"content": output, "detailedContent": output}
        yield self.event(
            "tool.execution_complete", toolCallId=call, model="gpt-5", turnId=turn, success=True, result=result,
            shellExecution={"exitCode": 0}, toolTelemetry=telemetry,
        )  # fmt: skip
        yield self.event("assistant.turn_end", turnId=turn)

    def turn(self) -> Iterator[Record]:
        """A prompt, some steps with a tool each, and the answer."""
        prompt = self.made.prose(900)
        yield self.event("user.message", content=prompt, transformedContent=f"<now/>\n\n{prompt}", attachments=[])
        yield self.event("system.message", role="system", content=self.made.text(21_000))
        for _ in range(_STEPS):
            yield from self.step()
        yield self.event("assistant.message", messageId=self.uuid(), content=self.made.prose(1_500), toolRequests=[])


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One session that never ends."""
    session = Session(seed)
    yield session.head()
    while True:
        yield from session.turn()
