"""An import is over when its text is found, however long an embedding server takes, or is away."""

from __future__ import annotations

from pathlib import Path

from tests.app.talking import open_house

from flywheel import app
from flywheel.config import parse_config


def test_an_import_waits_for_no_embedding_server(tmp_path: Path, data: Path) -> None:
    """With a server that is not there, vectors stay behind and `flywheel up` comes to an end all the same."""
    house = open_house(tmp_path, f"sqlite://{data / 'flywheel.db'}")
    house.app.note(text="The tide table of Dover drifts.", cwd=str(house.project))
    app.settle_all(house.parts)
    house.app.close()
    embed = {"model": "openai:m", "url": "http://127.0.0.1:9/v1", "code": "none"}
    house.parts.config = parse_config({"embed": embed})
    house.app = app.App(house.parts)
    assert house.app.readers.behind()["vectors"] > 0 == house.app.readers.behind()["text"]
    progress = house.app.import_path()
    assert house.app.import_progress(id=progress.id).behind == 0
    house.app.close()
    house.parts.close()
