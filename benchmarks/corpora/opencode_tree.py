"""Files of opencode's trees as the source gives them: a session's own, then its messages and their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.corpora.opencode import Talk


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One session that never ends; each file is a record with its path."""
    talk = Talk(seed)
    home = "/home/dev/.local/share/opencode/storage"
    time = {"created": talk.now, "updated": talk.now}
    session = {"id": talk.session, "projectID": "p1", "directory": "/home/dev/app", "title": "Tides", "time": time}
    yield {"path": f"{home}/session/p1/{talk.session}.json", "value": session}
    while True:
        for id, message, parts in talk.turn():
            yield {"path": f"{home}/message/{talk.session}/{id}.json", "value": {"id": id, **message}}
            for part in parts:
                name = talk.id("prt")
                yield {"path": f"{home}/part/{id}/{name}.json", "value": {"id": name, "messageID": id, **part}}
