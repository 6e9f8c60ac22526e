"""Every agent in every scope: put in, twice, and taken out again, over settings as people have them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hooks.setting_up import COMMENTED, CURSOR, FOREIGN, SERVERS, base_of, fill, make_here, snapshot

from flywheel.errors import BadInput, Conflict, DiskFull, FlywheelError, Refused
from flywheel.hooks import disk, jsontext
from flywheel.hooks.checks import commands_in
from flywheel.hooks.health import BROKEN, INSTALLED, NOT_INSTALLED, NOT_TRUSTED, all_problems, healths
from flywheel.hooks.install import apply
from flywheel.hooks.jsontext import without_comments
from flywheel.hooks.ledger import Ledger
from flywheel.hooks.plan import Plan, plan_removal, plan_wish
from flywheel.hooks.setups import SETUPS, Here, Options, Scope, claude, wish_of
from flywheel.text.redact import Redactor

CASES = [key.split(":") for key in FOREIGN]
EVERYTHING = Options()
SWAPS = (("mine", "ours"), ("big", "huge"), ("dark", "light"), ("x", "y"), ("{", "{ "), ("test", "try"))
"""Something of somebody else's in each of the files, and what it is changed to."""


def plan(agent: str, here: Here, options: Options = EVERYTHING) -> Plan:
    return plan_wish(wish_of(agent, here, options), here.setup, Redactor())


def install(agent: str, here: Here, options: Options = EVERYTHING) -> Plan:
    made = plan(agent, here, options)
    apply(made, here.setup)
    return made


def uninstall(agent: str, here: Here, options: Options = EVERYTHING, leaving: tuple[str, ...] = ()) -> Plan:
    wish = replace(wish_of(agent, here, options), leaving=leaving)
    made = plan_removal(wish, here.setup, Redactor())
    apply(made, here.setup)
    return made


@pytest.mark.parametrize("always_on", [False, True], ids=["", "always on"])
@pytest.mark.parametrize("shape", ["plain", "crlf", "bom", "nothing"])
@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_there_and_back_to_the_byte(tmp_path: Path, agent: str, scope: str, shape: str, always_on: bool) -> None:
    """Installed twice is installed once; taken out, every file and folder is as it was, modes included."""
    here = make_here(tmp_path, Scope(scope))
    options = Options(always_on=always_on and scope == "project")
    if shape != "nothing":
        fill(here, FOREIGN[f"{agent}:{scope}"], crlf=shape == "crlf", bom=shape == "bom")
    before = snapshot(base_of(here))
    assert install(agent, here, options).changes
    installed, kept = snapshot(base_of(here)), snapshot(here.setup.data)
    assert installed != before
    again = install(agent, here, options)
    assert not again.changes and again.diff == ""
    assert snapshot(base_of(here)) == installed and snapshot(here.setup.data) == kept
    uninstall(agent, here, options)
    assert snapshot(base_of(here)) == before
    assert not any((here.setup.data / "hook").iterdir())


@pytest.mark.parametrize("shape", ["plain", "crlf", "bom"])
@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_what_changed_since_stays(tmp_path: Path, agent: str, scope: str, shape: str) -> None:
    """Where somebody wrote into a file after the installation, only ours goes: the rest is as it would be without."""
    here = make_here(tmp_path, Scope(scope))
    files = FOREIGN[f"{agent}:{scope}"]
    fill(here, files, crlf=shape == "crlf", bom=shape == "bom")
    install(agent, here)
    wanted = {}
    for name, text in files.items():
        path = base_of(here) / name
        old, new = next(pair for pair in SWAPS if pair[0] in text)
        data = path.read_bytes()
        assert old.encode() in data
        path.write_bytes(data.replace(old.encode(), new.encode()))
        changed = text.replace(old, new)
        raw = (changed.replace("\n", "\r\n") if shape == "crlf" else changed).encode()
        wanted[name] = b"\xef\xbb\xbf" + raw if shape == "bom" else raw
    uninstall(agent, here)
    for name, data in wanted.items():
        found = (base_of(here) / name).read_bytes()
        if name.endswith(".json") and b'"hooks": {}' in data:  # an object that was empty is not told from one of ours
            continue
        assert _meaning(name, found) == _meaning(name, data)
        assert b"flywheel-hook" not in found and b"-m" not in found


