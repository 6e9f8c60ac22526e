"""Which URL means which store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from flywheel.errors import ConfigError, StoreError
from flywheel.store.connect import connect


@pytest.mark.parametrize("url", ["", "sqlite"])
def test_the_default_lies_in_the_data_folder(tmp_path: Path, url: str) -> None:
    """Without a URL it is flywheel.db in the data folder, which is made private when it is missing."""
    data = tmp_path / "deep" / "data"
    with closing(connect(url, data)) as db:
        assert db.describe() == f"sqlite {data / 'flywheel.db'}"
        assert db.dialect == "sqlite" and list(db.notices) == []
    assert data.stat().st_mode & 0o777 == 0o700


def test_a_path_of_one_s_own(tmp_path: Path) -> None:
    """sqlite:///absolute/path, percent signs decoded."""
    path = tmp_path / "my folder" / "x.db"
    with closing(connect(f"sqlite://{tmp_path}/my%20folder/x.db", tmp_path)):
        assert path.exists()


@pytest.mark.parametrize(
    "url",
    ["mysql://host/db", "sqlite://relative.db", "sqlite:relative", "sqlite:///", "flywheel.db", "/a/b.db", "http:"],
)
def test_other_urls_are_refused_with_the_forms_that_work(tmp_path: Path, url: str) -> None:
    """The error names the setting and how a URL is written; nothing is created."""
    with pytest.raises(ConfigError, match=r"store\.url.*sqlite"):
        connect(url, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_postgres_by_url(postgres_url: str, tmp_path: Path) -> None:
    """A postgresql:// URL opens the server's database and touches no file."""
    with closing(connect(postgres_url, tmp_path)) as db:
        assert db.dialect == "postgres" and db.feed_id()
    assert list(tmp_path.iterdir()) == []


def test_without_migrating(tmp_path: Path) -> None:
    """``migrate=False`` opens what is there as it is."""
    connect("", tmp_path).close()
    with closing(connect("", tmp_path, migrate=False)) as db:
        assert db.head() == 0
    (tmp_path / "file").touch()
    with pytest.raises(StoreError):
        connect("", tmp_path / "file")
