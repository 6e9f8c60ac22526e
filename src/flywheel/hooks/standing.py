"""Always-on files: the blocks that an installation made, kept up to date as the knowledge of their projects changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flywheel.context.lasting import undated
from flywheel.hooks import disk
from flywheel.hooks.edits import decode
from flywheel.hooks.ledger import NAME, Entry, Ledger, locked
from flywheel.hooks.setups.common import PENDING
from flywheel.hooks.wanted import SCRIPT
from flywheel.text.blocks import MARKDOWN, Damaged, find_block, inside_block, put_block


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One block: its file, and for which agent in which checkout it is."""

    path: Path
    agent: str
    root: Path


def places(data: Path) -> Sequence[Place]:
    """Every block that was installed from this data folder; one per file, for the agent that was first."""
    found: dict[str, Place] = {}
    if not (data / "hook" / NAME).is_file():
        return ()
    for path, entry in Ledger((data / "hook" / SCRIPT).parent).files.items():
        for edits in entry.users.values():
            for one in edits:
                if one.get("kind") == "block" and one.get("root"):
                    place = Place(path=Path(path), agent=str(one["agent"]), root=Path(str(one["root"])))
                    found.setdefault(path, place)
    return list(found.values())


def refresh(place: Place, data: Path, write: Callable[[Place], str]) -> str:
    """Bring one block up to date; what was done: "", "written" or "dropped". Raises OSError, FlywheelError.

    Nothing outside the two lines is touched, and nothing is written when only the date differs. A file or block that
    a person deleted is forgotten; one with damaged lines is left alone.
    """
    disk.check_links(place.path, [place.root])
    before = disk.read(place.path)
    mark, text = decode(place.path, before)
    try:
        if find_block(text) is None:
            return _drop(place, data)
        wanted = write(place) or PENDING
        if undated(inside_block(text)) == undated(wanted.strip("\n")):
            return ""
        after = mark + put_block(text, wanted, MARKDOWN).encode()
    except Damaged:
        return ""
    with locked(data):
        if disk.read(place.path) != before or before is None:
            return ""  # somebody writes it now; there is a next time
        ledger = Ledger((data / "hook" / SCRIPT).parent)
        entry = ledger.files.get(str(place.path))
        if entry is not None and entry.after == disk.digest_of(before):
            entry.after = disk.digest_of(after)
            ledger.save()
        disk.replace(place.path, after, disk.mode_of(place.path, 0o644))
    return "written"


def _drop(place: Place, data: Path) -> str:
    with locked(data):
        ledger = Ledger((data / "hook" / SCRIPT).parent)
        entry = ledger.files.get(str(place.path))
        if entry is not None:
            entry.users = _without_blocks(entry)
            if not entry.users:
                del ledger.files[str(place.path)]
                if entry.backup:
                    Path(entry.backup).unlink(missing_ok=True)
            ledger.save()
    return "dropped"


def _without_blocks(entry: Entry) -> dict[str, list[Mapping[str, object]]]:
    kept = {user: [one for one in edits if one.get("kind") != "block"] for user, edits in entry.users.items()}
    return {user: edits for user, edits in kept.items() if edits}
