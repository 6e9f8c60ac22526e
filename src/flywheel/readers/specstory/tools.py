"""A tool's block in SpecStory's Markdown: what was called with what, and what came of it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.readers.fields import clip

_SHELLS: Final = frozenset({"Bash", "shell", "shell_command", "exec_command", "run_terminal_cmd", "run_shell_command"})
_USED: Final = re.compile(r"Tool use: \*\*([^*\n]+)\*\*\s*[•·]?\s*(.*)")
_INLINE: Final = re.compile(r"^`([^`\n].*)`[ \t]*$", re.MULTILINE)
_TICKED: Final = re.compile(r"`([^`\n]{1,4000})`")
_BULLET: Final = re.compile(r"^- (?:command|cmd): `(?:\[bash -l?c )?(.+?)\]?`[ \t]*$", re.MULTILINE | re.DOTALL)
_RUN: Final = re.compile(r"Run command: (.+)")
_FILE: Final = re.compile(r"(?:Edit|Read|Write|Create|Delete) file: (\S+)")
_TOLD: Final = re.compile(r"(?:The file|created successfully at:) (/?[\w./-]+)")
_OUTCOME: Final = re.compile(r"\n(\*\*(?:Result|Output|Error):\*\*|(?:Result|Output|Error):)")
_ENDS: Final = ("</tool-use>", "</details>")
_EXIT: Final = re.compile(r"(?:exited with code|[Ee]xit code:?) (\d{1,3})\b")
_SCRIPTS: Final = frozenset({"bash", "sh", "shell", "zsh"})
_FAILED: Final = re.compile(r"\A(?:Error\b|error:|fatal:|<tool_use_error>)")


@dataclass(slots=True, kw_only=True)
class Described:
    """A tool's block. Not frozen, for speed; nobody changes one."""

    tool: str
    call: str
    result: str = ""
    failed: bool = False
    exit: int | None = None
    meta: dict[str, object] = field(default_factory=dict)


def described(text: str, kind: str, tool: str) -> Described:
    """A tool's block by its words; ``kind`` and ``tool`` are what its tag names."""
    about, body = _opened(text)
    used = _USED.match(about) or _USED.match(body)
    if used and used.string is body:
        body = body[used.end() :].strip()
    told = used[2].strip() if used else about
    tool = tool or (used[1] if used else "")
    shell = kind == "shell" or tool in _SHELLS
    command, asked, result, failed = _parts(told, body, shell=shell)
    meta: dict[str, object] = {}
    if command:
        meta["command"] = clip(command, 4000)
    files = _files(told, body, kind)
    if files:
        meta["files"] = files
    if "```diff" in body:
        meta["edits"] = _edits(body, files[0] if files else "")
    end = result[-500:] if shell else ""
    found = _EXIT.search(end) if " code" in end else None
    status = int(found[1]) if found else None
    lines = [*files, command, "" if command and command in told else told, asked]
    call = "\n".join(dict.fromkeys(line for line in lines if line))
    failed = failed or bool(status) or bool(_FAILED.match(result))
    return Described(tool=tool[:128], call=call, result=result, failed=failed, exit=status, meta=meta)


def _opened(text: str) -> tuple[str, str]:
    """The summary, and what the block holds, without its tags."""
    about = ""
    start = text.find("<summary>", 0, 400)
    stop = text.find("</summary>", start) if start >= 0 else -1
    if stop >= 0:
        about, text = html.unescape(text[start + 9 : stop].strip()), text[:start] + text[stop + 10 :]
    text = text.strip().removeprefix("<details>").strip()
    while text.endswith(_ENDS):
        text = text.removesuffix(_ENDS[0]).removesuffix(_ENDS[1]).rstrip()
    return about, text


def _blocks(text: str) -> Iterator[tuple[int, int, str, str]]:
    """(start, stop, language, content) of each closed code block."""
    at = _at_line(text, "```")
    while at >= 0:
        first = text.find("\n", at)
        if first < 0:
            return
        opening = text[at:first]
        fence = opening[: len(opening) - len(opening.lstrip("`"))]
        stop = text.find(f"\n{fence}", first)
        while stop >= 0 and text[stop + 1 + len(fence) : stop + 2 + len(fence)] not in ("", "\n", " "):
            stop = text.find(f"\n{fence}", stop + 1)
        if stop < 0:
            return
        end = stop + 1 + len(fence)
        yield at, end, opening[len(fence) :].strip(), text[first + 1 : stop + 1]
        at = text.find("\n```", end) + 1 or -1


def _parts(told: str, body: str, *, shell: bool) -> tuple[str, str, str, bool]:
    """The command, what else was asked, the result, and whether the result is called an error."""
    found = _OUTCOME.search(f"\n{body}")
    at, name = (found.start(), found[1]) if found else (len(body), "")
    asked, result = body[:at], body[at + len(name) :]
    command = ""
    if shell:
        command, asked, rest = _command(told, asked)
        result = result or rest
    elif not name:
        blocks = list(_blocks(body))
        if blocks and blocks[-1][2] in ("", "text") and not body[blocks[-1][1] :].strip():
            asked, result = body[: blocks[-1][0]], blocks[-1][3]
    return command, asked.strip(), _unfenced(result), "Error" in name


def _at_line(text: str, name: str) -> int:
    """Where a line begins with these words; -1 when none does."""
    return 0 if text.startswith(name) else text.find(f"\n{name}") + 1 or -1


def _command(told: str, asked: str) -> tuple[str, str, str]:
    """The command of a shell, what was said of it, and the text behind it."""
    for start, stop, language, content in _blocks(asked):
        if language in _SCRIPTS:
            return content.strip(), asked[:start], asked[stop:]
        break  # what follows is output
    head = asked[:4000]
    found = _BULLET.search(head) if "\n- c" in head or head.startswith("- c") else _INLINE.search(head)
    if found is not None:
        return found[1], asked[: found.start()], asked[found.end() :]
    named = _RUN.search(told) or _TICKED.search(told)
    return (named[1] if named else ""), "", asked


def _unfenced(text: str) -> str:
    """Without the fence, where the whole text is one code block."""
    text = text.strip()
    if text.startswith("```"):
        for _, stop, _, content in _blocks(text):
            return content.strip("\n") if stop >= len(text) else text
    return text


def _files(told: str, body: str, kind: str) -> list[str]:
    """Paths that the block is about."""
    found = [path for text in (told, body[:500]) if " file: " in text for path in _FILE.findall(text)]
    if kind in ("read", "write") and not found:
        first = body.partition("\n")[0]
        found += [path for path in _TICKED.findall(f"{told}\n{first}") if "/" in path or "." in path]
        found += _TOLD.findall(body[-600:])
    return [clip(path, 1000) for path in dict.fromkeys(found)][:20]


def _edits(body: str, path: str) -> list[dict[str, str]]:
    """What its diffs took away and put in its place."""
    edits: list[dict[str, str]] = []
    for _, _, language, content in _blocks(body):
        if language != "diff" or len(edits) == 8:
            continue
        lines = content.split("\n")
        old = [line[1:] for line in lines if line.startswith("-") and not line.startswith("---")]
        new = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]
        edits.append({"path": path, "old": clip("\n".join(old), 1000), "new": clip("\n".join(new), 1000)})
    return edits
