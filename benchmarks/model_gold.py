"""Talks of our own with the operations that perfect models would give for them; and some that code has to refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """One operation; ``page`` and ``other`` name pages by words of their titles, or ``op:N``."""

    op: str
    statement: str = ""
    type: str = ""
    found: str = ""  # the type that the store has to hold
    page: str = ""
    other: str = ""
    kind: str = ""
    cites: Sequence[tuple[int, str]] = ()
    dropped: bool = False  # whether code has to refuse it


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A session; ``pages`` are words in the titles of pages that the rules made of it or of talks before."""

    name: str
    turns: Sequence[tuple[str, str]]
    pages: Sequence[str]
    gold: Sequence[Gold]


TALKS: Final[Sequence[Talk]] = (
    Talk(
        name="queue",
        turns=(
            ("user", "We decided to use Postgres for the job queue because Redis lost messages during the failover."),
            ("assistant", "Understood. The worker pool polls the table every two seconds and retries five times."),
            ("user", "The nightly export must never run on the primary database."),
            ("assistant", "I propose that we keep finished jobs for fourteen days. Shall we do that?"),
            ("user", "Yes, do that."),
            ("user", "Elin owns the export, and the finance team reads it on the first working day of a month."),
            ("assistant", "Nobody has said yet what happens when the export is late."),
        ),
        pages=("job queue", "nightly export"),
        gold=(
            Gold(op="create", statement="The worker pool polls the table every two seconds", type="fact",
                 found="hypothesis", cites=((2, "The worker pool polls the table every two seconds"),)),
            Gold(op="create", statement="We keep finished jobs for fourteen days", type="decision", found="decision",
                 cites=((4, "keep finished jobs for fourteen days"), (5, "Yes, do that"))),
            Gold(op="create", statement="Elin owns the export", type="fact", found="fact",
                 cites=((6, "Elin owns the export"),)),
            Gold(op="create", statement="The finance team reads the export on the first working day of a month",
                 type="fact", found="fact", cites=((6, "reads it on the first working day of a month"),)),
            Gold(op="question", page="nightly export", statement="Nobody has said what happens when the export is late",
                 type="judgment", found="judgment", cites=((7, "what happens when the export is late"),)),
            Gold(op="link", page="op:1", other="job queue", kind="prerequisite",
                 cites=((2, "polls the table every two seconds"),)),
            Gold(op="create", statement="The job queue is MySQL", cites=((1, "decided to use Pos"),), dropped=True),
            Gold(op="create", statement="Finished jobs are kept for ever",
                 cites=((4, "finished jobs are kept for ever"),), dropped=True),
        ),
    ),
    Talk(
        name="release",
        turns=(
            ("user", "From now on releases are cut on Tuesdays, never on Fridays, as support is thin at weekends."),
            ("assistant", "Noted. The build takes eleven minutes since the cache was moved to the shared volume."),
            ("user", "The staging cluster has three nodes and its certificate expires on 12 August 2026."),
            ("user", "I prefer small pull requests with one topic each."),
            ("assistant", "The flaky test was caused by a clock that went back; freezing the time fixed it."),
            ("user", "> The build must be signed, says the vendor's page.\n\nI am not convinced of that."),
            ("user", "Open question: who rotates the staging certificate?"),
        ),
        pages=("Tuesdays", "small pull requests"),
        gold=(
            Gold(op="create", statement="The build takes eleven minutes", type="fact", found="hypothesis",
                 cites=((2, "The build takes eleven minutes"),)),
            Gold(op="create", statement="The staging cluster has three nodes", type="fact", found="fact",
                 cites=((3, "The staging cluster has three nodes"),)),
            Gold(op="create", statement="The certificate of the staging cluster expires on 12 August 2026", type="fact",
                 found="fact", cites=((3, "its certificate expires on 12 August 2026"),)),
            Gold(op="create", statement="The flaky test was caused by a clock that went back", type="fact",
                 found="hypothesis", cites=((5, "The flaky test was caused by a clock that went back"),)),
            Gold(op="create", statement="The build must be signed", type="decision", found="external_claim",
                 cites=((6, "The build must be signed"),)),
            Gold(op="question", page="op:3", statement="Who rotates the staging certificate?", type="judgment",
                 found="judgment", cites=((7, "who rotates the staging certificate"),)),
            Gold(op="link", page="op:2", other="op:1", kind="relates_to", cites=((3, "The staging cluster has"),)),
            Gold(op="update", page="Tuesdays", type="decision", found="decision",
                 statement="Releases are cut on Tuesdays and never on Fridays, as support is thin at weekends",
                 cites=((1, "releases are cut on Tuesdays, never on Fridays"),)),
            Gold(op="update", page="Tuesdays", statement="The build must be signed",
                 cites=((6, "The build must be signed"),), dropped=True),
            Gold(op="update", page="ffffff", statement="Releases are cut on Tuesdays",
                 cites=((1, "releases are cut on Tuesdays"),), dropped=True),
        ),
    ),
    Talk(
        name="later",
        turns=(
            ("user", "The job queue moves to Kafka in May, since Postgres is too slow for the new volume."),
            ("user", "Releases go out on Mondays from June on, Tuesdays collide with the finance close."),
            ("assistant", "The consumer group has six partitions. Kafka keeps messages for seven days."),
            ("user", "The consumer lag has to stay below 500 messages."),
        ),
        pages=("job queue", "Tuesdays", "nightly export"),
        gold=(
            Gold(op="supersede", page="job queue", statement="The job queue moves to Kafka in May", type="decision",
                 found="decision", cites=((1, "The job queue moves to Kafka in May"),)),
            Gold(op="supersede", page="Tuesdays", statement="Releases go out on Mondays from June on", type="decision",
                 found="decision", cites=((2, "Releases go out on Mondays from June on"),)),
            Gold(op="create", statement="Kafka keeps messages for seven days", type="fact", found="hypothesis",
                 cites=((3, "Kafka keeps messages for seven days"),)),
            Gold(op="create", statement="The consumer group has six partitions", type="fact", found="hypothesis",
                 cites=((3, "The consumer group has six partitions"),)),
            Gold(op="create", statement="The consumer lag stays below 500 messages", type="decision", found="decision",
                 cites=((4, "consumer lag has to stay below 500 messages"),)),
            Gold(op="link", page="op:4", other="op:3", kind="relates_to", cites=((3, "Kafka keeps messages"),)),
            Gold(op="link", page="op:5", other="op:4", kind="prerequisite",
                 cites=((4, "consumer lag has to stay below 500"),)),
            Gold(op="supersede", page="nightly export", statement="Kafka keeps messages for seven days",
                 cites=((3, "Kafka keeps messages for seven days"),), dropped=True),
            Gold(op="create", statement="The consumer lag stays below 900 messages",
                 cites=((4, "consumer lag has to stay below 500 messages"),), dropped=True),
        ),
    ),
)  # fmt: skip
"""21 operations that hold, of all kinds, and 6 that do not."""
