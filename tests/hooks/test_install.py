"""The installer: the plan, the settings file after it, and the way back."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.cli.install import hook_setup
from flywheel.errors import BadInput, Conflict, Refused
from flywheel.hooks import claude
from flywheel.hooks.checks import problems
from flywheel.hooks.client_copy import Setup, base_python
from flywheel.hooks.install import Plan, apply, plan_install, plan_uninstall
from flywheel.hooks.jsontext import append, parse, remove
from flywheel.hooks.settings import our_commands, with_hooks, without_hooks
from flywheel.hooks.wanted import command_line
from flywheel.text.redact import Redactor

FOREIGN = """{
    "model": "large",  "cleanupPeriodDays": 99999.0,
    "permissions": { "allow": ["Bash(ls:*)"], "deny": [] },
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ],
        "PreToolUse": [{ "matcher": "Bash", "hooks": [ ] }]
    },
    "später": "é \\ud83d"
}
"""
COMMANDS = {
    want.event: command_line(Path("/py"), Path("/d/hook/flywheel-hook.py"), want.event) for want in claude.HOOKS
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "claude"


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(data=tmp_path / "data", socket=tmp_path / "fw.sock", python=base_python())


def install(home: Path, setup: Setup) -> Plan:
    plan = plan_install("claude", claude.settings_file(home), claude.HOOKS, setup, Redactor())
    apply(plan, setup)
    return plan


def uninstall(home: Path, setup: Setup) -> Plan:
    plan = plan_uninstall("claude", claude.settings_file(home), setup, Redactor())
    apply(plan, setup)
    return plan


def write(home: Path, text: str | bytes) -> Path:
    home.mkdir(exist_ok=True)
    path = claude.settings_file(home)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_planning_writes_nothing(home: Path, setup: Setup) -> None:
    """A plan shows the diff and touches neither the settings nor the data folder."""
    path = write(home, FOREIGN)
    plan = plan_install("claude", path, claude.HOOKS, setup, Redactor())
    assert plan.changes and "+" in plan.diff and "SessionStart" in plan.diff
    assert path.read_text() == FOREIGN and not setup.data.exists()


def test_installed_settings_hold_every_hook_with_its_exact_command(home: Path, setup: Setup) -> None:
    """Events, matchers, timeouts and command lines are as promised."""
    install(home, setup)
    hooks = json.loads(claude.settings_file(home).read_bytes())["hooks"]
    start = hooks["SessionStart"][0]
    assert start["matcher"] == "startup|resume|clear|compact"
    assert start["hooks"] == [
        {
            "type": "command",
            "command": f"{setup.python} -I -S {setup.script} SessionStart 2>/dev/null || :",
            "timeout": 5,
        }
    ]
    wanted = {"UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop", "PreCompact", "SessionEnd"}
    assert wanted <= set(hooks)
    assert all(Path(part).is_absolute() for part in (setup.python, setup.script))


def test_interpreter_is_the_base_one() -> None:
    """The command names the interpreter that the environment was made from, not the environment's own."""
    python = base_python()
    assert python.is_relative_to(sys.base_prefix) and os.access(python, os.X_OK)
    assert sys.prefix == sys.base_prefix or not python.is_relative_to(sys.prefix)


def test_second_installation_changes_no_byte(home: Path, setup: Setup) -> None:
    """Installing twice equals installing once, in the settings, the client and the backup."""
    write(home, FOREIGN)
    install(home, setup)
    files = [p for p in (*home.iterdir(), *setup.script.parent.iterdir()) if p.is_file()]
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in files}
    plan = install(home, setup)
    assert not plan.changes and plan.diff == ""
    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in files} == before


