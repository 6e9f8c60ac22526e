"""Trust in Codex: which hooks it will run, by the hash of each handler."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from flywheel.hooks.tables import table_of
from flywheel.hooks.wanted import is_ours

SECONDS: Final = 20.0
"""How long Codex may take to answer."""

QUIET: Final = """check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
"""
"""The settings under which Codex is asked: it looks at the hooks, and at nothing on a network."""

_HUMP: Final = re.compile(r"(?<!^)(?=[A-Z])")


def handlers_in(data: bytes) -> Mapping[str, str]:
    """Our handlers in the bytes of a ``hooks.json``: "event:group:handler", as Codex counts, → hash as it computes it.

    The hash is over the event, the matcher and the handler, not over the file (seen with Codex 0.171).
    """
    found: dict[str, str] = {}
    whole = json.loads(data or b"{}")
    hooks = whole.get("hooks") if isinstance(whole, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        name = _HUMP.sub("_", event).lower()
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for place, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict) and is_ours(handler.get("command")):
                    found[f"{name}:{number}:{place}"] = _hash(name, group.get("matcher"), handler)
    return found


def _hash(event: str, matcher: object, handler: Mapping[str, object]) -> str:
    known = {
        "type": "command",
        "command": handler.get("command"),
        "timeout": handler.get("timeout", 600),
        "async": handler.get("async", False),
    }
    whole: dict[str, object] = {"event_name": event, "hooks": [known]}
    if matcher:
        whole["matcher"] = matcher
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def untrusted(hooks_file: Path, hooks: bytes, config: str, told: Collection[str] = ()) -> Sequence[str]:
    """Our handlers in the hooks file that the configuration does not trust. Raises BadInput for no TOML.

    ``told`` are hashes that Codex itself gave for our handlers.
    """
    missing = []
    for place, hash in handlers_in(hooks).items():
        state = table_of(config, ("hooks", "state", f"{hooks_file}:{place}"))
        if state is None or state.get("trusted_hash") not in (hash, *told):
            missing.append(place)
    return missing


def ask_codex(program: Path, hooks: bytes, env: Mapping[str, str]) -> Mapping[str, str]:
    """Codex's own hashes of a ``hooks.json`` that is not installed yet; empty where Codex does not say.

    It looks at a copy in a folder of its own and leaves nothing in the user's.
    """
    with tempfile.TemporaryDirectory(prefix="flywheel-codex-") as folder:
        home = Path(os.path.realpath(folder))
        (home / "hooks.json").write_bytes(hooks)
        (home / "config.toml").write_text(QUIET)
        found = _listed(program, {**env, "CODEX_HOME": str(home)}, str(home))
        base = f"{home / 'hooks.json'}:"
        return {
            str(one["key"]).removeprefix(base): str(one["currentHash"])
            for one in found
            if str(one.get("key", "")).startswith(base) and one.get("currentHash") and is_ours(one.get("command"))
        }


def _listed(program: Path, env: Mapping[str, str], cwd: str) -> Sequence[Mapping[str, Any]]:
    """The hooks that Codex knows in a folder, with ``key``, ``currentHash``, ``trustStatus``; () where it fails."""
    try:
        process = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            cwd=cwd,
        )
    except OSError:
        return ()
    timer = threading.Timer(SECONDS, process.kill)
    timer.start()
    assert process.stdin is not None and process.stdout is not None
    try:
        about = {"clientInfo": {"name": "flywheel", "title": "Flywheel", "version": "1"}}
        _ask(process.stdin, process.stdout, 1, "initialize", about)
        process.stdin.write(b'{"method":"initialized"}\n')
        answer = _ask(process.stdin, process.stdout, 2, "hooks/list", {"cwds": [cwd]})
    except (OSError, ValueError):
        return ()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
        _close(process.stdin)
    places = answer.get("result", {}).get("data", [])
    return [hook for place in places for hook in place.get("hooks", []) if isinstance(hook, dict)]


def _ask(to: IO[bytes], back: IO[bytes], id: int, method: str, params: object) -> Mapping[str, Any]:
    """One question of JSON-RPC over lines. Raises ValueError when the other side ends."""
    to.write(json.dumps({"id": id, "method": method, "params": params}).encode() + b"\n")
    to.flush()
    for line in back:
        answer = json.loads(line)
        if isinstance(answer, dict) and answer.get("id") == id:
            return answer
    raise ValueError("Codex ended without an answer")


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        return
