"""Where one user's files are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flywheel.config.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where this user's files are."""

    config: Path
    data: Path
    run: Path

    def socket(self, config: Config) -> Path:
        """The daemon's socket."""
        return Path(config.daemon.socket) if config.daemon.socket else self.run / "flywheel.sock"


def locate(env: Mapping[str, str], home: Path) -> Places:
    """Where the configuration, the data and the socket are.

    ``FLYWHEEL_HOME`` puts all of them into one folder; otherwise the XDG base directories are followed, the socket
    lying in the data folder where ``XDG_RUNTIME_DIR`` is not set.
    """
    if one := env.get("FLYWHEEL_HOME"):
        base = Path(one).absolute()
        return Places(config=base / "flywheel.toml", data=base / "data", run=base / "run")
    data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "flywheel"
    runtime = env.get("XDG_RUNTIME_DIR")
    return Places(
        config=Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "flywheel" / "flywheel.toml",
        data=data,
        run=Path(runtime) / "flywheel" if runtime else data / "run",
    )
