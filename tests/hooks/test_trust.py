"""Trust in Codex: hashes, what it is asked, and what it means when it cannot be asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from flywheel.hooks.trust import ask_codex, handlers_in, untrusted

COMMAND = "/py -I -S /d/hook/flywheel-hook.py SessionStart codex 2>/dev/null || :"
HOOKS = json.dumps(
    {
        "hooks": {
            "SessionStart": [
                {"hooks": [{"type": "command", "command": "echo hi", "timeout": 5}]},
                {"matcher": "startup", "hooks": [{"type": "command", "command": COMMAND, "timeout": 5}]},
            ],
            "UserPromptSubmit": [{"hooks": [{"type": "command", "command": COMMAND, "timeout": 5}]}],
        }
    }
).encode()

KNOWN = "sha256:f1ddfa96a89a58f800a3dd9b78586afef3632ed4b604af8a1d0c51f741941e5a"

SERVER = """#!{python}
import json, os, sys
mode = {mode!r}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        if mode == "dies":
            sys.exit(1)
        print("not json" if mode == "babbles" else json.dumps({{"id": asked["id"], "result": {{}}}}), flush=True)
    if asked["method"] == "hooks/list":
        path = os.environ["CODEX_HOME"] + "/hooks.json"
        hooks = json.load(open(path))["hooks"]
        assert not [name for name in os.listdir(os.environ["CODEX_HOME"]) if name not in ("hooks.json", "config.toml")]
        listed = [
            {{"key": f"{{path}}:{{event}}:{{n}}:0", "command": group["hooks"][0]["command"],
              "currentHash": f"sha256:{{n}}"}}
            for event, groups in hooks.items() for n, group in enumerate(groups)
        ]
        print(json.dumps({{"method": "noise"}}), flush=True)
        print(json.dumps({{"id": asked["id"], "result": {{"data": [{{"hooks": listed}}]}}}}), flush=True)
"""


def program(folder: Path, mode: str) -> Path:
    path = folder / "codex"
    path.write_text(SERVER.format(python=sys.executable, mode=mode))
    path.chmod(0o755)
    return path


def test_only_ours_are_counted_in_codexs_way() -> None:
    """Keys are event, group and handler, foreign groups counted; each has a hash of its own."""
    found = handlers_in(HOOKS)
    assert list(found) == ["session_start:1:0", "user_prompt_submit:0:0"]
    assert all(hash.startswith("sha256:") and len(hash) == 71 for hash in found.values())
    assert len(set(found.values())) == 2 and handlers_in(HOOKS.replace(b"startup", b"resume")) != found


def test_the_hash_is_the_one_that_codex_computes() -> None:
    """One that Codex 0.171 gave: over event, matcher and handler with its defaults, keys sorted."""
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": "flywheel-hook.py é", "timeout": 5}]}]}
    (hash,) = handlers_in(json.dumps({"hooks": hooks}).encode()).values()
    assert hash == KNOWN


def test_codex_is_asked_about_a_copy(tmp_path: Path) -> None:
    """Its own hashes of our handlers, foreign ones left out, under the places that the installed file will have."""
    found = ask_codex(program(tmp_path, "answers"), HOOKS, {})
    assert found == {"SessionStart:1:0": "sha256:1", "UserPromptSubmit:0:0": "sha256:0"}


@pytest.mark.parametrize("mode", ["dies", "babbles", "missing"])
def test_a_codex_that_does_not_answer_trusts_nothing(tmp_path: Path, mode: str) -> None:
    """It ends, talks nonsense or is not there: no hashes, and no error."""
    path = tmp_path / "nothing" if mode == "missing" else program(tmp_path, mode)
    assert ask_codex(path, HOOKS, {}) == {}


def test_what_is_not_trusted_is_named(tmp_path: Path) -> None:
    """No state, another hash; a hash that Codex told is trusted."""
    path = tmp_path / "hooks.json"
    places = handlers_in(HOOKS)
    assert untrusted(path, HOOKS, "") == list(places)
    state = "".join(f'[hooks.state."{path}:{place}"]\ntrusted_hash = "{hash}"\n' for place, hash in places.items())
    assert untrusted(path, HOOKS, state) == []
    changed = state.replace(places["session_start:1:0"], "sha256:told")
    assert untrusted(path, HOOKS, changed) == ["session_start:1:0"]
    assert untrusted(path, HOOKS, changed, ["sha256:told"]) == []
