"""An agent that asks Flywheel in its shell: what our commands print is memory already and never becomes evidence."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from flywheel.cli import COMMANDS
from flywheel.model import MessageKind, Micros
from flywheel.readers import READERS, Place, Record
from flywheel.readers.asking import SILENT, TELLING, asks_flywheel, reads_tree

TOLD = "We decided to use Valkey for the price cache."
AT = "2026-03-02T09:00:00Z"


@pytest.mark.parametrize(
    "command",
    [
        'flywheel why "which cache?"',
        "cd /w/app && flywheel recall cache",
        'bash -lc "flywheel thread cache"',
        '["bash", "-lc", "flywheel thread cache"]',
        "python -m flywheel.cli search cache",
        "/opt/fw/bin/python3 -P -m flywheel.cli habits",
        "FLYWHEEL_HOME=/srv/fw NAME='a b' flywheel ask x",
        "echo $(flywheel context)",
        "uv run flywheel questions | head",
        "timeout 5 /usr/local/bin/flywheel retro",
        "for one in a b; do flywheel show $one; done",
        "curl --unix-socket $XDG_RUNTIME_DIR/flywheel/flywheel.sock http://flywheel/v1/why?question=x",
        'const out = await tools.exec_command({cmd: "flywheel term"})',
        "await tools.mcp__flywheel__recall({question: 'x'})",
        "x " * 500 + "; flywheel lint",
    ],
)
def test_a_command_that_asks_us_is_known(command: str) -> None:
    """However it is run: behind others, in another shell, by its module, over the socket, from a program."""
    assert asks_flywheel(command)


@pytest.mark.parametrize(
    "command",
    [
        "cd flywheel && ls",
        "git clone https://example.org/flywheel && make",
        "grep -rn flywheel why.txt",
        "ls flywheel why",
        'git commit -m "flywheel search is broken"',
        "./flywheel build",
        "flywheel install",
        "flywheel whyever",
        "echo flywheel why",
        "echo " + "x" * 400 + " flywheel why",
    ],
)
def test_the_name_alone_is_no_command(command: str) -> None:
    """A folder, an argument, a text or another program of that name: what it prints is evidence as any other."""
    assert not asks_flywheel(command)


@pytest.mark.parametrize("part", ["A=b ", "a/", "(", "flywheel why ", "flywheel.sock ", "-a ", "mcp__", "a='"])
def test_no_command_is_slow_to_judge(part: str) -> None:
    """A command of a megabyte, made to be searched again and again, takes no time that anybody notices."""
    began = time.process_time()
    asks_flywheel(part * (1_000_000 // len(part)) + "flywheel build")
    assert time.process_time() - began < 2.0


def test_every_command_is_judged() -> None:
    """A command that is new says whether it prints what is remembered."""
    assert set(COMMANDS) <= TELLING | SILENT
    assert not TELLING & SILENT


PAGE = "/srv/fw/data/tree/shop-3760ca/wiki/decisions/valkey.md"


@pytest.mark.parametrize(
    ("path", "own"),
    [
        (PAGE, True),
        ("/home/dev/.local/share/flywheel/tree", True),
        ("grep -rn cache ~/.local/share/flywheel/tree/", True),
        (f"cat '{PAGE}'", True),
        ("/w/tree/shop-3760ca/src/main.py", False),
        ("https://example.org/x/tree/fix-deadbeef", False),
        ("/w/flywheel/treeline.py", False),
        ("/w/app/tree/wiki/index.md", False),
    ],
)
def test_pages_of_the_memory_tree_are_known(path: str, own: bool) -> None:
    """By the tree's name in its usual folder, or by the names that its folders and files have anywhere."""
    assert reads_tree(path) is own


def claude_file(path: str) -> list[Record]:
    """Claude Code reads a file."""
    records = json.loads(json.dumps(claude("")))
    records[0]["message"]["content"][0] |= {"name": "Read", "input": {"file_path": path}}
    return list(records)


def gemini_file(path: str) -> list[Record]:
    """Gemini CLI reads a file, as its older versions named it."""
    records = json.loads(json.dumps(gemini("")))
    records[0]["toolCalls"][0] |= {"name": "read_file", "args": {"absolute_path": path}}
    return list(records)