def _meaning(name: str, data: bytes) -> object:
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    if name.endswith((".json", ".jsonc")):
        found = json.loads(without_comments(text)[1])
        for key in ("mcpServers", "hooks"):  # likewise
            if not found.get(key):
                found.pop(key, None)
        if isinstance(hooks := found.get("hooks"), dict):
            found["hooks"] = {event: groups for event, groups in hooks.items() if groups}
        return found
    return tomllib.loads(text) if name.endswith(".toml") else text


@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_foreign_hooks_and_servers_are_kept(tmp_path: Path, agent: str, scope: str) -> None:
    """Everything that was in a file is in it afterwards, in its own words."""
    here = make_here(tmp_path, Scope(scope))
    files = FOREIGN[f"{agent}:{scope}"]
    fill(here, files)
    install(agent, here)
    for name, text in files.items():
        now = (base_of(here) / name).read_text()
        if name.endswith((".json", ".jsonc")):
            assert _holds(*(json.loads(without_comments(one)[1]) for one in (now, text))), name
        lines = iter(now.splitlines())
        for line in text.splitlines() if "json" not in name else ():
            assert line in lines, (name, line)
        for comment in re.findall(r"(?:^| )//.*|/\*.*", text):
            assert comment in now


def _holds(now: object, then: object) -> bool:
    """Whether what is there now has all that was there then."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(key in now and _holds(now[key], value) for key, value in then.items())
    if isinstance(then, list):
        return isinstance(now, list) and now[: len(then)] == then
    return now == then


@pytest.mark.parametrize(("agent", "scope"), [case for case in CASES if case[1] == "project"])
def test_a_repository_names_no_machine(tmp_path: Path, agent: str, scope: str) -> None:
    """What is installed into a repository has no path of this machine, and its hooks are silent without Flywheel."""
    here = make_here(tmp_path, Scope(scope))
    install(agent, here, Options(always_on=True))
    for path in base_of(here).rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert str(tmp_path) not in text and str(here.setup.python) not in text and "/opt/flywheel" not in text
            commands = commands_in(text) if path.suffix == ".json" else {}
            for command in {one for many in commands.values() for one in many}:
                env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "nobody")}
                done = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, env=env, check=False)
                assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_cut_short_anywhere_the_way_back_is_known(
    tmp_path: Path, agent: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between any two writes, each file is old or new; both finishing and undoing lead where they should."""
    here = make_here(tmp_path / "whole", Scope(scope))
    fill(here, FOREIGN[f"{agent}:{scope}"])
    before = snapshot(base_of(here))
    install(agent, here)
    after = {name: data for name, data in snapshot(base_of(here)).items() if not name.endswith(".before-flywheel")}
    real, steps = disk.replace, 0
    for stop in range(40):
        case = make_here(tmp_path / f"{stop}", Scope(scope))
        fill(case, FOREIGN[f"{agent}:{scope}"])
        steps = 0

        def dies(path: Path, data: bytes, mode: int, stop: int = stop) -> bool:
            nonlocal steps
            steps += 1
            if steps > stop:
                raise KeyboardInterrupt
            return real(path, data, mode)

        monkeypatch.setattr(disk, "replace", dies)
        try:
            install(agent, case)
        except KeyboardInterrupt:
            monkeypatch.setattr(disk, "replace", real)
        else:
            monkeypatch.setattr(disk, "replace", real)
            assert stop > 3
            return
        for name, (_, data) in snapshot(base_of(case)).items():
            new = _here(after.get(name, (0, b""))[1], tmp_path / "whole", tmp_path / f"{stop}")
            found = _here(data, tmp_path, tmp_path)
            assert name.endswith(".before-flywheel") or found in (before.get(name, (0, b""))[1], new) or not data
        if stop % 2:
            install(agent, case)
        uninstall(agent, case)
        assert snapshot(base_of(case)) == before, stop
    raise AssertionError("it never came to its end")


