"""Folders that a transcript names only by a hash or a slug of their path."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from flywheel.harvest.folders import folder_on_disk, hints_of, known_folder, slug_of
from flywheel.model import Micros
from flywheel.projects.queries import resolve
from flywheel.readers import SessionFacts
from flywheel.store import Db


def facts(**extra: object) -> SessionFacts:
    """Facts of a session that say no more than this of its folder."""
    return SessionFacts(native_id="s", extra=extra)


def found(db: Db, **extra: object) -> str:
    """The known folder that the facts name."""
    with db.read() as tx:
        return known_folder(tx, facts(**extra))


@pytest.fixture
def folders(sqlite_db: Db, tmp_path: Path) -> dict[str, str]:
    """Folders that were resolved to projects, by name."""
    made = {}
    for name in ("tide.maps", "harbour", "a/b", "a-b"):
        (tmp_path / name).mkdir(parents=True)
        made[name] = os.path.realpath(tmp_path / name)
        resolve(sqlite_db, made[name], Micros(1))
    return made


def test_a_hash_of_a_path_names_its_folder(sqlite_db: Db, folders: dict[str, str]) -> None:
    """SHA-256 and MD5, in either case; a hash of something else names none."""
    path = folders["harbour"].encode()
    assert found(sqlite_db, project_hash=hashlib.sha256(path).hexdigest()) == folders["harbour"]
    assert (
        found(sqlite_db, folder_md5=hashlib.md5(path, usedforsecurity=False).hexdigest().upper()) == folders["harbour"]
    )
    assert found(sqlite_db, folder_md5="0" * 32) == ""
    assert found(sqlite_db, folder_md5=7) == found(sqlite_db) == ""


def test_a_slug_names_a_folder_when_only_one_fits(sqlite_db: Db, folders: dict[str, str]) -> None:
    """A slug is not the path: where several projects' folders have the same, none is meant."""
    slug = folders["tide.maps"].strip("/").replace("/", "-").replace(".", "-").replace("_", "-")
    assert found(sqlite_db, folder_slug=slug) == folders["tide.maps"]
    assert slug_of(folders["a/b"]) == slug_of(folders["a-b"])
    assert found(sqlite_db, folder_slug=slug_of(folders["a-b"])) == ""


def test_the_surest_hint_counts(sqlite_db: Db, folders: dict[str, str]) -> None:
    """A hash that fits goes before a slug that does."""
    md5 = hashlib.md5(folders["harbour"].encode(), usedforsecurity=False).hexdigest()
    slug = slug_of(folders["tide.maps"])
    assert found(sqlite_db, folder_slug=slug, folder_md5=md5) == folders["harbour"]
    assert hints_of(facts(folder_slug=slug, folder_md5=md5, other="x")) == (md5, slug)


def test_a_slug_is_looked_up_on_disk(tmp_path: Path) -> None:
    """The one folder whose names make the slug, whatever stands between them; not a link, not one of several."""
    (tmp_path / "home" / "dev" / "tide.maps" / "src").mkdir(parents=True)
    (tmp_path / "home" / "devices").mkdir()
    (tmp_path / "home" / "link").symlink_to(tmp_path / "home" / "dev")
    top = str(tmp_path)
    assert folder_on_disk(facts(folder_slug="home-dev-tide-maps"), top) == str(tmp_path / "home/dev/tide.maps")
    assert folder_on_disk(facts(folder_slug="Home-dev-tide-maps-src"), top) == str(tmp_path / "home/dev/tide.maps/src")
    for slug in ("home-link-tide-maps", "home-dev-tide", "home-dev-tide-maps-lib", "", "-" * 3, "x" * 2000):
        assert folder_on_disk(facts(folder_slug=slug), top) == ""
    (tmp_path / "home" / "dev-tide" / "maps").mkdir(parents=True)
    assert folder_on_disk(facts(folder_slug="home-dev-tide-maps"), top) == ""
