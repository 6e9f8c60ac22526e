"""A few sentences by a model after a look back: each borne out by what it cites, shown after what the rules say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from click.testing import CliRunner
from tests.llm.conftest import Story
from tests.llm.loopback import Act, fails, says

from flywheel.cli import cli
from flywheel.cli import retro as command
from flywheel.jobs.kinds import RETRO_MODEL
from flywheel.model import Digest, Job, Micros, ProjectId, Session
from flywheel.retro import paragraph
from flywheel.retro.words import LENGTH
from flywheel.store.mapper import find


def told(body: Mapping[str, Any]) -> Mapping[str, object]:
    """The first record word for word; one with another number; one that cites nothing; one that cites what is not."""
    lines = [line for line in str(body["messages"][0]["content"]).split("\n") if line.startswith("#")]
    first = re.sub(r"^#1 (?:\w+: )?", "", lines[0])
    return {
        "sentences": [
            {"text": first, "cites": [1]},
            {"text": f"{first} It took 98765 attempts.", "cites": [1]},
            {"text": first, "cites": []},
            {"text": first, "cites": [999]},
        ]
    }


def summed(story: Story, session: Session, act: Act, *, on: bool = True) -> int:
    """Run the job; how many questions were asked."""
    story.ask(fails(500), question="zeppelin timetable on Saturn?", given={"retro": on})  # nothing is sent for it
    story.wire.does(act)
    job = Job(
        id="m", kind=RETRO_MODEL, key=session.id, project_id=ProjectId("p"), run_after=Micros(0), created_at=Micros(0),
        updated_at=Micros(0),
    )  # fmt: skip
    paragraph.run(job, story.app.parts.deps(lambda: False, lambda doing: None))
    return len(story.wire.heard)


@pytest.fixture
def session(story: Story) -> Session:
    """The session of which the rules have most to say."""
    with story.app.parts.db.read() as tx:
        (id,) = tx.one("SELECT session_id FROM retro_point GROUP BY session_id ORDER BY count(*) DESC LIMIT 1") or ("",)
        return find(tx, Session, "WHERE id = :id", id=id)[0]


def test_sentences_stand_after_the_rules_and_cite_messages(
    story: Story, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What passes is kept and shown last, with its messages; asked once for as long as the rules say the same."""
    assert summed(story, session, says(told), on=False) == 0
    assert summed(story, session, says(told)) > 0 and summed(story, session, says(told)) == 0
    with story.app.parts.db.read() as tx:
        (kept,) = find(tx, Digest, "WHERE length = :length", length=LENGTH)
    assert len(kept.text.split("\n")) == 1 and kept.model == "anthropic/claude-haiku-5-5"
    (look,) = story.app.retro(session=session.id).looks
    assert [line.section for line in look.lines].index("words") == len(look.lines) - 1 > 0
    assert look.lines[-1].cites and look.lines[-1].text == kept.text
    monkeypatch.setattr(command, "connect", lambda: story.app)
    shown = CliRunner().invoke(cli, ["retro", session.id, "--no-wait"], env={"COLUMNS": "100"})
    assert shown.exit_code == 0 and "In a model's words" in shown.stdout
    with story.app.parts.db.write() as tx:
        tx.run("UPDATE retro_point SET text = text || ' again' WHERE session_id = :id", id=session.id)
    assert [line for line in story.app.retro(session=session.id).looks[0].lines if line.section == "words"] == []
