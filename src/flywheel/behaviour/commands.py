"""What a command line is called by: its program, with the word that says which of its commands; pure."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 60
"""Characters of a name."""

_MANY: Final = frozenset(
    """
    make just task npm pnpm yarn bun deno cargo go git gh docker podman kubectl helm terraform poetry uv pdm hatch pip
    mix rails bundle composer dotnet swift systemctl brew apt apt-get conda bazel gradle gradlew mvn nix flutter dart
    alembic django-admin manage.py pre-commit
    """.split()  # noqa: SIM905 - a list of words is read as words
)  # fmt: skip
"""Programs of many commands."""

_CHECKS: Final = frozenset(
    """
    test tests check lint typecheck spec e2e build vet verify ci pytest tox nox jest vitest mocha rspec phpunit ctest
    playwright unittest ruff flake8 eslint pylint mypy pyright tsc clippy prettier black gofmt golangci-lint rubocop
    compile assemble webpack vite ninja
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words of the names of commands that look whether the work is right: that one fails says nothing against it."""

_RUNNERS: Final = frozenset({"npm", "pnpm", "yarn", "bun", "poetry", "uv", "pdm", "hatch", "deno", "docker-compose"})
_PREFIXES: Final = frozenset({"sudo", "time", "env", "nice", "nohup", "exec", "command", "npx", "bunx", "xvfb-run"})
_SEPARATOR: Final = re.compile(r"\s*(?:&&|\|\||[;|\n])\s*")
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=\S*")
_WORD: Final = re.compile(r"[\w.@:+-]+(?:/[\w.@:+-]+)*")
_NOTHING: Final = frozenset(
    {"cd", "echo", "true", "export", "set", "source", ".", "pwd", "sleep", "printf", "test", "["}
)
_SERVICE: Final = re.compile(
    r"\b(?:docker[ -]compose|podman[ -]compose)\s+(?:\S+\s+)*?(?:up|logs|restart|exec|run|stop|start|build)"
    r"(?:\s+-\S+)*\s+(?P<a>[a-z][\w-]*)"
    r"|\bsystemctl\s+(?:--user\s+)?(?:status|restart|start|stop|reload)\s+(?P<b>[a-z][\w@.-]*)"
    r"|\bjournalctl\s+(?:\S+\s+)*?-u\s+(?P<c>[a-z][\w@.-]*)"
)
_TABLE: Final = re.compile(
    r"\b(?:from|join|into|update|table)\s+(?:only\s+|if\s+(?:not\s+)?exists\s+)?[\"`]?"
    r"(?P<name>[a-z_]\w*(?:\.[a-z_]\w*)?)[\"`]?(?=\s|;|\(|\)|,|\"|'|$)",
    re.IGNORECASE,
)
_SQL: Final = re.compile(
    r"\b(?:select\b.+\bfrom|insert\s+into|update\s+\S+\s+set|delete\s+from|alter\s+table)\b", re.IGNORECASE | re.DOTALL
)
_SQL_WORDS: Final = frozenset({"select", "set", "where", "values", "as", "on", "the", "a"})


def name_of(line: str) -> str:
    """The name of the first command of a line that does something: "make test", "pytest", "git commit"; "" for none.

    Arguments, paths and quoted text are left out: a habit is that somebody runs the tests, not which one.
    """
    for part in _SEPARATOR.split(_QUOTED.sub(" ", line[:2000]))[:8]:
        words = [word for word in part.split()[:12] if not _ASSIGNED.fullmatch(word)]
        while words and words[0] in _PREFIXES:
            words.pop(0)
        if words and words[0] == "timeout":
            del words[:2]
        if words and words[0] not in _NOTHING and (name := _named(words)):
            return name[:LONGEST]
    return ""


def is_check(name: str) -> bool:
    """Whether a command, as `name_of` calls it, tests, lints or builds: it fails when the work is wrong."""
    return any(part in _CHECKS for word in name.split() for part in (word, *re.split(r"[:._-]", word)))


def _named(words: list[str]) -> str:
    program = words[0].rsplit("/", 1)[-1]
    if not _WORD.fullmatch(program) or not any(char.isalpha() for char in program):
        return ""
    rest = words[1:]
    if re.fullmatch(r"python[\d.]*", program) and rest[:1] == ["-m"] and len(rest) > 1 and _WORD.fullmatch(rest[1]):
        return f"python -m {rest[1]}"
    plain = [word for word in rest if not word.startswith("-") and re.fullmatch(r"[a-zA-Z][\w:.-]*", word)]
    if program not in _MANY or not plain:
        return program
    if program in _RUNNERS and plain[0] == "run" and len(plain) > 1:
        return f"{program} run {plain[1]}"
    return f"{program} {plain[0]}"


def services_in(line: str) -> list[str]:
    """The services that a command line starts, stops or looks at, each once."""
    found = [match["a"] or match["b"] or match["c"] for match in _SERVICE.finditer(line[:2000])]
    return list(dict.fromkeys(name.removesuffix(".service") for name in found))


def tables_in(text: str) -> list[str]:
    """The tables that SQL in a command line or an argument speaks of, each once; none where there is no SQL."""
    text = text[:4000]
    if not _SQL.search(text):
        return []
    names = (match["name"].lower() for match in _TABLE.finditer(text))
    return list(dict.fromkeys(name for name in names if name not in _SQL_WORDS))
