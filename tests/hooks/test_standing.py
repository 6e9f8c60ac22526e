"""Always-on files on disk: only what stands between the two lines is written, and only when it must be."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hooks.setting_up import base_of, fill, make_here, snapshot

from flywheel.errors import BadInput, Refused
from flywheel.hooks.health import all_problems
from flywheel.hooks.install import apply
from flywheel.hooks.ledger import Ledger
from flywheel.hooks.plan import plan_removal, plan_wish
from flywheel.hooks.setups import SETUPS, Here, Options, Scope, wish_of
from flywheel.hooks.setups.common import PENDING
from flywheel.hooks.standing import Place, places, refresh
from flywheel.text.blocks import inside_block
from flywheel.text.redact import Redactor

TEXT = "<flywheel-briefing>\nAbout shop. As of 2026-01-02. More.\n\n- {}\n</flywheel-briefing>"
FILES = {
    "claude": "CLAUDE.local.md",
    "codex": "AGENTS.md",
    "gemini": "GEMINI.md",
    "opencode": "AGENTS.md",
    "cursor": ".cursor/rules/flywheel.mdc",
    "copilot": "AGENTS.md",
    "aider": "CONVENTIONS.md",
}
RULES = "# Rules\r\n\r\nAlways test."


def install(agent: str, here: Here) -> Place:
    wish = wish_of(agent, here, Options(always_on=True))
    apply(plan_wish(wish, here.setup, Redactor()), here.setup)
    (place,) = places(here.setup.data)
    return place


def uninstall(agent: str, here: Here) -> None:
    wish = wish_of(agent, here, Options(always_on=True))
    apply(plan_removal(wish, here.setup, Redactor()), here.setup)


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return make_here(tmp_path, Scope.PROJECT)


@pytest.mark.parametrize("agent", SETUPS)
@pytest.mark.parametrize("there", [True, False], ids=["there", "made"])
def test_each_agents_file_is_kept(here: Here, agent: str, there: bool) -> None:
    """From the placeholder to the text to a newer one; what stands around has its bytes, also after it was changed."""
    path = base_of(here) / FILES[agent]
    if there:
        fill(here, {FILES[agent]: RULES})
    before = snapshot(base_of(here))
    place = install(agent, here)
    assert (place.path, place.agent, place.root) == (path, agent, here.root)
    assert inside_block(path.read_text()) == PENDING
    mode = path.stat().st_mode
    assert stat.S_IMODE(mode) == (0o640 if there else 0o644)
    for said in ("one", "two"):
        assert refresh(place, here.setup.data, lambda _, said=said: TEXT.format(said)) == "written"  # type: ignore[misc]
        assert f"- {said}" in inside_block(path.read_text())
    assert path.stat().st_mode == mode
    if there:
        assert path.read_bytes().startswith(RULES.encode() + b"\r\n<!-- flywheel:begin")
    uninstall(agent, here)
    assert snapshot(base_of(here)) == before


def test_cursors_rule_is_always_loaded(here: Here) -> None:
    """A rules file that we make has the front matter that Cursor wants."""
    place = install("cursor", here)
    assert (
        place.path.read_text().startswith("---\ndescription: ") and "alwaysApply: true\n---\n" in place.path.read_text()
    )


def test_nothing_is_written_for_a_new_date(here: Here) -> None:
    """The same knowledge on another day: not a byte, nor the file's time."""
    place = install("codex", here)
    refresh(place, here.setup.data, lambda _: TEXT)
    before = (place.path.read_bytes(), place.path.stat().st_mtime_ns)
    assert refresh(place, here.setup.data, lambda _: TEXT.replace("01-02", "03-04")) == ""
    assert (place.path.read_bytes(), place.path.stat().st_mtime_ns) == before


def test_what_a_person_writes_around_it_stays(here: Here) -> None:
    """Before, behind, without a line's end, in other encodings of a line's end."""
    place = install("codex", here)
    text = "before\r\n" + place.path.read_text() + "after, no end"
    place.path.write_bytes(text.encode())
    refresh(place, here.setup.data, lambda _: TEXT)
    now = place.path.read_bytes()
    assert now.startswith(b"before\r\n<!-- flywheel:begin") and now.endswith(b"<!-- flywheel:end -->\r\nafter, no end")
    uninstall("codex", here)
    assert place.path.read_bytes() == b"before\r\nafter, no end"


@pytest.mark.parametrize("how", ["end gone", "twice"])
def test_damaged_lines_are_left_alone_and_reported(here: Here, how: str) -> None:
    """The file is not touched, and ``status`` says why."""
    place = install("codex", here)
    text = place.path.read_text()
    place.path.write_text(text.replace("<!-- flywheel:end -->", "") if how == "end gone" else text + text)
    before = place.path.read_bytes()
    assert refresh(place, here.setup.data, lambda _: TEXT) == "" and place.path.read_bytes() == before
    told = [problem for problem in all_problems(replace(here, root=None)) if "AGENTS.md" in problem]
    assert len(told) == 1 and "not kept up to date" in told[0] and "mend" in told[0]


@pytest.mark.parametrize("how", ["file", "block"])
def test_what_a_person_deleted_is_forgotten(here: Here, how: str) -> None:
    """Neither the file nor the block comes back, and the rest of the installation stays known."""
    place = install("codex", here)
    if how == "file":
        place.path.unlink()
    else:
        place.path.write_text("only mine\n")
    assert refresh(place, here.setup.data, lambda _: TEXT) == "dropped"
    assert not places(here.setup.data)
    assert not place.path.exists() if how == "file" else place.path.read_text() == "only mine\n"
    assert str(place.path) not in Ledger(here.setup.script.parent).files
    assert Ledger(here.setup.script.parent).installations() == [f"codex:project:{here.root}"]


def test_a_link_out_of_the_repository_is_not_followed(here: Here, tmp_path: Path) -> None:
    """A checkout whose AGENTS.md became a link to a file elsewhere: refused, and nothing written there."""
    place = install("codex", here)
    outside = tmp_path / "notes.md"
    place.path.replace(outside)
    place.path.symlink_to(outside)
    before = outside.read_bytes()
    with pytest.raises(Refused, match="leads out"):
        refresh(place, here.setup.data, lambda _: TEXT)
    assert outside.read_bytes() == before


def test_a_file_that_is_no_text_is_named(here: Here) -> None:
    """Bytes that are not UTF-8 are an error with the file's name."""
    place = install("codex", here)
    place.path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match=r"AGENTS\.md"):
        refresh(place, here.setup.data, lambda _: TEXT)


def test_somebody_who_writes_meanwhile_wins(here: Here) -> None:
    """The file changes while the text is made: nothing is written this time."""
    place = install("codex", here)

    def write(_: Place) -> str:
        place.path.write_text("mine now\n" + place.path.read_text())
        return TEXT

    assert refresh(place, here.setup.data, write) == ""
    assert place.path.read_text().startswith("mine now\n") and PENDING in place.path.read_text()


def test_no_installation_has_no_places(tmp_path: Path) -> None:
    """And reading that makes no folder."""
    assert places(tmp_path / "none") == () and not (tmp_path / "none").exists()
