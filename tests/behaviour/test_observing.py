"""From messages and hooks to observations: names only, inside the project only, nobody's words."""

from __future__ import annotations

import pytest
from tests.harvest.rules_talk import Turn, talk

from flywheel.behaviour.commands import name_of, services_in, tables_in
from flywheel.behaviour.observing import Watcher, failure_facts, from_hook, subject_of, task_of, within_roots
from flywheel.model import Micros

TOML = "modulenotfounderror: no module named 'toml'"

COMMANDS = {
    "make test": "make test",
    "cd /w/app && make -j4 test | tail -20": "make test",
    "FOO=1 sudo timeout 60 pytest tests/test_a.py -x -k 'one and two'": "pytest",
    ".venv/bin/python -m pytest -q": "python -m pytest",
    "python3.11 scripts/run.py": "python3.11",
    "npm run lint -- --fix": "npm run lint",
    "npx eslint .": "eslint",
    "git -C /w commit -m 'fix it'": "git commit",
    "git --no-pager log": "git log",
    "docker compose up -d web": "docker compose",
    "echo done; ls": "ls",
    "cat > a.py <<'EOF'\nimport os\nEOF": "cat",
    "cd /w": "",
    "": "",
    "'make' test": "",
    "$(which make) all": "",
    "/usr/bin/make all": "make all",
}


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_line_is_called_by_its_head(line: str) -> None:
    """The program, with the word that says which of its commands; arguments, paths and quotes are left out."""
    assert name_of(line) == COMMANDS[line]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("docker compose logs -f web", ["web"]),
        ("docker-compose -f a.yml restart worker", ["worker"]),
        ("systemctl --user restart mailer.service", ["mailer"]),
        ("journalctl -n 50 -u nginx", ["nginx"]),
        ("make web", []),
    ],
)
def test_services_of_a_command_line(line: str, names: list[str]) -> None:
    """What is started, stopped or looked at."""
    assert services_in(line) == names


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('psql -c "SELECT id FROM orders JOIN public.items ON 1=1"', ["orders", "public.items"]),
        ("sqlite3 a.db 'insert into mail values (1)'", ["mail"]),
        ("sqlite3 a.db 'UPDATE jobs SET x = 1'", ["jobs"]),
        ("git merge from upstream", []),
    ],
)
def test_tables_of_a_command_line(line: str, names: list[str]) -> None:
    """Only where there is SQL."""
    assert tables_in(line) == names


@pytest.mark.parametrize(
    ("prompt", "task"),
    [
        ("Please fix the failing test", "fix"),
        ("Add a test for the parser", "build"),
        ("Write tests for it and then fix it", "build"),
        ("why does it crash?", "explain"),
        ("The query is slow", "speed up"),
        ("yes", ""),
        ("Rename the module", "refactor"),
        ("Update the README", "document"),
    ],
)
def test_what_a_prompt_asks_for(prompt: str, task: str) -> None:
    """The first word that says so; nothing where none does."""
    assert task_of(prompt) == task


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("The user doesn't want to proceed with this tool use.", {"refused": True}),
        ("E   ModuleNotFoundError: No module named 'toml'\n1 failed\n", {"error": TOML}),
        ("src/a.c:3:1: error: expected a type\nmake: *** [all] Error 1", {"error": "error: expected a type"}),
        ("exit 1", {}),
    ],
)  # fmt: skip
def test_what_is_kept_of_a_failure(text: str, facts: dict[str, object]) -> None:
    """Its signature without times, places and numbers, or that a person refused it."""
    assert failure_facts(text) == facts


@pytest.mark.parametrize(
    ("subject", "text", "ran"),
    [
        ("command:make check", "1 failed", True),
        ("command:uv run pytest", "AssertionError", True),
        ("command:npm run test:unit", "1 failed", True),
        ("command:npm test", 'npm error Missing script: "test"', False),
        ("command:pytest", "bash: pytest: command not found", False),
        ("command:git push", "rejected: fetch first", False),
        ("tool:Edit", "String to replace not found", False),
    ],
)
def test_a_check_that_finds_something_did_its_work(subject: str, text: str, ran: bool) -> None:
    """Failing tests say nothing against running them; that there is no such command does."""
    assert failure_facts(text, subject).get("ran", False) is ran


def test_files_outside_the_project_are_nobodys_business() -> None:
    """Paths are told from the outermost root; others, those above it and those with secrets are left out."""
    roots = ["/w/app", "/w/app/sub/"]
    names = [
        "/w/app/sub/a.py",
        "b.py",
        "./c.py",
        "/etc/passwd",
        "~/x",
        "../up.py",
        "/w/application/d.py",
        "k[redacted:x]",
    ]
    assert within_roots(names, roots) == ["sub/a.py", "b.py", "c.py"]


def observed(*turns: Turn) -> list[tuple[str, str]]:
    """What a conversation shows."""
    watcher = Watcher(roots=["/w"])
    return [(one.kind, one.subject) for message in talk(*turns) for one in watcher.see(message)]


def test_a_session_is_observed() -> None:
    """A prompt's task, a call's files, how each call went; replies and thoughts say nothing."""
    assert observed(
        ("user", "Fix the outbox."),
        ("thinking", "make test may fail"),
        ("call", "make test", {"files": ["/w/src/outbox.py", "/w/src/outbox.py"]}),
        ("error", "AssertionError: a mail was lost"),
        ("call", "make test"),
        ("result", "7 passed"),
        ("assistant", "Fixed."),
    ) == [
        ("query_pattern", "task:fix"),
        ("entity_access", "file:src/outbox.py"),
        ("tool_failure", "command:make test"),
        ("tool_success", "command:make test"),
    ]


def test_what_was_interrupted_says_nothing() -> None:
    """Neither that it worked nor that it failed; an exit code says that it failed."""
    call: Turn = ("call", "make test")
    assert observed(call, ("result", "^C", {"interrupted": True})) == []
    assert observed(call, ("result", "oh", {"exit": 2})) == [("tool_failure", "command:make test")]


def test_our_own_tools_are_nobodys_habit() -> None:
    """Neither over MCP nor on the command line."""
    assert subject_of("mcp__flywheel__recall", "") == "" == subject_of("Bash", "flywheel search queue")
    assert subject_of("", "make") == "" and subject_of("Edit", "") == "tool:Edit"


def test_a_hook_is_observed_like_a_message() -> None:
    """The head of its command or its tool's name, its files, and the signature of its error."""
    facts = {"command": "cd /w && pytest -q", "path": "/w/src/a.py", "error": "ValueError: it is not a number"}
    failed, file = from_hook("tool_failure", "Bash", facts, Micros(1), ["/w"])
    assert (failed.kind, failed.subject, failed.facts) == (
        "tool_failure",
        "command:pytest",
        {"error": "valueerror: it is not a number", "ran": True},
    )
    assert (file.kind, file.subject) == ("entity_access", "file:src/a.py")
    (ran,) = from_hook("tool_run", "Grep", {"pattern": "x", "path": "/w/src"}, Micros(1), ["/w"])
    assert (ran.kind, ran.subject) == ("tool_run", "tool:Grep")
    assert from_hook("tool_success", "mcp__flywheel__show", {}, Micros(1), []) == []
