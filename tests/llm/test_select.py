"""Which model there is, and that there is none where nothing may leave the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.llm.conftest import question

from flywheel.config import Config, parse_config
from flywheel.errors import ConfigError
from flywheel.llm import NoModel
from flywheel.llm.rules import NoLlm
from flywheel.llm.select import choose, open_llm
from flywheel.model import Micros
from flywheel.store import Db
from flywheel.text.redact import Redactor

KEY = {"ANTHROPIC_API_KEY": "k"}
HOME = "http://127.0.0.1:11434/v1"

CHOICES: dict[str, tuple[dict[str, Any], dict[str, str], str, str, str]] = {
    "nothing": ({}, {}, "rules", "", "ANTHROPIC_API_KEY is not set"),
    "a key": ({}, KEY, "anthropic", "claude-haiku-5-5", "ANTHROPIC_API_KEY is set"),
    "an empty key": ({}, {"ANTHROPIC_API_KEY": " "}, "rules", "", "not set"),
    "a key, and rules wanted": ({"llm": {"provider": "rules"}}, KEY, "rules", "", 'llm.provider = "rules"'),
    "a key, and a local server wanted": (
        {"llm": {"provider": "openai", "url": HOME, "model": "qwen"}},
        KEY,
        "openai",
        "qwen",
        'llm.provider = "openai"',
    ),
    "a local server without a model": ({"llm": {"provider": "openai", "url": HOME}}, {}, "rules", "", "llm.model"),
    "OpenAI itself": ({"llm": {"provider": "openai", "model": "m"}}, {"OPENAI_API_KEY": "k"}, "openai", "m", "openai"),
    "an agent": ({"llm": {"provider": "agent"}}, {}, "agent", "haiku", "agent"),
    "another model": ({"llm": {"model": "claude-opus-5-5"}}, KEY, "anthropic", "claude-opus-5-5", "is set"),
    "a key of another name": (
        {"llm": {"key_env": "WORK_KEY"}},
        {"WORK_KEY": "k"},
        "anthropic",
        "claude-haiku-5-5",
        "WORK",
    ),
    "offline with a key": ({"offline": True}, KEY, "rules", "", "offline = true"),
    "offline with a provider": ({"offline": True, "llm": {"provider": "agent"}}, KEY, "rules", "", "offline = true"),
    "offline with a server at home": (
        {"offline": True, "llm": {"provider": "openai", "url": HOME, "model": "m"}},
        {},
        "rules",
        "",
        "offline = true",
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_key_chooses_a_setting_overrides_offline_wins(name: str) -> None:
    """With the reason, as `flywheel llm status` shows it."""
    table, env, provider, model, reason = CHOICES[name]
    found = choose(parse_config(table), env)
    assert (found.provider, found.model) == (provider, model) and reason in found.reason
    assert found.key in ("", "k")


def test_an_address_that_is_none_is_said(sqlite_db: Db, tmp_path: Path) -> None:
    """A mistake in the settings names the setting."""
    config = parse_config({"llm": {"provider": "openai", "url": "localhost:1", "model": "m"}})
    with pytest.raises(ConfigError, match=r"llm\.url"):
        open_llm(config, {}, db=sqlite_db, data=tmp_path, redact=Redactor(), now=lambda: Micros(1))


def test_without_a_model_there_is_no_answer() -> None:
    """Whoever asks hears that rules do the work, and why."""
    with pytest.raises(NoModel, match=r"not today.*flywheel llm status"):
        NoLlm("not today").ask(question())


GUARD = """
import os, sys
def guard(event, args):
    wrong = ""
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"):
        wrong = f"looked up a name: {args}"
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg") and isinstance(args[1], tuple):
        wrong = f"left the machine: {event} {args[1]}"
    if event == "subprocess.Popen" and os.path.basename(str(args[0])) not in ("git", os.path.basename(sys.executable)):
        wrong = f"started {args}"
    if wrong:
        with open(os.environ["GUARD_LOG"], "a") as file:
            file.write(wrong + chr(10))
        raise SystemExit(wrong)
sys.addaudithook(guard)
"""
"""As `sitecustomize`, it is in every Python that the process starts, too."""

STORY = """
import json, pathlib, structlog, sys
import flywheel.cli.llm, flywheel.daemon.serve, flywheel.daemon.worker
from flywheel.app import App, open_parts, settle_all
from flywheel.cli.demo import demo_folder
from flywheel.config import Places, parse_config
structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # nobody started a log: it would be printed
data, key = pathlib.Path(sys.argv[1]), "sk-x"
for number, given in enumerate(json.loads(sys.argv[2])):
    table = {"embed": {"model": "none", "code": "none"}} | given
    places = Places(config=data / "f.toml", data=data / "data", run=data / "run")
    env = {"ANTHROPIC_API_KEY": key, "OPENAI_API_KEY": key, "PATH": "/bin:/usr/bin"}
    parts = open_parts(parse_config(table), places, env, data / "home")
    app = App(parts)
    project, transcripts = demo_folder(places.data)
    if not number and parts.config.offline:
        app.import_path(path=transcripts)
        settle_all(parts)
    told = app.ask(question="why did we move off Redis?", cwd=project)
    tried = app.llm_test()
    print(bool(told.reasons), told.note, tried.ok, app.llm_status().available)
    app.close()
    parts.close()
print(sorted({"anthropic", "jsonschema", "httpx", "httpx2", "flywheel.llm.seam"} & set(sys.modules)))
"""

SENDING = """
from flywheel.llm import Purpose, Request, Tool
from flywheel.llm.openai import OpenAiProvider
tool = Tool(name="t", description="", schema={})
asked = Request(purpose=Purpose.TEST, prefix="", messages=[], tool=tool)
OpenAiProvider(url="http://127.0.0.1:9/v1", key="").send(asked, "m", 1.0)
"""


def under_guard(folder: Path, code: str, *tables: dict[str, Any]) -> tuple[str, str]:
    """What the code prints, with these settings, and what the guard noticed."""
    (folder / "sitecustomize.py").write_text(GUARD)
    log = folder / "noticed"
    env = {name: value for name, value in os.environ.items() if not name.endswith("_KEY")}
    env |= {"PYTHONPATH": str(folder), "GUARD_LOG": str(log)}
    command = [sys.executable, "-c", code, str(folder), json.dumps(tables)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    return done.stdout + done.stderr[-1000:], log.read_text() if log.exists() else ""


def test_offline_opens_no_connection_and_looks_up_no_name(tmp_path: Path) -> None:
    """From import to answer, under a guard that ends a process at the first address, name or foreign program.

    In the process and all that it starts, whatever provider is set, with keys for all. And neither the daemon nor the
    command line has imported anything of a provider: they start as quickly as without.
    """
    far = {"provider": "openai", "url": "http://198.51.100.1/v1", "model": "m"}
    given = [{"offline": True, "llm": llm} for llm in ({"provider": "auto"}, {"provider": "agent"}, far)]
    said, noticed = under_guard(tmp_path, STORY, *given)
    line = (
        "True no language model (offline = true: nothing leaves this machine); this is what is recorded, word for word"
    )
    assert (said, noticed) == (f"{line} False False\n" * 3 + "[]\n", "")


def test_the_guard_would_notice(tmp_path: Path) -> None:
    """A provider that asks is ended by it: so the test above can fail."""
    _, noticed = under_guard(tmp_path, SENDING)
    assert "looked up a name: ('127.0.0.1', 9" in noticed


def test_offline_is_off_unless_somebody_says_so() -> None:
    """And without a key there is no model either."""
    assert not Config().offline and choose(Config(), {}).provider == "rules"
