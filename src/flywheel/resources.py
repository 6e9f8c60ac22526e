"""Where the files that ship beside the code are: migrations, the default config, the systemd units."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """The folder ``name`` (``migrations``, ``config`` or ``systemd``), from the wheel or from the checkout.

    Raises FileNotFoundError when neither holds it, which means a broken installation.
    """
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"Flywheel's own folder {name!r} is missing; reinstall the package")
