"""A user with agents' settings as people really have them, for the tests of the installer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flywheel.hooks.client_copy import Setup, base_python
from flywheel.hooks.setups import Here, Scope
from flywheel.hooks.trust import handlers_in

ODD_CLAUDE: Final = """{
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
STATE: Final = (
    '{"numStartups":12,"projects":{"/w/a":{"history":[{"display":"hi"}]}},"mcpServers":{"other":{"command":"x"}}}'
)
TOML: Final = """# mine
model = "big"

[mcp_servers.other] # keep
command = "other"
args = [
  "a",
  "b",
]

[profiles.x]
approval = 'never'
# the end"""
COMMENTED: Final = """{
  // the theme
  "theme": "dark", /* a
     long story */
  "mcp": {
    "other": { "type": "remote", "url": "https://x.example/a//b", }, // "flywheel"
  },
}
"""
CURSOR: Final = """{
  "version": 1,
  "hooks": {
    "stop": [ { "command": "./mine.sh" } ],
    "sessionStart": []
  }
}"""
SERVERS: Final = '{\n\t"mcpServers": {\n\t\t"mine": {"command": "a", "args": []}\n\t}\n}\n'
GEMINI: Final = '{\n  "security": {"auth": {"selectedType": "x"}},\n  "mcpServers": {},\n  "general": {}\n}\n'
AIDER: Final = "# aider\nmodel: x\nread:\n  - NOTES.md  # mine\n  - more.md\nauto-commits: false\n"
MARKDOWN: Final = "# Rules\n\nAlways test.\n\n<!-- a comment -->\n"

FOREIGN: Final[Mapping[str, Mapping[str, str]]] = {
    "claude:user": {".claude/settings.json": ODD_CLAUDE, ".claude.json": STATE},
    "claude:project": {".claude/settings.json": ODD_CLAUDE, ".mcp.json": SERVERS},
    "codex:user": {".codex/hooks.json": ODD_CLAUDE, ".codex/config.toml": TOML},
    "codex:project": {".codex/hooks.json": "{}", ".codex/config.toml": TOML},
    "gemini:user": {".gemini/settings.json": GEMINI},
    "gemini:project": {".gemini/settings.json": GEMINI},
    "opencode:user": {".config/opencode/opencode.jsonc": COMMENTED},
    "opencode:project": {"opencode.json": COMMENTED},
    "cursor:user": {".cursor/hooks.json": CURSOR, ".cursor/mcp.json": SERVERS},
    "cursor:project": {".cursor/hooks.json": CURSOR, ".cursor/mcp.json": SERVERS},
    "copilot:user": {".copilot/mcp-config.json": SERVERS},
    "copilot:project": {".mcp.json": SERVERS},
    "aider:project": {".aider.conf.yml": AIDER, "CONVENTIONS.md": MARKDOWN},
}
"""Agent and scope → files below home or the repository, as somebody has them."""


def make_here(base: Path, scope: Scope = Scope.USER, env: Mapping[str, str] | None = None) -> Here:
    """A home, a repository beside it, and a data folder."""
    home, root = base / "home", base / "shop"
    for folder in (home, root / ".git"):
        folder.mkdir(parents=True, exist_ok=True)
    setup = Setup(data=base / "data", socket=base / "fw.sock", python=base_python(), env={"FLYWHEEL_HOME": str(base)})
    mcp = ("/opt/flywheel/python", "-P", "-m", "flywheel.cli", "mcp")
    return Here(
        home=home,
        env={"PATH": "", "HOME": str(home), **(env or {})},
        setup=setup,
        scope=scope,
        root=root if scope is Scope.PROJECT else None,
        mcp=mcp,
        trusted=handlers_in,
    )


def base_of(here: Here) -> Path:
    """Where the agents' files lie."""
    return here.root if here.root is not None else here.home


def fill(here: Here, files: Mapping[str, str], *, crlf: bool = False, bom: bool = False) -> None:
    """Write those files."""
    for name, text in files.items():
        path = base_of(here) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = (text.replace("\n", "\r\n") if crlf else text).encode()
        path.write_bytes(b"\xef\xbb\xbf" + data if bom else data)
        path.chmod(0o640)


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder with its mode and bytes, and every folder."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        content = b"" if path.is_dir() else path.read_bytes()
        found[str(path.relative_to(folder))] = (path.stat().st_mode, content)
    return found
