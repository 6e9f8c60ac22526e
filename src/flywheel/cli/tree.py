"""The memory tree: ls, cat, grep, log, diff, and what it looks like as a whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flywheel.cli.ask import as_json_option, here, refuse_before
from flywheel.cli.link import connect
from flywheel.cli.paper import as_json, clean, escape, moment, open_paper, size

if TYPE_CHECKING:
    from rich.console import Console

    from flywheel.api import TreeItem, TreeMatch

F = TypeVar("F", bound=Callable[..., Any])


def _where(function: F) -> F:
    """The options that say whose tree it is."""
    cwd = click.option("--cwd", metavar="DIR", help="The tree of this folder's project; the current one unless given.")
    project = click.option("--project", default="", help="The tree of the project with this id or name.")
    return cwd(project(function))


@click.group(invoke_without_command=True, short_help="Walk the memory tree like a file system.")
@click.option("--depth", "-L", default=3, show_default=True, help="Levels.")
@_where
@as_json_option
@click.pass_context
def tree(ctx: click.Context, depth: int, cwd: str | None, project: str, json_: bool) -> None:
    """Walk the memory tree of a project; without a command, show all of it.

    It is a folder of plain Markdown with its history in Git: `flywheel tree path` says where.
    """
    refuse_before(ctx, cwd, project, json_)
    if ctx.invoked_subcommand:
        return
    found = connect().tree_tree(depth=depth, cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    paper.print(f"[bold]{escape(found.project)}[/]  [dim]{escape(found.root)}[/]")
    for item in found.items:
        _print_item(paper, item, indent=2 * (item.path.count("/") + 1))
    _notes(paper, ["There is more; name a folder: flywheel tree ls PATH"] if found.more else [], found.behind)


@tree.command()
@click.argument("path", default="")
@click.option("--limit", "-n", default=1000, show_default=True, help="Items at most.")
@click.option("-l", "long", is_flag=True, help="With size, state and title.")
@_where
@as_json_option
def ls(path: str, limit: int, long: bool, cwd: str | None, project: str, json_: bool) -> None:
    """List a folder of the tree."""
    found = connect().tree_ls(path=path, limit=limit, cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    for item in found.items:
        if long or paper.is_terminal:
            _print_item(paper, item, indent=0)
        else:
            click.echo(clean(_name(item)))
    _notes(paper, ["There is more; raise --limit"] if found.more else [], found.behind)


@tree.command()
@click.argument("path")
@click.option("--start", default=1, show_default=True, help="The first line.")
@click.option("--lines", default=2000, show_default=True, help="Lines at most.")
@_where
@as_json_option
def cat(path: str, start: int, lines: int, cwd: str | None, project: str, json_: bool) -> None:
    """Print a file of the tree; transcripts lie below raw/transcripts."""
    found = connect().tree_cat(path=path, start=start, lines=lines, cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    click.echo(clean(found.text))
    more = [f"There is more: --start {found.start + found.lines}"] if found.more else []
    _tell([*found.notes, *more], found.behind)


@tree.command()
@click.argument("pattern")
@click.argument("path", default="")
@click.option("-i", "--ignore-case", is_flag=True, help="Upper and lower case are the same.")
@click.option("-n", "--line-number", is_flag=True, help="Print the lines' numbers.")
@click.option("-C", "--context", default=0, metavar="N", help="Print N lines around each match.")
@click.option("-E", "--extended", is_flag=True, help="PATTERN is an extended regular expression.")
@click.option("--limit", default=200, show_default=True, help="Matches at most.")
@_where
@as_json_option
def grep(
    pattern: str,
    path: str,
    ignore_case: bool,
    line_number: bool,
    context: int,
    extended: bool,
    limit: int,
    cwd: str | None,
    project: str,
    json_: bool,
) -> None:
    """Find lines that match PATTERN in pages and documents, or below PATH. Exits 1 when there is none."""
    found = connect().tree_grep(
        pattern=pattern,
        path=path,
        ignore_case=ignore_case,
        extended=extended,
        context=context,
        limit=limit,
        cwd=here(cwd),
        project=project,
    )
    if json_:
        as_json(found)
    else:
        _print_matches(found.matches, numbers=line_number, groups=context > 0)
        _tell(found.notes, found.behind)
    if not found.matches:
        sys.exit(1)


@tree.command()
@click.argument("path", default="")
@click.option("--limit", "-n", default=20, show_default=True, help="Change sets at most.")
@_where
@as_json_option
def log(path: str, limit: int, cwd: str | None, project: str, json_: bool) -> None:
    """Show the change sets that touched PATH, the latest first."""
    found = connect().tree_log(path=path, limit=limit, cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    for change in found.changes:
        paper.print(f"[cyan]{change.id}[/] {moment(change.at)}  {escape(change.title)}")
        for line in change.lines:
            if line and line != change.title:
                paper.print(f"    [dim]{escape(line)}[/]")
    if not found.changes:
        paper.print("No change sets yet.")
    _notes(paper, found.notes, 0)


@tree.command()
@click.argument("path", default="")
@click.option("--change", default="", metavar="ID", help="Of this change set; the last one unless given.")
@_where
@as_json_option
def diff(path: str, change: str, cwd: str | None, project: str, json_: bool) -> None:
    """Show what a change set did to PATH."""
    found = connect().tree_diff(path=path, change=change, cwd=here(cwd), project=project)
    if json_:
        as_json(found)
        return
    paper = open_paper()
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in clean(found.text).splitlines():
        paper.print(line, style=colours.get(line[:1]) if paper.is_terminal else None, markup=False)
    _notes(paper, [*found.notes, *(["The diff is cut; name a path"] if found.cut else [])], 0)


@tree.command()
@_where
def path(cwd: str | None, project: str) -> None:
    """Print where the tree's folder is."""
    click.echo(connect().tree_ls(limit=1, cwd=here(cwd), project=project).root)


