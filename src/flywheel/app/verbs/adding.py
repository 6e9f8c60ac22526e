"""The verbs of `api.adding` in process."""

from __future__ import annotations

from collections.abc import Iterator

from flywheel.api import (
    Added,
    Proposed,
    Transcript,
    TranscriptList,
)
from flywheel.app.transcripts import take_transcript
from flywheel.app.verbs.base import Verbs, absolute
from flywheel.harvest.uploads.standing import latest, standing_of


class AddingVerbs(Verbs):
    """See `api.Adding`."""

    def transcript_put(
        self,
        *,
        content: Iterator[bytes],
        format: str = "",
        cwd: str = "",
        project: str = "",
        name: str = "",
        key: str = "",
    ) -> Transcript:
        id = take_transcript(self.parts, content, format=format, cwd=cwd, project=project, name=name, key=key)
        self.poke()
        return self.transcript(id=id)

    def transcript(self, *, id: str) -> Transcript:
        with self.parts.db.read() as tx:
            return standing_of(tx, id)

    def transcripts(self, *, limit: int = 50) -> TranscriptList:
        with self.parts.db.read() as tx:
            return TranscriptList(transcripts=latest(tx, limit))

    def propose(
        self,
        *,
        statement: str,
        quote: str,
        cwd: str,
        source: str = "",
        type: str = "",
        scope: str = "",
        agent: str = "",
        session: str = "",
    ) -> Proposed:
        from flywheel.app import proposing  # brings in the extraction rules, which the daemon does not run

        given = {"source": source, "type": type, "scope": scope, "agent": agent, "session": session}
        folder = absolute(cwd, "cwd")
        asked = proposing.read_proposal(self.parts, statement=statement, quote=quote, cwd=folder, **given)
        return proposing.propose(self.parts, asked, self.poke)

    def add(
        self,
        *,
        cwd: str,
        path: str = "",
        text: str = "",
        name: str = "",
        kind: str = "",
        rank: str = "",
        date: str = "",
        scope: str = "",
    ) -> Added:
        from flywheel.app import adding  # brings in the rules of statements, which the daemon does not run

        given = {"name": name, "kind": kind, "rank": rank, "date": date, "scope": scope}
        added = adding.add(self.parts, cwd=absolute(cwd, "cwd"), path=path, text=text, **given)
        self.poke()
        return added

    def note(self, *, text: str, cwd: str) -> Added:
        return self.add(text=text, cwd=cwd, kind="note")
