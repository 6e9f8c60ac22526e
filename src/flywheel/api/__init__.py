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
from flywheel.api.beacons import BeaconInfo, BeaconList, BeaconPlace, Lighting
from flywheel.api.behaviour import Behaving, Habit, HabitList, HabitWarning, HabitWarnings
from flywheel.api.cockpit import Cockpit, CockpitLine, Factors, Overseeing
from flywheel.api.code import CodeAnswer, CodeFile, CodeHit, CodeRef, Coding
from flywheel.api.done import Done, Page
from flywheel.api.linting import LintFix, LintFixes, Linting, LintItem, LintReport
from flywheel.api.questions import Asked, AskedList, FiledPage, Questioning
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
from flywheel.api.terms import Naming, TermChange, TermHistory, TermList, TermShown
from flywheel.api.topology import Charting, MapEdge, MapNode, TopologyAnswer
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
    "Asked",
    "AskedList",
    "Asking",
    "BeaconInfo",
    "BeaconList",
    "BeaconPlace",
    "Behaving",
    "Briefing",
    "Charting",
    "Cockpit",
    "CockpitLine",
    "CodeAnswer",
    "CodeFile",
    "CodeHit",
    "CodeRef",
    "Coding",
    "Done",
    "Explained",
    "Factors",
    "FiledPage",
    "Habit",
    "HabitList",
    "HabitWarning",
    "HabitWarnings",
    "Hit",
    "ImportProgress",
    "Installed",
    "Item",
    "JobList",
    "Lighting",
    "LintFix",
    "LintFixes",
    "LintItem",
    "LintReport",
    "Linting",
    "Lost",
    "MapEdge",
    "MapNode",
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
    "TermChange",
    "TermHistory",
    "TermList",
    "TermShown",
    "TopologyAnswer",
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


class Api(
    Asking,
    Running,
    Adding,
    Reviewing,
    Trees,
    Linting,
    Overseeing,
    Questioning,
    Naming,
    Coding,
    Charting,
    Lighting,
    Behaving,
    Protocol,
):
    """Every verb. ``cwd`` and ``path`` are absolute. Raises the errors of `flywheel.errors`."""