def _name(item: TreeItem) -> str:
    return f"{item.name}/" if item.kind == "folder" else item.name


def _print_item(paper: Console, item: TreeItem, *, indent: int) -> None:
    if item.kind == "folder":
        paper.print(f"{' ' * indent}[bold blue]{escape(item.name)}/[/]")
        return
    facts = (size(item.size) if item.size else "", item.status, moment(item.at) if item.at and not item.size else "")
    told = "  ".join(word for word in facts if word)
    title = f"  {escape(item.title[:80])}" if item.title else ""
    paper.print(f"{' ' * indent}{escape(item.name)}  [dim]{told}[/]{title}")


def _print_matches(matches: Sequence[TreeMatch], *, numbers: bool, groups: bool) -> None:
    """As grep prints them: ``path:line:text``, lines around with ``-``, ``--`` between groups."""
    lines: dict[tuple[str, int], tuple[str, str]] = {}
    for match in matches:
        first = match.line - len(match.before)
        around = [(first + n, text) for n, text in enumerate(match.before)]
        around += [(match.line + 1 + n, text) for n, text in enumerate(match.after)]
        for number, text in around:
            lines.setdefault((match.path, number), ("-", text))
        lines[match.path, match.line] = (":", match.text)
    order = {path: n for n, path in enumerate(dict.fromkeys(match.path for match in matches))}
    last = ("", 0)
    for path, number in sorted(lines, key=lambda key: (order[key[0]], key[1])):
        mark, text = lines[path, number]
        if groups and last != ("", 0) and last != (path, number - 1):
            click.echo("--")
        click.echo(clean(f"{path}{mark}{f'{number}{mark}' if numbers else ''}{text}"))
        last = (path, number)


def _notes(paper: Console, notes: Sequence[str], behind: int) -> None:
    for note in notes:
        paper.print(f"[yellow]{escape(note)}[/]")
    if behind:
        paper.print(f"[yellow]{behind:,} changes are not rendered yet.[/]")


def _tell(notes: Sequence[str], behind: int) -> None:
    """The same beside what may be piped."""
    for note in notes:
        click.echo(note, err=True)
    if behind:
        click.echo(f"{behind:,} changes are not rendered yet.", err=True)