def _here(data: bytes, old: Path, new: Path) -> bytes:
    """What one home has as it would be in another; hashes of command lines are left out."""
    return re.sub(rb"sha256:\w+", b"", data.replace(str(old).encode(), str(new).encode()))


def test_a_shared_file_goes_with_the_last_one(tmp_path: Path) -> None:
    """The skill that several agents read stays until the last of them is taken out."""
    here = make_here(tmp_path)
    before = snapshot(here.home)
    skill = here.home / ".agents" / "skills" / "flywheel" / "SKILL.md"
    for agent in ("codex", "gemini", "cursor"):
        install(agent, here)
    for agent in ("codex", "cursor"):
        uninstall(agent, here)
        assert skill.is_file()
    uninstall("gemini", here)
    assert snapshot(here.home) == before


def test_all_leave_together(tmp_path: Path) -> None:
    """Plans that are made at once for several agents agree about what they share."""
    here = make_here(tmp_path)
    before = snapshot(here.home)
    names = [name for name in SETUPS if name != "aider"]
    for plan_ in [plan(name, here) for name in names]:  # made before any is applied
        apply(plan_, here.setup)
    keys = tuple(f"{name}:user" for name in names)
    plans = [
        plan_removal(replace(wish_of(name, here, EVERYTHING), leaving=keys), here.setup, Redactor()) for name in names
    ]
    for plan_ in plans:
        apply(plan_, here.setup)
    assert snapshot(here.home) == before


def test_two_installations_in_one_file(tmp_path: Path) -> None:
    """A repository's AGENTS.md holds one block for all agents that read it."""
    here = make_here(tmp_path, Scope.PROJECT)
    fill(here, {"AGENTS.md": "# Rules\nno end of line"})
    before = snapshot(base_of(here))
    options = Options(always_on=True)
    for agent in ("codex", "opencode", "copilot"):
        install(agent, here, options)
    path = base_of(here) / "AGENTS.md"
    assert path.read_text().count("flywheel:begin") == 1 and path.read_text().startswith("# Rules\nno end of line\n")
    for agent in ("opencode", "codex"):
        uninstall(agent, here, options)
        assert "flywheel:begin" in path.read_text()
    uninstall("copilot", here, options)
    assert snapshot(base_of(here)) == before


def test_what_is_not_wanted_any_more_is_given_back(tmp_path: Path) -> None:
    """Installing without MCP and skill takes those of an earlier installation out."""
    here = make_here(tmp_path)
    fill(here, FOREIGN["claude:user"])
    state = (here.home / ".claude.json").read_bytes()
    install("claude", here)
    assert b"flywheel" in (here.home / ".claude.json").read_bytes()
    install("claude", here, Options(mcp=False, skill=False))
    assert (here.home / ".claude.json").read_bytes() == state
    assert not (here.home / ".claude" / "skills").exists()
    assert commands_in((here.home / ".claude" / "settings.json").read_text())


def test_the_plugin_and_the_settings_replace_each_other(tmp_path: Path) -> None:
    """Claude Code's two ways never stand side by side, and both lead back."""
    here = make_here(tmp_path)
    fill(here, FOREIGN["claude:user"])
    before = snapshot(here.home)
    settings, folder = here.home / ".claude" / "settings.json", claude.plugin_folder(here)
    install("claude", here)
    install("claude", here, Options(plugin=folder))
    assert not commands_in(settings.read_text()) and (folder / ".claude-plugin" / "plugin.json").is_file()
    assert (folder / "SKILL.md").is_file() and not (folder / "skills").exists(), "the skill is listed once"
    assert [one.scope for one in healths("claude", here)] == ["plugin"]
    assert len(commands_in((folder / "hooks" / "hooks.json").read_text())) == len(claude.SETUP.hooks)
    install("claude", here)
    assert commands_in(settings.read_text()) and not (folder / ".claude-plugin").exists()
    install("claude", here, Options(plugin=folder))
    uninstall("claude", here)
    assert snapshot(here.home) == before