def test_everything_foreign_keeps_its_bytes(home: Path, setup: Setup) -> None:
    """Foreign hooks, unknown keys, numbers, odd spacing and escapes stand as they stood; lines are only added."""
    path = write(home, FOREIGN)
    install(home, setup)
    text = path.read_text()
    lines = iter(text.splitlines())
    for line in FOREIGN.splitlines():  # in order, but for a comma that a list needs now
        assert any(line in (now, now.rstrip(",")) for now in lines), line
    assert json.loads(text)["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    assert "\n            {\n                " in text, "the file's own indentation is used"


def test_uninstalling_restores_the_file(home: Path, setup: Setup) -> None:
    """Byte for byte, mode included; the backup, the client and the record go."""
    path = write(home, FOREIGN)
    path.chmod(0o640)
    install(home, setup)
    backup = path.with_name("settings.json.before-flywheel")
    assert backup.read_text() == FOREIGN and stat.S_IMODE(backup.stat().st_mode) == 0o640
    uninstall(home, setup)
    assert path.read_text() == FOREIGN and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not backup.exists() and not any(setup.script.parent.iterdir())


@pytest.mark.parametrize(
    "text", ["", "  \n", "{}", '{"hooks": {}}', '{"a":1}', '{\n\t"hooks": {\n\t\t"Stop": []\n\t}\n}']
)
def test_uninstalling_restores_small_files(home: Path, setup: Setup, text: str) -> None:
    """Empty, one-line and tab-indented files, too."""
    path = write(home, text)
    install(home, setup)
    json.loads(path.read_bytes())
    uninstall(home, setup)
    assert path.read_text() == text


def test_uninstalling_removes_a_file_that_was_not_there(home: Path, setup: Setup) -> None:
    """Where the installation made the settings, uninstalling takes them away."""
    install(home, setup)
    assert stat.S_IMODE(claude.settings_file(home).stat().st_mode) == 0o600
    uninstall(home, setup)
    assert not home.exists()


def test_uninstalling_keeps_what_changed_since(home: Path, setup: Setup) -> None:
    """After a foreign change only our hooks go, and everything else stays byte for byte."""
    path = write(home, FOREIGN)
    install(home, setup)
    path.write_text(path.read_text().replace('"large"', '"small"'))
    plan = uninstall(home, setup)
    assert plan.changes and path.read_text() == FOREIGN.replace('"large"', '"small"')


def test_reinstalling_after_a_change_keeps_the_way_back(home: Path, setup: Setup) -> None:
    """A change between two installations is part of what uninstalling restores."""
    path = write(home, FOREIGN)
    install(home, setup)
    path.write_text(path.read_text().replace('"large"', '"small"'))
    moved = Setup(data=setup.data, socket=setup.socket, python=Path("/usr/bin/python3"))
    install(home, moved)
    text = path.read_text()
    assert str(setup.python) + " -I" not in text and "/usr/bin/python3 -I" in text
    uninstall(home, moved)
    assert path.read_text() == FOREIGN.replace('"large"', '"small"')


def test_older_hooks_of_ours_are_replaced(home: Path, setup: Setup) -> None:
    """Another data folder's hooks are replaced, a group shared with a foreign hook keeps the foreign one."""
    old = command_line(Path("/old/python"), Path("/old/hook/flywheel-hook.py"), "Stop")
    both = {"hooks": [{"type": "command", "command": "say x"}, {"type": "command", "command": old}]}
    path = write(
        home, json.dumps({"hooks": {"Stop": [both], "Notification": [{"hooks": both["hooks"][1:]}]}}, indent=2)
    )
    install(home, setup)
    hooks = json.loads(path.read_bytes())["hooks"]
    assert "/old" not in path.read_text()
    assert hooks["Stop"][0] == {"hooks": [{"type": "command", "command": "say x"}]} and len(hooks["Stop"]) == 2
    assert "Notification" not in hooks


@pytest.mark.parametrize(
    "text",
    ['{"a": 1,}', "// note\n{}", "[1]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', b'{"a": "\xff"}', "[" * 100_000],
    ids=["comma", "comment", "list", "hooks list", "event object", "bytes", "deep"],
)
def test_settings_that_cannot_be_understood_are_left_alone(home: Path, setup: Setup, text: str | bytes) -> None:
    """A clear error that names the file, and nothing written."""
    path = write(home, text)
    before = path.read_bytes()
    with pytest.raises(BadInput, match=r"settings\.json: "):
        install(home, setup)
    assert path.read_bytes() == before and not setup.data.exists()


def test_invalid_json_is_named_with_line_and_column(home: Path, setup: Setup) -> None:
    """The error says where to look."""
    write(home, '{\n  "a": 1,\n  "b": nope\n}')
    with pytest.raises(BadInput, match="line 3, column 8"):
        install(home, setup)


def test_symbolic_link_and_mode_survive(tmp_path: Path, home: Path, setup: Setup) -> None:
    """Settings kept in a dotfiles folder stay a link, and the file it leads to is the one that changes."""
    kept = tmp_path / "dotfiles.json"
    kept.write_text(FOREIGN)
    kept.chmod(0o604)
    home.mkdir()
    claude.settings_file(home).symlink_to(kept)
    install(home, setup)
    assert claude.settings_file(home).is_symlink() and "SessionStart" in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o604
    uninstall(home, setup)
    assert claude.settings_file(home).is_symlink() and kept.read_text() == FOREIGN


def test_byte_order_mark_and_line_ends_survive(home: Path, setup: Setup) -> None:
    """A file with a mark and CRLF gets CRLF lines and keeps its mark."""
    original = b"\xef\xbb\xbf" + FOREIGN.replace("\n", "\r\n").encode()
    path = write(home, original)
    install(home, setup)
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf{") and data.count(b"\n") == data.count(b"\r\n")
    uninstall(home, setup)
    assert path.read_bytes() == original


def test_settings_changed_between_plan_and_application(home: Path, setup: Setup) -> None:
    """A plan made for other bytes is refused, and nothing is written."""
    path = write(home, "{}")
    plan = plan_install("claude", path, claude.HOOKS, setup, Redactor())
    path.write_text('{"new": 1}')
    with pytest.raises(Conflict):
        apply(plan, setup)
    assert path.read_text() == '{"new": 1}' and not setup.data.exists()


def test_folder_that_cannot_be_written(home: Path, setup: Setup) -> None:
    """A file in the place of the settings' folder is refused with its name."""
    home.write_text("a file")
    with pytest.raises(Refused, match="claude"):
        install(home, setup)


def test_secrets_of_the_settings_are_not_shown(home: Path, setup: Setup) -> None:
    """The diff goes through redaction: its neighbouring lines may hold keys."""
    key = "sk-ant-api03-" + "aB3dE5gH" * 12
    write(home, json.dumps({"env": {"ANTHROPIC_API_KEY": key}}, indent=2))
    plan = plan_install("claude", claude.settings_file(home), claude.HOOKS, setup, Redactor())
    assert key.encode() in (plan.files[0].after or b"") and key not in plan.diff


def test_hooks_switched_off_are_mentioned(home: Path, setup: Setup) -> None:
    """``disableAllHooks`` gives a warning."""
    write(home, '{"disableAllHooks": true}')
    plan = plan_install("claude", claude.settings_file(home), claude.HOOKS, setup, Redactor())
    assert len(plan.warnings) == 1 and "disableAllHooks" in plan.warnings[0]


def test_path_with_a_line_break_is_refused(home: Path, tmp_path: Path) -> None:
    """A path that hook.conf cannot hold is an error, not a broken configuration."""
    with pytest.raises(BadInput):
        install(home, Setup(data=tmp_path / "data", socket=tmp_path / "a\nb", python=base_python()))


@pytest.mark.parametrize("lost", ["script", "interpreter", "conf", "version", "event"])
def test_status_names_what_is_missing(home: Path, setup: Setup, tmp_path: Path, lost: str) -> None:
    """Each missing part is one problem with its remedy; an intact installation has none."""
    python = tmp_path / "python"
    python.symlink_to(base_python())
    setup = Setup(data=setup.data, socket=setup.socket, python=python)
    settings = claude.settings_file(home)
    assert problems("claude", settings, claude.HOOKS, setup) == []
    install(home, setup)
    assert problems("claude", settings, claude.HOOKS, setup) == []
    expected = {"script": setup.script, "interpreter": python, "conf": "hook.conf", "version": "another version"}
    if lost == "script":
        setup.script.unlink()
    elif lost == "interpreter":
        python.unlink()
    elif lost == "conf":
        (setup.script.parent / "hook.conf").unlink()
    elif lost == "version":
        setup.script.write_text("# older")
    else:
        document = json.loads(settings.read_bytes())
        del document["hooks"]["Stop"]
        settings.write_text(json.dumps(document))
    (problem,) = problems("claude", settings, claude.HOOKS, setup)
    assert str(expected.get(lost, "Stop")) in problem and "flywheel install claude" in problem


@pytest.mark.parametrize("lost", ["script", "interpreter", "conf", "folder", "nothing"])
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_installed_command_is_silent_whatever_is_gone(home: Path, tmp_path: Path, lost: str, shell: str) -> None:
    """The real command line, from a folder with a space in its name: exit 0 and no output, on either stream."""
    data = tmp_path / "my data"
    python = tmp_path / "the python"
    python.symlink_to(base_python())
    setup = Setup(data=data, socket=tmp_path / "fw.sock", python=python)
    install(home, setup)
    command = our_commands(claude.settings_file(home).read_text())["UserPromptSubmit"][0]
    if lost == "script":
        setup.script.unlink()
    elif lost == "interpreter":
        python.unlink()
    elif lost == "conf":
        (setup.script.parent / "hook.conf").unlink()
    elif lost == "folder":
        shutil.rmtree(data)
    done = subprocess.run([shell, "-c", command], input=b'{"prompt": "hi"}', capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
INDENT = st.sampled_from([None, 0, 1, 2, 4, "\t"])


@settings(max_examples=50, deadline=None)
@given(document=st.dictionaries(st.text(max_size=6).filter(lambda k: k != "hooks"), JSON, max_size=4), indent=INDENT)
def test_any_settings_take_our_hooks_and_give_them_back(document: dict[str, object], indent: int | str | None) -> None:
    """Whatever else the settings hold and however they are laid out: added, idempotent, and taken out to the byte."""
    text = json.dumps(document, indent=indent)
    put = with_hooks(text, claude.HOOKS, COMMANDS)
    assert {k: v for k, v in json.loads(put).items() if k != "hooks"} == document
    assert set(our_commands(put)) == set(COMMANDS)
    assert with_hooks(put, claude.HOOKS, COMMANDS) == put
    assert without_hooks(put) == text


@settings(max_examples=50, deadline=None)
@given(items=st.lists(JSON, max_size=4), value=JSON, indent=INDENT)
def test_appending_and_removing_are_inverse(items: list[object], value: object, indent: int | str | None) -> None:
    """`remove` undoes `append` in arrays of any layout, and the tree knows what the text holds."""
    text = json.dumps({"list": items}, indent=indent, ensure_ascii=False)
    listed = parse(text).member("list")
    assert listed is not None and listed.node.value == items
    longer = append(text, listed.node, value)
    assert json.loads(longer) == {"list": [*items, value]}
    again = parse(longer).member("list")
    assert again is not None
    assert remove(longer, again.node, again.node.children[-1]) == text


def test_a_project_cannot_pass_its_files_for_our_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command by which a hook starts a daemon runs in the project's folder, and imports nothing from there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLYWHEEL_HOME", "fw")
    (tmp_path / "click.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "flywheel").mkdir()
    (tmp_path / "flywheel" / "__init__.py").write_text("raise SystemExit(3)\n")
    made = hook_setup()
    *command, verb = made.start
    assert verb == "daemon"
    done = subprocess.run([*command, "--version"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0 and b"flywheel" in done.stdout, done.stderr
    assert made.env == {"FLYWHEEL_HOME": str(tmp_path / "fw")}  # relative names mean nothing to a daemon
