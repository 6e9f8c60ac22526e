"""The whole way on both stores: transcripts in, the workers, a briefing out over the socket."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import orjson
import psutil
from tests.e2e.conftest import House, make_house, until

from flywheel.model import Injection, Retrospective
from flywheel.store.connect import connect
from flywheel.store.mapper import find

DECISION = "We decided to use Valkey for the price cache because the licence of Redis changed."

SESSION = "0f6a2b10-0000-4000-8000-00000000000%d"


def record(session: int, number: int, role: str, content: Any, cwd: str, **more: object) -> dict[str, Any]:
    """One line of a transcript as Claude Code writes it."""
    name = f"{session:08d}-0000-4000-8000-{number:012d}"
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{session}_{number}", "model": "claude-test", "stop_reason": None}
    return {
        "type": role,
        "uuid": name,
        "parentUuid": None,
        "sessionId": SESSION % session,
        "isSidechain": False,
        "timestamp": f"2026-03-0{session}T10:{number:02d}:00.000Z",
        "cwd": cwd,
        "gitBranch": "main",
        "version": "2.1.332",
        "userType": "external",
        "message": message,
        **more,
    }


def write(path: Path, *records: dict[str, Any]) -> None:
    """Append lines to a transcript."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        for one in records:
            file.write(orjson.dumps(one) + b"\n")


def start_hook(house: House, session: str, cwd: str, **more: object) -> str:
    """What a SessionStart injects, "" for nothing."""
    payload = {"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": cwd, **more}
    body = house.client.hook(agent="claude", event="SessionStart", payload=orjson.dumps(payload))
    return orjson.loads(body)["hookSpecificOutput"]["additionalContext"] if body else ""


def test_from_transcripts_to_a_briefing(any_house: House) -> None:
    """Import → harvest, extract, embed, sync, look back → search, why, show, context, hook, on each store."""
    project = any_house.demo()
    client = any_house.client
    until("symbols", lambda: client.status().rows["symbols"] > 10)
    until("an index that has caught up", lambda: not any(client.status().behind.values()))
    status = client.status()
    assert status.files["parsed"] == 5 and status.bad_lines == 0 and status.jobs["dead"] == 0
    assert status.rows["candidates"] >= 5 and status.rows["messages"] > 50
    hits = client.search(query="customers got the same mail twice", cwd=project).hits
    assert any("lease" in hit.text for hit in hits)
    reasons = client.why(question="why did we move off Redis?", cwd=project).reasons
    assert "PostgreSQL" in reasons[0].statement
    receipt = reasons[0].receipts[0]
    assert receipt.quote in client.show(id=receipt.message_id).body
    briefing = client.context(cwd=project)
    assert "unconfirmed" in briefing.text and "AGENTS.md" in briefing.text
    assert briefing.tokens <= briefing.budget
    ids = re.findall(r"\[fw:(\w+)\]", briefing.text)
    assert len(ids) > 5
    assert all(client.show(id=id).id for id in ids), "every id that a briefing prints leads somewhere"
    assert "unconfirmed" in start_hook(any_house, SESSION % 9, project)


def test_every_vector_lies_where_the_store_searches_it(any_house: House) -> None:
    """PostgreSQL holds the vectors as pgvector's own type; SQLite as int8 rows and segments."""
    any_house.demo()
    settings = (any_house.home / "flywheel.toml").read_text()
    url = settings.split('"')[1] if "url" in settings else ""
    db = connect(url, any_house.home / "data", migrate=False)
    try:
        with db.read() as tx:
            column = "vec" if db.dialect == "postgres" else "vector"
            rows = tx.all(f"SELECT kind, count(*) FROM embedding WHERE {column} IS NOT NULL GROUP BY kind")
        counts: dict[str, int] = dict(rows)
        assert counts["message"] > 20 and counts["entry"] > 4
    finally:
        db.close()


def test_a_finding_reaches_the_next_session_unreviewed(house: House, home: Path) -> None:
    """Session 1 finds something; session 2 starts with it, marked unconfirmed, and nobody reviewed anything."""
    cwd = home / "user" / "shop"
    cwd.mkdir()
    first = home / "transcripts" / "projects" / "-shop" / f"{SESSION % 1}.jsonl"
    write(
        first,
        record(1, 1, "user", "Which cache do we use for prices?", str(cwd)),
        record(1, 2, "assistant", [{"type": "text", "text": "None yet."}], str(cwd)),
        record(1, 3, "user", DECISION, str(cwd)),
    )
    house.import_all(first)
    told = start_hook(house, SESSION % 2, str(cwd))
    assert "Valkey for the price cache" in told and "unconfirmed" in told