def test_a_plugin_elsewhere_can_be_handed_on(tmp_path: Path) -> None:
    """A plugin folder that a person names holds no path of this machine."""
    here = make_here(tmp_path)
    folder = here.home / "out" / "plugin"
    install("claude", here, Options(plugin=folder))
    assert (folder / "skills" / "flywheel" / "SKILL.md").is_file()
    told = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert str(tmp_path).encode() not in told and b"flywheel-hook.py" in told and b'"flywheel"' in told
    uninstall("claude", here, Options(plugin=folder))
    assert not (here.home / "out").exists()


@pytest.mark.parametrize(
    ("agent", "name", "text", "kind"),
    [
        ("claude", ".claude/settings.json", "// note\n{}", BadInput),
        ("claude", ".claude.json", '{"mcpServers": []}', BadInput),
        ("claude", ".claude.json", '{"mcpServers": {"flywheel": {"command": "pinball"}}}', Conflict),
        ("claude", ".claude/skills/flywheel/SKILL.md", "my own pinball skill", Refused),
        ("codex", ".codex/config.toml", "a = [", BadInput),
        ("codex", ".codex/config.toml", "mcp_servers = {a = {command = 'x'}}", BadInput),
        ("codex", ".codex/config.toml", '[mcp_servers.flywheel]\ncommand = "pinball"', Conflict),
        ("cursor", ".cursor/hooks.json", '{"hooks": {"stop": {}}}', BadInput),
        ("cursor", ".cursor/mcp.json", "[]", BadInput),
        ("opencode", ".config/opencode/opencode.json", '{"mcp": 1}', BadInput),
        ("opencode", ".config/opencode/opencode.json", "{ /* open", BadInput),
        ("copilot", ".copilot/mcp-config.json", "// c\n{}", BadInput),
    ],
)
def test_what_cannot_be_extended_is_refused(
    tmp_path: Path, agent: str, name: str, text: str, kind: type[FlywheelError]
) -> None:
    """The error names the file; nothing was written anywhere."""
    here = make_here(tmp_path)
    fill(here, {name: text})
    before = snapshot(here.home)
    with pytest.raises(kind, match=Path(name).name.replace(".", r"\.")):
        install(agent, here)
    assert snapshot(here.home) == before and not here.setup.data.exists()


def test_a_change_between_plan_and_application_is_a_conflict(tmp_path: Path) -> None:
    """Of any of the files: none is written."""
    here = make_here(tmp_path)
    fill(here, FOREIGN["codex:user"])
    made = plan("codex", here)
    path = here.home / ".codex" / "config.toml"
    path.write_text(path.read_text() + "\nx = 1\n")
    before = snapshot(here.home)
    with pytest.raises(Conflict, match=r"config\.toml"):
        apply(made, here.setup)
    assert snapshot(here.home) == before and not here.setup.data.exists()


