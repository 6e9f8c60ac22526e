"""The verbs that every face of the product offers, and the values they take and give.

`Api` is satisfied by `app.App` (in process) and `client.Client` (over the socket). Each verb takes keyword arguments
that are JSON values and gives one frozen dataclass, so that faces are tables and not code. A module holds a group
of verbs and what they give.
"""

from __future__ import annotations

from typing import Protocol

from flywheel.api.adding import Added, Adding, Proposed, Transcript, TranscriptList
from flywheel.api.asking import (
    Asking,
    Briefing,
    Hit,
    Item,
    Lost,
    Reason,
    Receipt,
    SearchAnswer,
    Shown,
    Slice,
    Value,
    WhyAnswer,
)
from flywheel.api.cockpit import Overseeing
from flywheel.api.code import Coding
from flywheel.api.done import Done, Page
from flywheel.api.linting import Linting
from flywheel.api.questions import Questioning
from flywheel.api.reviewing import Reviewing, ReviewItem, ReviewQueue
from flywheel.api.running import (
    AgentList,
    AgentState,
    Explained,
    ImportProgress,
    Installed,
    JobList,
    Retention,
    Running,
    Status,
)
from flywheel.api.terms import Naming
from flywheel.api.trees import (
    TreeChange,
    TreeDiff,
    TreeHistory,
    TreeItem,
    TreeListing,
    TreeMatch,
    TreeMatches,
    Trees,
    TreeText,
)

__all__ = [
    "Added",
    "Adding",
    "AgentList",
    "AgentState",
    "Api",
    "Asking",
    "Briefing",
    "Coding",
    "Done",
    "Explained",
    "Hit",
    "ImportProgress",
    "Installed",
    "Item",
    "JobList",
    "Linting",
    "Lost",
    "Naming",
    "Overseeing",
    "Page",
    "Proposed",
    "Questioning",
    "Reason",
    "Receipt",
    "Retention",
    "ReviewItem",
    "ReviewQueue",
    "Reviewing",
    "Running",
    "SearchAnswer",
    "Shown",
    "Slice",
    "Status",
    "Transcript",
    "TranscriptList",
    "TreeChange",
    "TreeDiff",
    "TreeHistory",
    "TreeItem",
    "TreeListing",
    "TreeMatch",
    "TreeMatches",
    "TreeText",
    "Trees",
    "Value",
    "WhyAnswer",
]


class Api(Asking, Running, Adding, Reviewing, Trees, Linting, Overseeing, Questioning, Naming, Coding, Protocol):
    """Every verb. ``cwd`` and ``path`` are absolute. Raises the errors of `flywheel.errors`."""
