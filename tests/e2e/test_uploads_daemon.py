"""Transcripts over the socket of a real daemon: nothing that was acknowledged is lost, and standard input."""

from __future__ import annotations

import json
from collections.abc import Iterator

import orjson
from tests.e2e.conftest import House, until

from flywheel.api import Transcript

MESSAGES = 3000


def long() -> Iterator[bytes]:
    """A conversation that takes a while to read, as it streams."""
    yield b'{"metadata": {"id": "long"}, "messages": ['
    for n in range(MESSAGES):
        text = f"The bilby report {n}. " + "The bilbies were counted again. " * 30
        said = {"role": "user", "content": text, "timestamp": 1_772_355_600 + n}
        yield (b"," if n else b"") + json.dumps(said).encode()
    yield b"]}"


def finished(house: House, id: str) -> Transcript:
    """The transcript once it is completed."""
    found: list[Transcript] = []

    def over() -> bool:
        found[:] = [house.client.transcript(id=id)]
        return found[0].state in ("completed", "failed")

    until("the end of the transcript", over)
    return found[0]


def test_a_killed_daemon_loses_nothing_that_it_acknowledged(any_house: House) -> None:
    """kill -9 right after the 202, and again in the middle of reading: the next daemon reads all of it, once."""
    put = any_house.client.transcript_put(content=long(), key="k")
    any_house.stop(kill=True)
    any_house.start()
    until("some messages", lambda: any_house.client.status().rows["messages"] > 0)
    any_house.stop(kill=True)
    any_house.start()
    found = finished(any_house, put.id)
    assert (found.state, found.error, len(found.sessions)) == ("completed", "", 1)
    assert any_house.client.status().rows["messages"] == MESSAGES
    assert any_house.client.transcript_put(content=long(), key="k").id == put.id
    hits = any_house.client.search(query=f"bilby report {MESSAGES - 1}", project="uploads").hits
    assert hits and "bilby" in hits[0].text


def test_standard_input_is_followed_to_its_end(house: House) -> None:
    """``flywheel import -``: what it came to, as JSON and in words; what is wrong, with its field and exit code."""
    body = orjson.dumps(
        {"messages": [{"role": "user", "content": "We decided to keep spools in UTC.", "timestamp": 9}]}
    )
    ran = house.command("import", "-", "--json", "--name", "Spools", input=body)
    assert ran.returncode == 0, ran.stderr
    told = orjson.loads(ran.stdout)
    assert (told["state"], told["messages"], told["name"]) == ("completed", 1, "Spools")
    assert house.client.transcripts().transcripts[0].id == told["id"]
    again = house.command("import", "-", "--name", "Spools", input=body)
    assert told["id"].encode() in again.stdout and b"1 message" in again.stdout
    wrong = house.command("import", "-", "--format", "generic", input=b'{"messages": [{"role": "elf"}]}')
    assert wrong.returncode == 2 and b"messages[0].role must be" in wrong.stderr
    mixed = house.command("import", "/tmp", "--format", "generic")
    assert mixed.returncode == 2 and b"standard input" in mixed.stderr
