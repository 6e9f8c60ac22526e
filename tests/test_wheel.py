"""What is installed from the wheel alone, outside the checkout, does the whole job."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
import psutil
import pytest

CHECKOUT = Path(__file__).resolve().parent.parent

PATIENCE = 900.0
"""Seconds for making the environment on a slow line; nothing is timed here."""

SHIPPED = ("migrations", "config", "systemd")
"""Folders of the checkout that lie below ``flywheel/_data`` in the wheel."""


@dataclass(frozen=True, slots=True)
class Installed:
    """The wheel in an environment of its own, and a user who has nothing but a FLYWHEEL_HOME."""

    python: Path
    home: Path
    env: Mapping[str, str]

    def flywheel(self, *words: str, code: int = 0) -> str:
        """Run the installed command far from the checkout; what it printed."""
        done = subprocess.run(
            [self.python.with_name("flywheel"), *words],
            env=self.env,
            cwd=self.home / "elsewhere",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == code, (done.returncode, done.stdout.decode(), done.stderr.decode())
        return done.stdout.decode()

    def living(self) -> list[int]:
        """The pids of processes that run from this environment."""
        folder = str(self.python.parent)
        found = []
        for process in psutil.process_iter():
            try:
                words = process.cmdline()
            except psutil.Error:
                continue
            if words and words[0].startswith(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=CHECKOUT)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture
def installed(wheel: Path) -> Iterator[Installed]:
    """The wheel with its dependencies in an empty environment; the folder's path is short enough for a socket."""
    home = Path(tempfile.mkdtemp(prefix="fw", dir="/tmp"))
    python = home / "env" / "bin" / "python"
    for name in ("user", "elsewhere"):
        (home / name).mkdir()
    run(sys.executable, "-m", "venv", "--without-pip", str(home / "env"))
    run(sys.executable, "-m", "pip", "-q", "--python", str(python), "install", str(wheel))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "FLYWHEEL", "PYTHON", "XDG_"))}
    env |= {"FLYWHEEL_HOME": str(home / "h"), "HOME": str(home / "user")}
    made = Installed(python, home, env)
    yield made
    for pid in made.living():
        psutil.Process(pid).kill()
    shutil.rmtree(home)


def run(*words: str, cwd: Path | None = None) -> None:
    """Run a command; a failure says what it printed."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)


def files_below(folder: Path) -> set[str]:
    """The files below a folder, relative, without what Python leaves there."""
    every = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in every if "__pycache__" not in path.parts}


def test_the_wheel_carries_every_file(wheel: Path) -> None:
    """Nothing of the package or of the folders beside it stays behind, and nothing else is in it."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {f"flywheel/{name}" for name in files_below(CHECKOUT / "src" / "flywheel")}
    for folder in SHIPPED:
        wanted |= {f"flywheel/_data/{folder}/{name}" for name in files_below(CHECKOUT / folder)}
    assert names == wanted


@pytest.mark.parametrize(
    "name",
    [
        "flywheel/py.typed",
        "flywheel/_data/migrations/0001_spine.sql",
        "flywheel/_data/migrations/0001_spine.sqlite.sql",
        "flywheel/_data/migrations/0001_spine.postgres.sql",
        "flywheel/_data/config/flywheel.toml",
        "flywheel/_data/systemd/flywheel.service",
        "flywheel/cli/demo_data/sessions.toml",
        "flywheel/codemap/grammar/python.scm",
        "flywheel/embed/weights/NOTICE.md",
        "flywheel/hooks/assets/opencode.js",
        "flywheel/hooks/assets/opencode-v2/index.ts",
        "flywheel/embed/weights/vectors.npy",
    ],
)
def test_the_wheel_carries_what_it_works_with(wheel: Path, name: str) -> None:
    """Each kind of file that is no code, by an example, not empty unless it is a marker."""
    info = zipfile.ZipFile(wheel).getinfo(name)
    assert info.file_size > 0 or name.endswith("py.typed")


def test_the_licence_is_in_the_wheel(wheel: Path) -> None:
    """Whoever gets the wheel gets the licence."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (n for n in file.namelist() if n.endswith(".dist-info/licenses/LICENSE"))
        assert file.read(name) == (CHECKOUT / "LICENSE").read_bytes()


def test_the_main_job_runs_from_the_wheel(installed: Installed) -> None:
    """Set up, import, brief, ask, search and stop, with the installed command only; no process is left."""
    said = installed.flywheel("up", "--demo")
    demo = str(installed.home / "h" / "data" / "demo" / "postroom")
    assert "<flywheel-briefing>" in said, said
    assert "PostgreSQL for the mail queue" in said

    why = installed.flywheel("why", "why did we move off Redis?", "--cwd", demo)
    assert "mail was lost twice when Redis restarted" in " ".join(why.split())
    found = orjson.loads(installed.flywheel("search", "idempotency key", "--cwd", demo, "--json"))
    assert any("idempotency" in hit["text"] for hit in found["hits"])

    status = orjson.loads(installed.flywheel("status", "--json"))
    assert status["files"]["parsed"] == 5
    assert status["rows"]["symbols"] > 0
    assert status["embedder"].startswith("static-")
    assert status["problems"] == []
    where = run_python(installed, "import flywheel; print(flywheel.__file__)")
    assert where.startswith(str(installed.home / "env"))

    assert status["pid"] in installed.living()
    assert f"pid {status['pid']}" in installed.flywheel("down")
    assert installed.living() == []
    assert "no daemon" in installed.flywheel("down").lower()


def run_python(installed: Installed, code: str) -> str:
    """What a line of Python prints in the environment."""
    done = subprocess.run(
        [installed.python, "-c", code], env=installed.env, cwd=installed.home, capture_output=True, check=True
    )
    return done.stdout.decode()
