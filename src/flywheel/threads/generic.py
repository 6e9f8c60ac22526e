"""Words and sentences that stand in every developer's sessions and tell little of a topic. Pure."""

from __future__ import annotations

from typing import Final

from flywheel.harvest.rules.topic import stem
from flywheel.text.compose import fixed

_WORDS: Final = """
    add added again already app apply approach back bad better big bit break broken bug build call case change changed
    check class clean code command commit config correct create current data day debug default delete different doc
    docs end error example exist explain fail failed failing feature file files find fine first fix fixed function give
    good handle help idea implement import improve issue job keep kind know last leave line list local log logic long
    look main make maybe merge message method missing module move name new next note number old open option order page
    part pass path place plan please point pr problem project pull push put question read ready really refactor remove
    rename report request result return review rewrite right run same save say script see server service set setup show
    side simple small something start state step still stop string support sure system table take task tell test tests
    text thing think time todo try turn type understand unit update use used user users value version wait want way
    week work works working write wrong yes yesterday src lib index init http api db base web core models views utils
    common app main config settings readme md py ts tsx js json yaml sql sh
"""
GENERIC: Final = frozenset(stem(word) for word in _WORDS.split())
"""In the form that topics have them."""

ORDINARY: Final = (
    fixed("Please fix the failing test and commit."),
    fixed("Add a new endpoint to the API and update the docs."),
    fixed("Run the tests again and tell me what failed."),
    fixed("Refactor this function so that it is easier to read."),
    fixed("Why does the build fail on CI?"),
    fixed("Add a column to the table and write a migration."),
    fixed("The page is slow, find out why."),
    fixed("Review the change and merge it."),
    fixed("Set up the project with a database, a web front end and Docker."),
    fixed("What is left to do?"),
    fixed("Show me the log of the last run."),
    fixed("Users cannot log in, please look at the error."),
    fixed("Write a script that imports the data."),
    fixed("Make the list sortable."),
    fixed("Deploy the service to production."),
    fixed("Use the config file instead of an environment variable."),
    fixed("The query returns the wrong rows."),
    fixed("Create a class for this and move the code there."),
    fixed("Store it in the database and show it in the interface."),
)
"""What people ask of agents everywhere: their mean is what two sessions have in common before any was seen."""
