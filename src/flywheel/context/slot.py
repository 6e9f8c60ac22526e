"""The source of the slot's environment: where the session is and what is under way there."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, shorten
from flywheel.model import evidence_id, short_id


class SlotSource:
    """Folder and branch, changed files, the last commits and the files that they touched. Nothing for a prompt."""

    name = "slot"

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """Up to four items; each has another id when what it says changes."""
        if ask.query:
            return []
        today = day(ask.now)
        branch = f", branch {ask.branch}" if ask.branch else ""
        items = [_item(ask, "where", 1.0, [f"{ask.name}: {ask.cwd}{branch} (observed {today})"])]
        changed, touched = ask.git.changed, [name for name in ask.git.touched if name not in ask.git.changed]
        if changed:
            items.append(_item(ask, "changed", 0.9, _lists("Uncommitted changes", changed, f"git, {today}")))
        if ask.git.commits:
            newest = ask.git.commits[0]
            subjects = [f"{shorten(commit.subject, 90)} ({day(commit.at)})" for commit in ask.git.commits]
            texts = [f"Last commits: {'; '.join(subjects[:many])}" for many in (6, 3)]
            items.append(
                _item(ask, "commits", 0.8, [*texts, f"Last commit: {shorten(newest.subject, 90)} ({day(newest.at)})"])
            )
            if touched:
                stamp = f"git, {day(newest.at)}"
                items.append(_item(ask, "touched", 0.7, _lists("Files of the last commits", touched, stamp)))
        return [piece for piece in items if piece.id not in ask.exclude]


def _lists(what: str, names: Sequence[str], stamp: str) -> list[str]:
    """All names up to 16, six of them, and their number."""
    texts = []
    for many in (16, 6):
        more = f" and {len(names) - many} more" if len(names) > many else ""
        texts.append(f"{what}: {', '.join(names[:many])}{more} ({stamp})")
    return [*texts, f"{what}: {len(names)} ({stamp})"]


def _item(ask: Ask, part: str, relevance: float, texts: Sequence[str]) -> Piece:
    id = evidence_id("slot", str(ask.root), part, texts[0])
    marked = [f"- [fw:{short_id(id)}] {text}" for text in texts]
    names = ("body", "summary", "title") if len(marked) > 1 else ("title",)
    return ask.piece(
        kind="slot", id=id, short=short_id(id), relevance=relevance, texts=dict(zip(names, marked, strict=True))
    )
