"""What a tool gave back, freed of the lines that Codex puts around it: text, exit status, how it ended. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

from flywheel.readers.fields import list_of, mapping_of, text_of, true, whole

_HEAD: Final = 400  # characters in which the lines before the output are looked for
_STARTS: Final = ("Chunk ID:", "Exit code:", "Wall time:", "Process ", "Total output lines:", "Command ")
_EXIT: Final = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})", re.MULTILINE)
_RUNNING: Final = "Process running with session ID"
_OUTPUT: Final = "\nOutput:"
_FAILURES: Final = (
    "exec_command failed", "execution error", "apply_patch verification failed", "failed to parse function arguments",
    "unsupported call", "unsupported custom tool call", "write_stdin failed", "tool call error", "failed in sandbox",
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Output:
    """A result."""

    text: str = ""
    exit: int | None = None
    failed: bool = False
    running: bool = False  # it is not over: the tool goes on in the background
    interrupted: bool = False
    images: int = 0


def output_of(value: object) -> Output:
    """The output of a response item: a text, blocks, or ``{"content", "success"}``."""
    if isinstance(value, str):
        return read_text(value)
    if isinstance(value, dict):
        inner = output_of(value["content"]) if isinstance(value.get("content"), (str, list)) else Output()
        inner.failed = inner.failed or value.get("success") is False
        return inner
    text, images = blocks_text(value)
    found = read_text(text)
    found.images = images
    return found


def blocks_text(value: object) -> tuple[str, int]:
    """The texts of a list of blocks, and how many images it holds."""
    texts: list[str] = []
    images = 0
    for block in list_of(value):
        fields = mapping_of(block)
        text = text_of(block) or text_of(fields.get("text"))
        if text:
            texts.append(text)
        elif "image" in text_of(fields.get("type")):
            images += 1
    return "\n".join(texts), images


def read_text(text: str) -> Output:
    """A shell's output: JSON with ``output`` and ``metadata``, or behind lines that end with ``Output:``."""
    if text.startswith('{"output"'):
        found = _from_json(text)
        if found is not None:
            return found
    head = text[:_HEAD]
    status: int | None = None
    running = False
    if head.startswith(_STARTS):
        match = _EXIT.search(head)
        status = int(match[1]) if match else None
        running = match is None and _RUNNING in head
        at = head.find(_OUTPUT)
        if at >= 0:
            text = text[at + len(_OUTPUT) :].removeprefix("\n")
            head = text[:_HEAD]
    interrupted = "aborted by user" in head and len(text) < _HEAD
    failed = bool(status) or head.startswith(_FAILURES)
    return Output(text=text, exit=status, failed=failed, running=running, interrupted=interrupted)


def _from_json(text: str) -> Output | None:
    try:
        fields = mapping_of(orjson.loads(text))
    except orjson.JSONDecodeError:
        return None
    status = whole(mapping_of(fields.get("metadata")).get("exit_code"))
    return Output(text=text_of(fields.get("output")), exit=status, failed=bool(status))


def executed(fields: Any) -> Output:
    """The end of a command: ``exit_code`` and ``aggregated_output``, else ``stdout`` and ``stderr``."""
    text = text_of(fields.get("aggregated_output"))
    if not text:
        text = "\n".join(part for name in ("stdout", "stderr") if (part := text_of(fields.get(name))))
    status = whole(fields.get("exit_code"))
    declined = text_of(fields.get("status")) in ("failed", "declined")
    return Output(text=text, exit=status, failed=bool(status) or declined)


def patched(fields: Any) -> Output:
    """The end of a patch."""
    text = "\n".join(part.strip("\n") for name in ("stdout", "stderr") if (part := text_of(fields.get(name))))
    failed = fields.get("success") is False or text_of(fields.get("status")) in ("failed", "declined")
    return Output(text=text, failed=failed)


def answered(fields: Any) -> Output:
    """What an MCP tool or a client's own tool gave: ``result`` or ``content_items``, else ``error``."""
    result = mapping_of(fields.get("result"))
    error = fields.get("error") or result.get("Err")
    result = mapping_of(result.get("Ok")) or result
    text, images = blocks_text(result.get("content") or fields.get("content_items"))
    wrong = text_of(error) or text_of(mapping_of(error).get("message"))
    failed = bool(wrong) or true(result.get("isError")) or true(result.get("is_error"))
    failed = failed or fields.get("success") is False or text_of(fields.get("status")) == "failed"
    return Output(text=text or wrong, failed=failed, images=images)