def cursor_file(path: str) -> list[Record]:
    """Cursor reads a file."""
    call = {"type": "tool_use", "id": "c1", "name": "ReadFile", "input": {"path": path}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": TOLD}
    told = [("user", {"type": "text", "text": "Look."}), ("assistant", call), ("user", result)]
    return [{"role": role, "message": {"content": [block]}} for role, block in told]


def claude(command: str) -> list[Record]:
    """Claude Code's shell."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": TOLD}
    about = {"sessionId": "s", "timestamp": AT, "cwd": "/w", "version": "2.1.300"}
    return [
        {"type": "assistant", "uuid": "a", "message": {"role": "assistant", "content": [call]}, **about},
        {"type": "user", "uuid": "b", "message": {"role": "user", "content": [result]}, **about},
    ]


def codex(item: dict[str, Any], output: str) -> list[Record]:
    """A call of Codex's and its output."""
    done = {"type": output, "call_id": "c1", "output": TOLD}
    return [{"timestamp": AT, "type": "response_item", "payload": one} for one in (item | {"call_id": "c1"}, done)]


def codex_shell(command: str) -> list[Record]:
    """Codex's shell."""
    item = {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command})}
    return codex(item, "function_call_output")


def codex_program(command: str) -> list[Record]:
    """A program that Codex writes to call its shell."""
    program = f"text((await tools.exec_command({{cmd: {json.dumps(command)}}})).output)"
    return codex({"type": "custom_tool_call", "name": "exec", "input": program}, "custom_tool_call_output")


def gemini(command: str) -> list[Record]:
    """Gemini CLI's shell."""
    answer = [{"functionResponse": {"id": "t1", "name": "run_shell_command", "response": {"output": TOLD}}}]
    call = {"id": "t1", "name": "run_shell_command", "args": {"command": command}, "status": "success",
            "result": answer, "timestamp": AT}  # fmt: skip
    return [{"id": "m1", "timestamp": AT, "type": "gemini", "content": "", "toolCalls": [call]}]


def gemini_person(command: str) -> list[Record]:
    """A person's own command in Gemini CLI, which the model is told with what it printed."""
    text = f"I ran the following shell command:\n```sh\n{command}\n```\n\n"
    text += f"This produced the following result:\n```\n{TOLD}\n```"
    return [{"id": "m1", "timestamp": AT, "type": "user", "content": [{"text": text}]}]


def answers(agent: str, records: list[Record]) -> str:
    """What tools gave, and all else that nobody typed."""
    reader = READERS[agent]
    parsed = reader.parse(reader.start(Place(session="s"), at=Micros(0)), records)
    return " ".join(f"{draft.text} {draft.meta}" for draft in parsed.drafts if draft.kind is not MessageKind.PROMPT)


@pytest.mark.parametrize(
    ("agent", "records"),
    [("claude", claude), ("codex", codex_shell), ("codex", codex_program), ("gemini", gemini),
     ("gemini", gemini_person)],
)  # fmt: skip
def test_what_it_prints_is_not_read(agent: str, records: Any) -> None:
    """Nothing of the answer is in any draft; another command's output is, so the test would see it."""
    assert TOLD in answers(agent, records("cat notes.txt"))
    assert TOLD not in answers(agent, records("flywheel recall 'price cache'"))


@pytest.mark.parametrize(
    ("agent", "records"), [("claude", claude_file), ("gemini", gemini_file), ("cursor", cursor_file)]
)
def test_a_page_that_is_read_is_not_read_back(agent: str, records: Any) -> None:
    """Nothing of a page of the memory tree is in any draft; another file's content is."""
    assert TOLD in answers(agent, records("/w/app/notes.md"))
    assert TOLD not in answers(agent, records(PAGE))


def test_a_page_that_is_read_by_a_shell_is_not_read_back() -> None:
    """Codex reads files with its shell, in a call or in a program."""
    for records in (codex_shell, codex_program):
        assert TOLD not in answers("codex", records(f"sed -n 1,40p {PAGE}"))
