"""The real clients: where they are, how one is made to talk to a server on loopback, and how one prompt is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

FOLDER: Final = Path(os.environ.get("FLYWHEEL_TEST_CLIENTS") or Path(__file__).parents[2] / ".clients")
"""Where the clients are installed, each below ``<name>/node_modules``: ``make clients`` does it."""

SECONDS: Final = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One client. ``prepare`` writes its settings, ``said`` makes the command line of a prompt."""

    name: str
    prepare: Callable[[Path, str], None]  # the user's home, the server's address
    said: Callable[[str, bool], Sequence[str]]  # the prompt, and whether the last session goes on
    env: Callable[[str], Mapping[str, str]]
    mcp_tool: tuple[str, str] = ("", "")  # namespace and name under which it offers our ``recall``

    @property
    def path(self) -> Path:
        """Its executable, whether it is there or not."""
        return FOLDER / self.name / "node_modules" / ".bin" / self.name

    def say(self, prompt: str, *, home: Path, cwd: Path, url: str, resume: bool = False) -> tuple[str, float]:
        """One prompt; what it printed, and the seconds that it took. Raises AssertionError when it fails."""
        env = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        env |= {"HOME": str(home), "TERM": "dumb", "PATH": f"{self.path.parent}:{env['PATH']}", **self.env(url)}
        began = time.perf_counter()
        done = subprocess.run(
            [str(self.path), *self.said(prompt, resume)],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        taken = time.perf_counter() - began
        assert done.returncode == 0, (done.stdout[-4000:] + done.stderr[-4000:]).decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "replace"), taken


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _claude_home(home: Path, url: str) -> None:
    (home / ".claude").mkdir(exist_ok=True)


def _codex_home(home: Path, url: str) -> None:
    _write(
        home / ".codex" / "config.toml",
        f"""# Settings of somebody who uses a server of their own.
model = "gpt-5.5"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
env_key = "STUB_KEY"
wire_api = "responses"
request_max_retries = 2

[analytics]
enabled = false
""",
    )


def _gemini_home(home: Path, url: str) -> None:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    _write(home / ".gemini" / "settings.json", orjson.dumps(settings, option=orjson.OPT_INDENT_2).decode())


def _opencode_home(home: Path, url: str) -> None:
    model = {"name": "Stub", "tool_call": True, "limit": {"context": 200000, "output": 32000}}
    options = {"baseURL": f"{url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Stub", "options": options, "models": {"stub-model": model}}
    settings = {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "model": "stub/stub-model",
        "small_model": "stub/stub-model",
        "permission": "allow",
        "provider": {"stub": provider},
    }
    config = home / ".config" / "opencode"
    _write(config / "opencode.json", orjson.dumps(settings, option=orjson.OPT_INDENT_2).decode())
    _write(home / ".npmrc", "fetch-retries=0\n")
    plugin = FOLDER / "opencode-plugin"
    if plugin.is_dir():  # where a plugin folder is, the client would otherwise try to fetch this for a minute
        shutil.copytree(plugin / "node_modules", config / "node_modules", symlinks=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(plugin / name, config / name)


PROGRAMS: Final[Mapping[str, Program]] = {
    one.name: one
    for one in (
        Program(
            name="claude",
            prepare=_claude_home,
            said=lambda prompt, resume: [
                *("-p", prompt, "--output-format", "json", "--permission-mode", "bypassPermissions"),
                *(["--continue"] if resume else []),
            ],
            env=lambda url: {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
                "DISABLE_AUTOUPDATER": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "IS_SANDBOX": "1",
            },
            mcp_tool=("", "mcp__flywheel__recall"),
        ),
        Program(
            name="codex",
            prepare=_codex_home,
            said=lambda prompt, resume: ["exec", *(["resume", "--last"] if resume else []), prompt],
            env=lambda url: {"STUB_KEY": "none"},
            mcp_tool=("mcp__flywheel", "recall"),
        ),
        Program(
            name="gemini",
            prepare=_gemini_home,
            said=lambda prompt, resume: [
                *("-m", "gemini-2.5-flash", "-y"),
                *(["-r", "latest"] if resume else []),
                *("-p", prompt),
            ],
            env=lambda url: {
                "GOOGLE_GEMINI_BASE_URL": url,
                "GEMINI_API_KEY": "none",
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
            },
        ),
        Program(
            name="opencode",
            prepare=_opencode_home,
            said=lambda prompt, resume: ["run", *(["-c"] if resume else []), "--model", "stub/stub-model", prompt],
            env=lambda url: {
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
                "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            },
        ),
    )
}
