"""The memory tree over HTTP, as ``/v1/memories``."""

from __future__ import annotations

import time

import pytest
from tests.faces.conftest import Answered, Faces, ask

HERE = "project=postroom"


def get(faces: Faces, path: str) -> Answered:
    """A GET below /v1/memories."""
    return ask(faces.socket, "GET", f"/v1/memories/{path}")


def test_walking_the_tree(faces: Faces) -> None:
    """ls, tree, cat, grep and history answer a plain GET."""
    top = get(faces, f"ls?{HERE}").json
    assert {item["name"] for item in top["items"]} >= {"AGENTS.md", "index.md", "log.md", "raw", "wiki"}
    whole = get(faces, f"tree?{HERE}&depth=3").json
    pages = [item for item in whole["items"] if item["path"].startswith("wiki/decisions/")]
    assert all(item["title"] and item["status"] for item in pages)
    pages = [item for item in pages if item["status"] == "candidate"]  # what was merged is a redirect
    page = get(faces, f"cat?{HERE}&path={pages[0]['path']}").json
    assert page["text"].startswith("---\ntitle: ") and "## Timeline" in page["text"]
    found = get(faces, f"grep?{HERE}&pattern=redis&ignore_case=true&context=1").json
    assert found["matches"] and all("redis" in one["text"].lower() for one in found["matches"])
    assert not any(one["path"] in ("index.md", "log.md") for one in found["matches"])
    history = get(faces, f"history?{HERE}&path={pages[0]['path']}").json
    assert history["changes"][0]["id"] and history["changes"][0]["lines"]


def test_transcripts_lie_there_and_are_found(faces: Faces) -> None:
    """A transcript is served as Markdown, on no disk; grep looks into them when they are named."""
    (first, *_) = get(faces, f"ls?{HERE}&path=raw/transcripts").json["items"]
    text = get(faces, f"cat?{HERE}&path={first['path']}").json["text"]
    assert text.startswith("# claude session [fw:") and " user (prompt) [fw:" in text
    found = get(faces, f"grep?{HERE}&pattern=^%23%20claude&path=raw/transcripts").json
    assert first["path"] in {one["path"] for one in found["matches"]}
    assert not any("transcripts" in one["path"] for one in get(faces, f"grep?{HERE}&pattern=session").json["matches"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"grep?{HERE}&pattern=[", 400),
        (f"grep?{HERE}&pattern=(&extended=true", 400),
        (f"grep?{HERE}", 400),
        (f"grep?{HERE}&pattern=x&context=1000", 400),
        (f"cat?{HERE}&path=nope.md", 404),
        (f"ls?{HERE}&path=wiki/nope", 404),
        (f"grep?{HERE}&pattern=x&path=nope", 404),
        (f"history?{HERE}&path=nope.md", 404),
        (f"cat?{HERE}&path=raw/transcripts/claude-0123456789ab.md", 404),
        (f"cat?{HERE}&path=../../flywheel.db", 403),
        (f"ls?{HERE}&path=wiki/../..", 403),
        (f"cat?{HERE}&path=.git/config", 403),
        (f"grep?{HERE}&pattern=x&path=/../..", 403),
        (f"cat?{HERE}&path=wiki", 400),
        (f"cat?{HERE}&path=index.md&start=0", 400),
        ("ls?project=nope", 404),
        ("ls", 400),
    ],
)
def test_errors(faces: Faces, path: str, status: int) -> None:
    """A bad pattern is a 400, an unknown path a 404, one that leads out a 403."""
    answer = get(faces, path)
    assert answer.status == status and answer.json["error"]["message"]


def test_a_pattern_that_never_ends_is_ended(faces: Faces) -> None:
    """A pathological expression ends within two seconds, says so, and keeps nobody else waiting."""
    began = time.monotonic()
    found = get(faces, f"grep?{HERE}&pattern=(.*.*)*.*.*%5Cx00&extended=true").json
    assert time.monotonic() - began < 2.0
    assert found["cut"] == "time" and "stopped after" in found["notes"][0]


def test_answers_are_capped_and_say_so(faces: Faces) -> None:
    """Listings, texts and matches."""
    assert get(faces, f"ls?{HERE}&path=wiki/decisions&limit=1").json["more"] is True
    text = get(faces, f"cat?{HERE}&path=index.md&lines=2").json
    assert text["more"] is True and text["lines"] == 2
    found = get(faces, f"grep?{HERE}&pattern=e&limit=3").json
    assert len(found["matches"]) == 3 and found["cut"] == "limit" and found["notes"]