@pytest.mark.parametrize("scope", ["user", "project"])
def test_links_are_followed_inside_only(tmp_path: Path, scope: str) -> None:
    """A link within home (or the repository) is written through and stays; one that leads out is refused."""
    here = make_here(tmp_path, Scope(scope))
    base = base_of(here)
    inside, outside = base / "dotfiles.json", tmp_path / "elsewhere.json"
    for path in (inside, outside):
        path.write_text(CURSOR)
    link = base / ".cursor" / "hooks.json"
    link.parent.mkdir()
    link.symlink_to(inside)
    install("cursor", here)
    assert link.is_symlink() and commands_in(inside.read_text())
    uninstall("cursor", here)
    assert link.is_symlink() and inside.read_text() == CURSOR
    link.unlink()
    link.symlink_to(outside)
    with pytest.raises(Refused, match="leads out"):
        install("cursor", here)
    assert outside.read_text() == CURSOR
    link.unlink()
    shutil.rmtree(base / ".cursor")
    (base / ".cursor").symlink_to(tmp_path)
    with pytest.raises(Refused, match="leads out"):
        install("cursor", here)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DiskFull names the file, which has its old bytes and no part beside it."""
    here = make_here(tmp_path)
    fill(here, FOREIGN["cursor:user"])
    made, real = plan("cursor", here), disk.replace

    def full(path: Path, data: bytes, mode: int) -> bool:
        if path.name == "mcp.json":
            raise OSError(28, "No space left on device", str(path))
        return real(path, data, mode)

    monkeypatch.setattr(disk, "replace", full)
    with pytest.raises(DiskFull, match=r"mcp\.json"):
        apply(made, here.setup)
    assert (here.home / ".cursor" / "mcp.json").read_text() == SERVERS
    monkeypatch.setattr(disk, "replace", real)
    uninstall("cursor", here)
    assert (here.home / ".cursor" / "hooks.json").read_text() == CURSOR


def test_folders_that_the_environment_names(tmp_path: Path) -> None:
    """``CLAUDE_CONFIG_DIR``, ``CODEX_HOME``, ``COPILOT_HOME``, ``GEMINI_CLI_HOME`` and XDG move what they move."""
    away = tmp_path / "away"
    env = {
        "CLAUDE_CONFIG_DIR": f"{away}/c",
        "CODEX_HOME": f"{away}/x",
        "COPILOT_HOME": f"{away}/p",
        "GEMINI_CLI_HOME": f"{away}/g",
        "XDG_CONFIG_HOME": f"{away}/o",
    }
    here = make_here(tmp_path, env=env)
    for agent in ("claude", "codex", "copilot", "gemini", "opencode"):
        install(agent, here)
    names = {str(path.relative_to(away)) for path in away.rglob("*") if path.is_file()}
    assert {"c/settings.json", "c/.claude.json", "x/config.toml", "p/hooks/flywheel.json"} <= names
    assert {"g/.gemini/extensions/flywheel/gemini-extension.json", "o/opencode/plugins/flywheel.js"} <= names


def test_comments_stay_and_ours_comes_first(tmp_path: Path) -> None:
    """In a file with comments and trailing commas, opencode's, not a byte of the rest is moved."""
    here = make_here(tmp_path)
    fill(here, FOREIGN["opencode:user"])
    install("opencode", here)
    text = (here.home / ".config" / "opencode" / "opencode.jsonc").read_text()
    head, tail = COMMENTED.split('"mcp": {')
    assert text.startswith(head + '"mcp": {\n') and text.endswith(tail)
    assert json.loads(without_comments(text)[1])["mcp"]["flywheel"]["command"][-1] == "mcp"


def test_health_of_what_is_installed(tmp_path: Path) -> None:
    """Not installed, installed, not trusted, broken: each is told apart, with its remedy."""
    here = make_here(tmp_path)
    python = tmp_path / "python"
    python.symlink_to(here.setup.python)
    here = replace(here, setup=replace(here.setup, python=python), mcp=("/bin/sh", "flywheel"))
    names = [name for name in SETUPS if name != "aider"]
    assert {healths(name, here)[0].hooks for name in names} == {NOT_INSTALLED}
    for name in names:
        install(name, here)
    assert {name: healths(name, here)[0].hooks for name in names} == dict.fromkeys(names, INSTALLED)
    assert all(healths(name, here)[0].mcp for name in names) and all_problems(here) == []
    config = here.home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace("sha256:", "sha256:0"))
    assert healths("codex", here)[0].hooks == NOT_TRUSTED
    (told,) = all_problems(here)
    assert "/hooks in Codex" in told
    python.unlink()
    found = {name: healths(name, here)[0].hooks for name in names}
    assert found == dict.fromkeys(names, BROKEN)
    assert all("flywheel install" in told for told in all_problems(here))


def test_a_repository_is_looked_at_too(tmp_path: Path) -> None:
    """Problems of what was installed into a repository are told with its folder, from anywhere."""
    here = make_here(tmp_path, Scope.PROJECT, env={"PATH": "/usr/bin:/bin", "XDG_DATA_HOME": str(tmp_path)})
    here = replace(here, setup=replace(here.setup, data=tmp_path / "flywheel"))
    install("cursor", here)
    state = {one.scope: one.hooks for one in healths("cursor", here)}
    assert state == {"user": NOT_INSTALLED, "project": INSTALLED}
    here.setup.script.write_text("# old")
    (told,) = [problem for problem in all_problems(replace(here, root=None)) if "another version" in problem]
    assert str(here.root) in told and "--project" in told


