"""A profile of three to five sentences, from templates; pure, and no model writes any of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from flywheel.behaviour.rules import HABIT_CONFIDENCE, HABIT_SESSIONS, Category, Held
from flywheel.text.compose import dated

FEWEST: Final = 3
MOST: Final = 5
"""Sentences of a profile: with fewer there is none."""

NAMED: Final = 3
"""Things that a sentence names at most."""

LONGEST: Final = 60
"""Characters of a name in a sentence."""


ORDINARY: Final = frozenset(
    """
    read edit write multiedit notebookread notebookedit bash bashoutput killshell grep glob ls todowrite todoread
    task agent exitplanmode exec_command write_stdin shell local_shell apply_patch patch update_plan read_file
    read_many_files write_file edit_file replace create_file str_replace view view_file cat run_shell_command
    run_terminal_cmd execute_command terminal list list_directory list_dir file_search codebase_search grep_search
    search_file_content search search_replace
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Tools (lower case) that come with an agent: that a session reads and edits tells nobody anything."""

EVERYWHERE: Final = frozenset(
    """
    ls cat head tail less grep egrep rg find fd sed awk wc sort uniq cut tr xargs which file stat tree mkdir rm cp mv
    touch chmod ln du df ps diff date python python3 bash sh git
    """.split()  # noqa: SIM905 - a list of words is read as words
) | {f"git {what}" for what in ("status", "diff", "log", "show", "add", "commit", "checkout", "branch", "rev-parse")}
"""Commands that are run on any project: no more do these."""


def habits(held: Sequence[Held]) -> list[Held]:
    """What is sure enough to be spoken of, strongest first."""
    return [
        one
        for one in held
        if one.belief.pinned or (one.confidence >= HABIT_CONFIDENCE and one.belief.reinforced >= HABIT_SESSIONS)
    ]


def telling(held: Sequence[Held]) -> list[Held]:
    """Of what is sure enough, what is worth a line: nothing that is used anywhere, unless a person pinned it."""
    return [one for one in habits(held) if one.belief.pinned or not _is_ordinary(one)]


def profile_of(held: Sequence[Held]) -> str:
    """The profile; "" where too little is known for one."""
    known = telling(held)
    sentences = [sentence for template in _TEMPLATES if (sentence := template(known))][: MOST - 1]
    if len(sentences) < FEWEST - 1:
        return ""
    return " ".join([*sentences, _ground(known)])


def label(name: str) -> str:
    """A belief's name as a person reads it: `make test`, src/a.py."""
    sort, _, rest = name.partition(":")
    short = rest if len(rest) <= LONGEST else rest[: LONGEST - 1] + "…"
    return f"`{short}`" if sort in ("command", "tool", "symbol", "table") else short


def of_category(held: Sequence[Held], category: Category, *sorts: str) -> list[str]:
    """The labels of what is known of a category, of some sorts of names where they are given."""
    some = [one.belief.name for one in held if one.belief.category == category]
    return [label(name) for name in some if not sorts or name.partition(":")[0] in sorts]


def _is_ordinary(one: Held) -> bool:
    sort, _, name = one.belief.name.partition(":")
    known = {"tool": ORDINARY, "command": EVERYWHERE}.get(sort, frozenset())
    return one.belief.category == Category.AFFINITY and name.lower() in known


def _listed(names: Sequence[str]) -> str:
    *first, last = names[:NAMED]
    return f"{', '.join(first)} and {last}" if first else last


def _tools(held: Sequence[Held]) -> str:
    commands = of_category(held, Category.AFFINITY, "command")
    tools = of_category(held, Category.AFFINITY, "tool")
    if commands:
        return f"Sessions here mostly run {_listed(commands)}."
    return f"Sessions here mostly use {_listed(tools)}." if tools else ""


def _domain(held: Sequence[Held]) -> str:
    languages = of_category(held, Category.DOMAIN, "language")
    areas = of_category(held, Category.DOMAIN, "area")
    if not (languages or areas):
        return ""
    what = f" {_listed(languages)}" if languages else ""
    return (
        f"The work is mostly{what}{' in' if areas else ''} {_listed(areas)}." if areas else f"The work is mostly{what}."
    )


def _tasks(held: Sequence[Held]) -> str:
    tasks = of_category(held, Category.DOMAIN, "task")
    return f"Prompts mostly ask to {_listed(tasks)}." if tasks else ""


def _cautions(held: Sequence[Held]) -> str:
    avoided = of_category(held, Category.AVOIDANCE)
    if avoided:
        return f"Avoided here, because it was refused or mostly failed: {_listed(avoided)}."
    failing = of_category(held, Category.FAILURE)
    return f"Known to fail: {_listed(failing[:1])}." if failing else ""


def _ground(held: Sequence[Held]) -> str:
    """What all this rests on."""
    most = max(one.belief.reinforced for one in held)
    last = max(one.belief.last_seen for one in held)
    return f"This rests on what up to {most} sessions did, the last on {dated(last)}."


_TEMPLATES: Final[Sequence[Callable[[Sequence[Held]], str]]] = (_tools, _domain, _tasks, _cautions)
