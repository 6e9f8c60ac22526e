"""Files of an installation on disk: read, replaced at once, removed, and links followed only where they may lead."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from flywheel.errors import Refused


def read(path: Path) -> bytes | None:
    """The file's bytes; None when it is not there. Raises Refused."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error


def check_links(path: Path, within: Sequence[Path]) -> None:
    """Raises Refused when links lead from the path out of all the folders ``within``; () allows any."""
    real = os.path.realpath(path)
    if not within or real == os.path.abspath(path):  # noqa: PTH100 - `absolute` keeps ".."
        return
    if not any(Path(real).is_relative_to(os.path.realpath(folder)) for folder in within):
        raise Refused(f"{path} is a link that leads out of {within[0]}, to {real}; nothing is written there")


def replace(path: Path, data: bytes, mode: int) -> bool:
    """Put ``data`` in the file's place at once, through symbolic links; whether it was different. Raises OSError."""
    target = Path(os.path.realpath(path))
    if target.is_file() and target.read_bytes() == data:
        return False
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(data)
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
        part.replace(target)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return True


def mode_of(path: Path, otherwise: int) -> int:
    """The file's permissions, or those that a new one gets."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else otherwise


def missing_folders(folder: Path) -> Sequence[str]:
    """The folder and those above it that are not there, innermost first."""
    missing = []
    while not folder.exists() and folder != folder.parent:
        missing.append(str(folder))
        folder = folder.parent
    return missing


def make_folders(folders: Sequence[str], mode: int) -> None:
    """Make those, which stand innermost first. Raises OSError."""
    for name in reversed(folders):
        Path(name).mkdir(mode=mode)


def remove_folders(folders: Sequence[str]) -> Sequence[str]:
    """Remove those that are empty, innermost first; those that are not."""
    left = []
    for name in sorted(folders, key=len, reverse=True):
        try:
            Path(name).rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            left.append(name)
    return left


def digest_of(data: bytes) -> str:
    """The SHA-256 of a file's bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()