def test_the_record_of_an_earlier_version_is_understood(tmp_path: Path) -> None:
    """One file per agent, as it was before: undone to the byte, and gone."""
    here = make_here(tmp_path)
    fill(here, FOREIGN["claude:user"])
    settings = here.home / ".claude" / "settings.json"
    original = settings.read_bytes()
    install("claude", here, Options(mcp=False, skill=False))
    folder = here.setup.script.parent
    (entry,) = Ledger(folder).files.values()
    record = {"before": entry.before, "after": entry.after, "settings": str(settings)}
    (folder / "claude.installed.json").write_text(json.dumps(record))
    (folder / "installed.json").unlink()
    uninstall("claude", here)
    assert settings.read_bytes() == original and not any(folder.iterdir())


def test_without_a_record_only_ours_goes(tmp_path: Path) -> None:
    """The data folder was deleted: what is found in the files is taken out all the same."""
    here = make_here(tmp_path)
    fill(here, FOREIGN["cursor:user"])
    install("cursor", here)
    shutil.rmtree(here.setup.data)
    uninstall("cursor", here)
    assert b"flywheel" not in (here.home / ".cursor" / "hooks.json").read_bytes()
    assert (here.home / ".cursor" / "mcp.json").read_text() == SERVERS


def test_aider_belongs_to_a_repository(tmp_path: Path) -> None:
    """Without one it says so; with one, its always-on file is read."""
    with pytest.raises(BadInput, match="repository"):
        wish_of("aider", make_here(tmp_path), EVERYTHING)
    here = make_here(tmp_path, Scope.PROJECT)
    assert healths("aider", here)[0].hooks == NOT_INSTALLED
    install("aider", here)
    assert (base_of(here) / ".aider.conf.yml").read_text() == "read: CONVENTIONS.md # flywheel\n"
    assert healths("aider", here)[0].hooks == INSTALLED


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    """The difference goes through redaction, in every kind of file."""
    here = make_here(tmp_path)
    key = "sk-ant-api03-" + "aB3dE5gH" * 12
    fill(here, {".codex/config.toml": f'[mcp_servers.x.env]\nANTHROPIC_API_KEY = "{key}"\n'})
    made = plan("codex", here)
    assert key not in made.diff and "mcp_servers.flywheel" in made.diff


ODD = [
    "[]",
    "1",
    '{"hooks": 1}',
    '{"hooks": {"Stop": 1}}',
    '{"hooks": {"Stop": [1, {"hooks": 1}, {"hooks": [1]}]}}',
    "{",
]


@pytest.mark.parametrize(
    "text", [*ODD, '{"mcpServers": {"flywheel": {"args": "flywheel"}}}', "\xff", "const COMMAND = [1]"]
)
@pytest.mark.parametrize("agent", SETUPS)
def test_health_survives_whatever_the_files_hold(tmp_path: Path, agent: str, text: str) -> None:
    """``status`` and ``agents`` look at files that anybody may write: no file keeps them from answering."""
    here = make_here(tmp_path)
    install("codex", here)
    setup = SETUPS[agent]
    for path in (setup.hooks_file(here), setup.server_file(here)):
        if path != here.home:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("latin-1"))
    assert all(one.hooks in (NOT_INSTALLED, BROKEN, INSTALLED) for one in healths(agent, here))
    all_problems(here)


def test_a_large_state_file_is_read_quickly_enough(tmp_path: Path) -> None:
    """Claude Code's state grows to megabytes: what is not ours is not taken apart value by value."""
    here = make_here(tmp_path)
    state = {"projects": {f"/w/{n}": {"history": [{"display": "words // and, more " * 20}] * 50} for n in range(100)}}
    text = json.dumps(state | {"mcpServers": {}}, indent=2)
    fill(here, {".claude.json": text})
    calls = 0
    real = jsontext.Node.__init__

    def counted(self: jsontext.Node, text: str, at: int) -> None:
        nonlocal calls
        calls += 1
        real(self, text, at)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsontext.Node, "__init__", counted)
        install("claude", here)
    assert calls < 400
    uninstall("claude", here)
    assert (here.home / ".claude.json").read_text() == text
