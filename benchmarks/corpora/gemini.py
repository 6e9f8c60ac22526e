"""Records of Gemini CLI's replay logs: one session that never ends."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.transcripts import Writer, vocabulary

_STEPS = 8
_RESUMED = 40  # turns between two conversations that are put together anew

Record = dict[str, Any]


class Session:
    """Makes the messages and the other records of a session."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        words = vocabulary(self.rng)
        files = [f"/home/dev/app/src/{self.rng.choice(words)}/{self.rng.choice(words)}.py" for _ in range(40)]
        self.files = files
        self.made = Writer(self.rng, words, "", "/home/dev/app", files)
        self.id = self.uuid()
        self.said: list[Record] = []  # the last messages, as a resumed client would send them

    def uuid(self) -> str:
        """An identifier."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def head(self) -> Record:
        """The first record of the log, and of each time that it is resumed."""
        at = self.made.stamp()
        return {
            "sessionId": self.id,
            "projectHash": self.made.hex(64),
            "startTime": at,
            "lastUpdated": at,
            "kind": "main",
        }

    def message(self, kind: str, content: Any, **fields: Any) -> Record:
        """One message."""
        return {"id": self.uuid(), "timestamp": self.made.stamp(), "type": kind, "content": content, **fields}

    def updated(self) -> Record:
        """What follows every message."""
        return {"$set": {"lastUpdated": self.made.stamp()}}

    def thinking(self, *, text: str = "") -> Record:
        """A message of the model, before its tools have run."""
        thought = {"subject": self.made.prose(30), "description": self.made.prose(400), "timestamp": self.made.stamp()}
        tokens = {"input": 12_505, "output": 40, "cached": 0, "thoughts": 3, "tool": 0, "total": 12_545}
        return self.message("gemini", text, thoughts=[thought], tokens=tokens, model="gemini-2.5-flash")

    def call(self) -> Record:
        """A finished tool call: what the model gets of its result, and what the client shows of it beside."""
        name = self.rng.choice(("run_shell_command", "read_file", "replace"))
        path, text = self.rng.choice(self.files), "\n".join(self.made.output() for _ in range(2))
        output: str = text
        display: str | Record = ""
        args = {"file_path": path}
        if name == "run_shell_command":
            args = {"command": f"python -m pytest {path}"}
            output = f"<untrusted_context>\nOutput: {text}\nProcess Group PGID: 4242\n</untrusted_context>"
            display = text
        elif name == "replace":
            args |= {"old_string": self.made.prose(80), "new_string": self.made.prose(90)}
            args |= {"instruction": self.made.prose(40)}
            output = f"Successfully modified file: {path} (1 replacements). Here is the updated code:\n{text[:600]}"
            display = self.changed(path, text, args)
        id = f"{name}__{self.made.hex(10)}"
        answer = {"functionResponse": {"id": id, "name": name, "response": {"output": output}}}
        return {
            "id": id, "name": name, "args": args, "result": [answer], "status": "success",
            "timestamp": self.made.stamp(), "resultDisplay": display, "description": self.made.text(60),
            "displayName": name, "renderOutputAsMarkdown": False,
        }  # fmt: skip

    def changed(self, path: str, text: str, args: Record) -> Record:
        """What the client shows of a changed file: the change, and the file before and after it."""
        lines = (f" {text[:200]}", f"-{args['old_string']}", f"+{args['new_string']}", f" {text[200:400]}")
        stat = {"model_added_lines": 1, "model_removed_lines": 1, "user_added_lines": 0, "user_removed_lines": 0}
        return {
            "fileDiff": "\n".join(lines), "fileName": path.rsplit("/", 1)[-1], "filePath": path, "diffStat": stat,
            "originalContent": f"{text}\n{args['old_string']}", "newContent": f"{text}\n{args['new_string']}",
            "isNewFile": False, "isBuildFile": False,
        }  # fmt: skip

    def turn(self, *, answers: bool = True) -> Iterator[Record]:
        """A prompt, some steps with a tool each, the answer, and what the client writes beside.

        ``answers``: what tools gave back is told again as messages of the user's.
        """
        hook = f"<hook_context>{self.made.prose(400)}</hook_context>"
        prompt = self.message("user", [{"text": self.made.prose(900)}, {"text": hook}])
        yield prompt
        yield self.updated()
        self.said.append(prompt)
        for _ in range(_STEPS):
            told = self.thinking(text=self.made.prose(800) if self.rng.random() < 0.7 else "")
            yield told
            yield self.updated()
            call = self.call()
            yield {**told, "toolCalls": [call]}
            answer = self.message("user", call["result"])
            if answers:
                yield answer
                yield self.updated()
            function = {"functionCall": {key: call[key] for key in ("id", "name", "args")}}
            self.said += [{**told, "content": [{"text": told["content"]}, function]}, answer]
        last = self.thinking(text=self.made.prose(1_500))
        yield last
        yield self.updated()
        self.said = [*self.said, last][-40:]


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One session that never ends; from time to time it is resumed, and its conversation put together anew."""
    session, turns = Session(seed), 0
    while True:
        if turns % _RESUMED == 0:
            yield session.head()
            context = session.message("user", [{"text": f"<session_context>\n{session.made.text(4_000)}"}])
            yield {"$set": {"messages": [context, *session.said]}}
        yield from session.turn()
        turns += 1