def test_injected_text_never_comes_back(house: House, home: Path) -> None:
    """A transcript that holds our own briefing, as attachment, reminder and tool result, teaches nothing."""
    project = house.demo()
    told = start_hook(house, SESSION % 3, project)
    assert told
    before = house.client.status().rows
    path = home / "transcripts" / "projects" / "-again" / f"{SESSION % 3}.jsonl"
    attachment = {"type": "hook_additional_context", "content": [told], "hookEvent": "SessionStart"}
    extra = record(3, 1, "user", "", project) | {"type": "attachment", "attachment": attachment}
    extra.pop("message")
    call = {"type": "tool_use", "id": "t1", "name": "mcp__flywheel__search", "input": {"query": "redis"}}
    write(
        path,
        extra,
        record(3, 2, "user", f"<system-reminder>\n{told}\n</system-reminder>\nGo on, please.", project),
        record(3, 3, "assistant", [call], project),
        record(3, 4, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": told}], project),
    )
    house.import_all(path)
    after = house.client.status().rows
    assert after["candidates"] == before["candidates"] and after["entries"] == before["entries"]
    shown = [
        house.client.show(id=h.id).body for h in house.client.search(query="mail queue", cwd=project, limit=50).hits
    ]
    assert not any("flywheel-briefing" in text for text in shown)


def test_the_ledger_says_what_went_into_a_session(house: House, home: Path) -> None:
    """After a hook's answer its items are in the injection table, and are not injected again at a prompt."""
    project = house.demo()
    assert start_hook(house, SESSION % 4, project)
    db = connect("", home / "data", migrate=False)
    try:

        def ledger() -> list[Injection]:
            with db.read() as tx:
                found: list[Injection] = find(tx, Injection, "WHERE native_session = :s", s=SESSION % 4)
            return found

        until("the ledger", ledger)
        started = {row.item_id for row in ledger()}
        prompt = {
            "session_id": SESSION % 4,
            "hook_event_name": "UserPromptSubmit",
            "cwd": project,
            "prompt": "why did we move the mail queue from Redis to PostgreSQL?",
        }
        house.client.hook(agent="claude", event="UserPromptSubmit", payload=orjson.dumps(prompt))
        until("the prompt's ledger", lambda: len({row.briefing_id for row in ledger()}) > 1 or True)
        rows = ledger()
        asked = [row.item_id for row in rows if row.event == "UserPromptSubmit"]
        assert not started & set(asked)
    finally:
        db.close()


def test_a_hook_at_the_end_of_a_turn_brings_the_transcript_in(home: Path) -> None:
    """Nothing was imported by hand: Stop names the transcript, and soon it can be found."""
    house = make_house(home)
    cwd = home / "user" / "shop"
    cwd.mkdir()
    path = home / "user" / ".claude" / "projects" / "-shop" / f"{SESSION % 5}.jsonl"
    path.parent.mkdir(parents=True)
    house.start()
    try:
        write(path, record(5, 1, "user", "The zanzibar importer drops the last row of every file.", str(cwd)))
        payload = {"session_id": SESSION % 5, "hook_event_name": "Stop", "cwd": str(cwd), "transcript_path": str(path)}
        assert house.client.hook(agent="claude", event="Stop", payload=orjson.dumps(payload)) == b""
        until("the message", lambda: house.client.search(query="zanzibar importer", cwd=str(cwd)).hits)
        with_more = record(5, 2, "user", "Also the quokka report is late.", str(cwd))
        write(path, with_more)  # no hook this time: the watcher or the sweep notices
        until("the appended message", lambda: house.client.search(query="quokka report", cwd=str(cwd)).hits)
    finally:
        house.stop()


def test_projects_never_mix(house: House, home: Path) -> None:
    """What was said in one project is not found, told or explained in another."""
    folders = [home / "user" / name for name in ("alpha", "beta")]
    for number, folder in enumerate(folders, 1):
        folder.mkdir()
        path = home / "transcripts" / "projects" / folder.name / f"{SESSION % number}.jsonl"
        text = f"We decided to use {folder.name.title()}DB for the invoices because it is certified."
        write(path, record(number, 1, "user", text, str(folder)))
    house.import_all(home / "transcripts")
    client, (alpha, beta) = house.client, map(str, folders)
    assert client.search(query="invoices", cwd=alpha).hits
    texts = [hit.text for hit in client.search(query="BetaDB invoices", cwd=alpha, limit=50).hits]
    assert not any("BetaDB" in text for text in texts)
    assert "BetaDB" not in client.context(cwd=alpha).text
    assert "AlphaDB" not in client.context(cwd=beta).text
    assert all(
        "BetaDB" not in reason.statement for reason in client.why(question="which db for invoices", cwd=alpha).reasons
    )
    everywhere = {hit.text for hit in client.search(query="invoices", everywhere=True, limit=50).hits}
    assert any("AlphaDB" in text for text in everywhere) and any("BetaDB" in text for text in everywhere)


def test_what_is_forgotten_is_gone_and_stays_gone(any_house: House, home: Path) -> None:
    """A forgotten session leaves no trace in answers, and a second import does not bring it back."""
    cwd = home / "user" / "shop"
    cwd.mkdir()
    path = home / "transcripts" / "projects" / "-shop" / f"{SESSION % 6}.jsonl"
    write(path, record(6, 1, "user", "We decided to use Xylophonia for the ledger because it is certified.", str(cwd)))
    any_house.import_all(path)
    client = any_house.client
    assert client.search(query="Xylophonia", cwd=str(cwd)).hits
    client.forget(id=SESSION % 6, reason="a test")
    assert not client.search(query="Xylophonia", cwd=str(cwd)).hits
    assert "Xylophonia" not in client.context(cwd=str(cwd)).text
    write(path, record(6, 2, "user", "Something else entirely.", str(cwd)))
    any_house.import_all(path)
    assert not client.search(query="Xylophonia", cwd=str(cwd), limit=50).hits
    assert not client.why(question="Xylophonia for the ledger", cwd=str(cwd)).reasons


def test_secrets_reach_neither_store_nor_index_nor_log(house: House, home: Path) -> None:
    """A key in a prompt, a tool's arguments and its output is nowhere below the data folder."""
    cwd = home / "user" / "shop"
    cwd.mkdir()
    secret = "ghp_" + "Z9q8W7e6R5t4Y3u2I1o0P9a8S7d6F5g4H3j2"
    path = home / "transcripts" / "projects" / "-shop" / f"{SESSION % 7}.jsonl"
    call = {
        "type": "tool_use",
        "id": "t1",
        "name": "Bash",
        "input": {"command": f"curl -H 'Authorization: Bearer {secret}' x"},
    }
    write(
        path,
        record(7, 1, "user", f"Use the token {secret} for the release.", str(cwd)),
        record(7, 2, "assistant", [call], str(cwd)),
        record(7, 3, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": f"token={secret}"}], str(cwd)),
    )
    house.import_all(path)
    payload = {
        "session_id": SESSION % 7,
        "hook_event_name": "PostToolUse",
        "cwd": str(cwd),
        "tool_name": "Bash",
        "tool_input": {"command": f"export GH_TOKEN={secret}"},
        "tool_response": {"stdout": secret},
    }
    house.client.hook(agent="claude", event="PostToolUse", payload=orjson.dumps(payload))
    house.stop()
    found = [p for p in (home / "data").rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
    assert found == []


def children(pid: int) -> list[psutil.Process]:
    """The lane processes of a daemon."""
    return list(psutil.Process(pid).children(recursive=True))


def test_no_child_outlives_a_killed_daemon(house: House) -> None:
    """kill -9 of the daemon ends its lane processes by themselves."""
    house.demo()
    assert house.process is not None
    lanes = children(house.process.pid)
    assert lanes
    house.stop(kill=True)
    until("the end of every child", lambda: not any(p.is_running() and p.status() != "zombie" for p in lanes))


def test_a_retrospective_follows_the_end_of_a_session(house: House, home: Path) -> None:
    """The demo's sessions are long over: each gets its retrospective, and `show` prints it."""
    house.demo()
    db = connect("", home / "data", migrate=False)
    try:

        def looks() -> list[Retrospective]:
            with db.read() as tx:
                found: list[Retrospective] = find(tx, Retrospective)
            return found

        until("five retrospectives", lambda: len(looks()) == 5)
        shown = house.client.show(id=looks()[0].session_id)
        assert shown.kind == "session" and "No retrospective" not in shown.body
    finally:
        db.close()


def test_the_command_line_answers_in_json(house: House) -> None:
    """Each asking verb prints one JSON object that a program can read."""
    project = house.demo()
    for words in (
        ["context", "--cwd", project],
        ["search", "redis", "--cwd", project],
        ["why", "redis", "--cwd", project],
        ["status"],
    ):
        done = house.command(*words, "--json")
        assert done.returncode == 0, done.stderr
        assert isinstance(json.loads(done.stdout), dict)


def test_the_installed_hook_speaks_to_the_daemon(house: House, home: Path) -> None:
    """`flywheel install claude` verifies itself, is idempotent to the byte, and can be undone to the byte."""
    settings = home / "user" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    before = b'{\n    "model": "x",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}\n'
    settings.write_bytes(before)
    done = house.command("install", "claude", "--yes")
    assert done.returncode == 0 and b"Verified" in done.stdout, done.stderr
    installed = settings.read_bytes()
    assert house.command("install", "claude", "--yes").returncode == 0
    assert settings.read_bytes() == installed
    command = json.loads(installed)["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    project = house.demo()
    payload = orjson.dumps(
        {"session_id": SESSION % 8, "hook_event_name": "SessionStart", "source": "startup", "cwd": project}
    )
    ran = subprocess.run(["/bin/sh", "-c", command], input=payload, capture_output=True, check=False)
    assert ran.returncode == 0 and b"unconfirmed" in ran.stdout and b"flywheel-briefing" in ran.stdout
    assert not house.client.status().problems
    script = home / "data" / "hook" / "flywheel-hook.py"
    kept = script.read_bytes()
    script.unlink()
    assert any("hook client" in told and "missing" in told for told in house.client.status().problems)
    script.write_bytes(kept)
    assert house.command("install", "claude", "--uninstall", "--yes").returncode == 0
    assert settings.read_bytes() == before
