"""What the parts of a Gemini message say: words, thoughts, calls and answers of tools, without what the client adds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from flywheel.readers.claude.tools import result_text
from flywheel.readers.fields import clip, list_of, mapping_of, text_of, whole
from flywheel.text.compose import strip_injected

SHELLS: Final = frozenset({"run_shell_command", "shell"})
SUMMARY_OPENING: Final = "<state_snapshot>"
TAKEN_IN: Final = "Got it. Thanks for the additional context!"
"""What the client lets the model answer to a summary of what was said before."""

MASKED: Final = "<tool_output_masked"
"""Begins what the client puts in the place of an output that it no longer sends."""

_ESCAPED: Final = re.compile(
    r"&lt;flywheel-briefing\b.*?(?:&lt;/flywheel-briefing\s{0,8}&gt;|\Z)", re.DOTALL | re.IGNORECASE
)
_ADDED: Final = re.compile(r"<(session_context|hook_context|loaded_context)>")
_HOOK: Final = "<hook_context>"
_HOOK_END: Final = "</hook_context>"
_HOOKED: Final = re.compile(r"<hook_context>.*?(?:</hook_context>|\Z)", re.DOTALL)
_FOREIGN: Final = "<untrusted_context>\n"
_FOREIGN_END: Final = "\n</untrusted_context>"
_FILES_BEGIN: Final = "--- Content from referenced files ---"
_FILES_END: Final = "--- End of content ---"
_EXIT: Final = re.compile(r"^Exit Code: (-?\d{1,3})\s*$", re.MULTILINE)
_EXIT_WITHIN: Final = 600  # characters from the end: what follows the output
_THOUGHT: Final = re.compile(r"\*\*(.*?)\*\*", re.DOTALL)


@dataclass(slots=True)
class Parts:
    """A message's content, sorted."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Mapping[str, Any]] = field(default_factory=list)
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    images: int = 0


NOTHING: Final = Parts()
"""Of a content that is empty. Nobody changes it."""


def lone_answer(content: object) -> Mapping[str, Any] | None:
    """The tool's answer that is the whole content, as nearly always where there is one."""
    if type(content) is not list or len(content) != 1:
        return None
    part = content[0]
    if type(part) is not dict or len(part) != 1:
        return None
    answer = part.get("functionResponse")
    return answer if type(answer) is dict else None


def parts_of(content: object) -> Parts:
    """The content (a string, a part, or a list of either), sorted by what the parts are."""
    if isinstance(content, str):
        return Parts(texts=[content] if content else [])
    found = Parts()
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, str):
            found.texts.append(item)
            continue
        part = mapping_of(item)
        if isinstance(part.get("text"), str):
            (found.thoughts if part.get("thought") is True else found.texts).append(part["text"])
        elif isinstance(part.get("functionCall"), dict):
            found.calls.append(part["functionCall"])
        elif isinstance(part.get("functionResponse"), dict):
            found.answers.append(part["functionResponse"])
        elif "inlineData" in part or "fileData" in part:
            found.images += 1
    return found


def cleaned(text: str) -> str:
    """Without any briefing of ours, the way the client passes it on (``<`` and ``>`` escaped) included."""
    if "<" not in text and "&" not in text and "\\" not in text:  # the cheapest look first
        return text
    return strip_injected(_ESCAPED.sub("", text)) if "flywheel-briefing" in text else text


def spoken(texts: list[str]) -> str:
    """What a person typed among the texts of a user's message: no context, no hook's words, no contents of files."""
    words: list[str] = []
    within = False  # the contents of files that were referred to with @
    for text in map(cleaned, texts):
        bare = text.strip()
        if within or bare == _FILES_BEGIN:
            within = bare != _FILES_END
            continue
        while bare.startswith("<") and (added := _ADDED.match(bare)) is not None:
            bare = bare[added.end() :].partition(f"</{added[1]}>")[2].strip()
        if _HOOK in bare:
            bare = _HOOKED.sub("", bare).strip()
        if bare:
            words.append(bare)
    return "\n\n".join(words)


def thought_text(value: object) -> str:
    """A thought as the log has it (``subject``, ``description``) or as a part has it (``**subject** description``)."""
    if isinstance(value, str):
        found = _THOUGHT.search(value)
        subject, about = (found[1].strip() if found else ""), _THOUGHT.sub("", value, count=1).strip()
    else:
        fields = value if isinstance(value, dict) else {}
        subject, about = text_of(fields.get("subject")).strip(), text_of(fields.get("description")).strip()
    return cleaned(f"{subject}\n{about}" if subject and about else subject or about)


def answer_of(result: object, call_id: str) -> Mapping[str, Any]:
    """The answer of one call among a call's ``result`` (a string, a part, or parts, those of other calls too)."""
    if isinstance(result, str):
        return {"response": {"output": result}}
    lone = lone_answer(result)
    if lone is not None and "images" not in lone:
        return lone
    found = parts_of(result)
    own = [answer for answer in found.answers if answer.get("id") == call_id]
    answer = next(iter(own or found.answers), None)
    if answer is None:
        return {"response": {"output": "\n".join(found.texts)}} if found.texts else {}
    if not own and len(found.answers) > 1:
        return {}
    return {**answer, "images": found.images}


def answer_text(answer: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of a tool's answer without what hooks and the client put around it, and whether it is an error."""
    response = answer.get("response")
    if type(response) is dict and len(response) == 1 and type(output := response.get("output")) is str:
        return _bare(cleaned(output)), False  # as nearly always
    fields = mapping_of(response)
    error = fields.get("error")
    failed = bool(error)
    if isinstance(response, str):
        text = response
    elif error and isinstance(error, str):
        text = error
    elif isinstance(fields.get("output"), str):
        text = fields["output"]
    elif isinstance(fields.get("content"), (str, list)):
        text = result_text(fields["content"])[0]
    else:
        text = _compact(fields) if fields else ""
    return _bare(cleaned(text)), failed


def _bare(text: str) -> str:
    text = text.rstrip()
    if text.endswith(_HOOK_END):
        at = text.rfind(_HOOK)
        text = text[:at].rstrip() if at >= 0 else text
    if text.startswith(_FOREIGN):
        text = text.removeprefix(_FOREIGN).removesuffix(_FOREIGN_END)
    return text


def exit_of(text: str) -> int | None:
    """The exit code that a shell's output ends with; None when it has none."""
    end = text[-_EXIT_WITHIN:]
    found = _EXIT.findall(end) if "Exit Code: " in end else ()
    return whole(found[-1]) if found else None


def shown(display: object, text: str) -> tuple[str, dict[str, object]]:
    """What the client showed of a result: its text, when it has no other, and meta (``files``)."""
    if isinstance(display, str):
        return "" if text else _bare(cleaned(display)), {}
    if not isinstance(display, dict):
        return "", {}
    fields = display
    name = text_of(fields.get("filePath")) or text_of(fields.get("fileName"))
    return "", {"files": [clip(name, 1000)]} if name else {}


def _compact(value: Mapping[str, Any]) -> str:
    inner = {key: item for key, item in value.items() if item not in (None, "", [], {})}
    try:
        return orjson.dumps(inner).decode() if inner else ""
    except TypeError:  # lone surrogates, nested too deeply
        return "\n".join(text_of(item) for item in list_of(list(inner.values())))
