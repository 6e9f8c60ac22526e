"""Tells a call that reads Flywheel's own memory: what it gives is known already and must never become evidence."""

from __future__ import annotations

import re
from typing import Final

_TELLING: Final = """
up status context search code map beacon why ask recall thread show cockpit lint review confirm reject invalidate
supersede merge split defer revert pin unpin tree add note term habits retro effect replay questions file-back forget
project entries ls cat grep history
"""
TELLING: Final = frozenset(_TELLING.split())
"""Commands of ours that print what is remembered, and subcommands that were commands once."""

_SILENT: Final = "down import sync install agents llm models jobs config daemon mcp"
SILENT: Final = frozenset(_SILENT.split())
"""The others."""

_NAME: Final = "flywheel"
_LOOK: Final = 200  # characters before the name that may make it a command
_NAMES: Final = 32  # times that the name is looked at
_BEFORE: Final = re.compile(
    r"""
    (?: ^ | [;&|({`!\n]\s*                                                          # the shell's separators,
      | \b(?: uv\s+run | uvx | env | exec | command | time | nohup | sudo | then | do | else | xargs )\s+   # its words,
      | \btimeout\s+\S+\s+
      | \s["']?-\w*c["']?,?\s+["']                                                  # sh -c "…", ["sh", "-c", "…"]
      | \b(?: cmd | command )["']?\s*[:=]\s*\[?\s*["'`]                             # an argument of a tool's call
    )
    (?: \w+=(?: "[^"\n]*" | '[^'\n]*' | [^\s"';&|]* )\s+ )*                         # variables
    (?: [^\s"';&|]*/ | (?: [^\s"';&|]*/ )?python[\d.]*\s+(?: -[A-Za-z]+\s+ )*-\w*m\s+ )?
    \Z
    """,
    re.VERBOSE,
)
_AFTER: Final = re.compile(rf"(?:\.cli)?\s+(?:{'|'.join(sorted(TELLING))})(?![\w-])")
_TOOL: Final = re.compile(r"\bmcp__(?:\w{0,60}_)?flywheel\w{0,60}__\w")
_TREE: Final = re.compile(
    r"/flywheel/tree(?![\w-])"
    r"|/tree/[^/\s\"'`]{1,100}-[0-9a-f]{6,12}/(?:wiki|raw|set-aside|(?:index|log|cockpit|glossary|documents)\.md)"
)


def reads_tree(text: str) -> bool:
    """Whether a path, or a shell's command, names a page of a memory tree (docs/tree.md), wherever the tree lies."""
    return "/tree" in text and _TREE.search(text) is not None


def asks_flywheel(command: str) -> bool:
    """Whether a shell's command, or a program that an agent wrote, runs one of our commands, asks our socket or tools.

    ``cd app && flywheel why x``, ``bash -lc "flywheel recall x"``, ``python -m flywheel.cli search x``,
    ``curl --unix-socket …/flywheel.sock http://flywheel/v1/why``; not a path or a text in which the name is.
    """
    at = command.find(_NAME)
    if at < 0:
        return False
    if ("flywheel.sock" in command and "/v1/" in command) or _TOOL.search(command):
        return True
    for _ in range(_NAMES):
        if at < 0:
            return False
        if _AFTER.match(command, at + len(_NAME)) and _BEFORE.search(_before(command, at)):
            return True
        at = command.find(_NAME, at + len(_NAME))
    return False


def _before(command: str, at: int) -> str:
    """What stands before a place; where that is not all of it, it does not begin like a command."""
    return command[:at] if at <= _LOOK else "-" + command[at - _LOOK : at]
