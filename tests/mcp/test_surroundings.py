"""Where a call comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.mcp.talking import INITIALIZED, Stub, calling, modern, opening, server

from flywheel.mcp.surroundings import agent_of, folder_of, session_of


@pytest.mark.parametrize(
    ("client", "agent"),
    [
        ("claude-code", "claude"),
        ("codex-mcp-client", "codex"),
        ("gemini-cli-mcp-client-flywheel", "gemini"),
        ("opencode", "opencode"),
        ("Cursor", "cursor"),
        ("GitHub Copilot CLI", "copilot"),
        ("inspector", ""),
        ("", ""),
    ],
)
def test_agents_by_their_clients_names(client: str, agent: str) -> None:
    """As they introduce themselves."""
    assert agent_of(client) == agent


@pytest.mark.parametrize(
    ("agent", "meta", "env", "session"),
    [
        ("claude", {"claudecode/toolUseId": "t"}, {"CLAUDE_CODE_SESSION_ID": "c1"}, "c1"),
        ("codex", {"threadId": "t1", "sessionId": "s1"}, {"CLAUDE_CODE_SESSION_ID": "c1"}, "t1"),
        ("codex", {"sessionId": "s1"}, {}, "s1"),
        ("codex", {"threadId": 7}, {}, ""),
        ("gemini", {}, {"GEMINI_SESSION_ID": "g1"}, "g1"),
        ("", {}, {"CLAUDE_CODE_SESSION_ID": "c1"}, ""),
        ("codex", {"threadId": "x" * 300}, {}, "x" * 128),
    ],
)
def test_sessions(agent: str, meta: Mapping[str, object], env: Mapping[str, str], session: str) -> None:
    """From the call's meta, else from the variable of that very agent: another's may be inherited."""
    assert session_of(agent, meta, env) == session


@pytest.mark.parametrize(
    ("roots", "cwd", "env", "folder"),
    [
        (["file:///w/shop"], "/home/u", {}, "/w/shop"),
        (["file:///w/shop"], "/w/shop/src", {}, "/w/shop/src"),
        (["file:///w/sho"], "/w/shop", {}, "/w/shop"),
        (["file:///w/my%20shop", "file:///w/shop"], "/", {}, "/w/my shop"),
        (["https://x/y", "file://host/w/shop", "file:///gone"], "/w/shop", {}, "/w/shop"),
        ([], "/w/shop", {"CLAUDE_PROJECT_DIR": "/w/other"}, "/w/shop"),
        ([], "/home/u", {"CLAUDE_PROJECT_DIR": "/w/other"}, "/w/other"),
        ([], "/", {"PWD": "/w/shop"}, "/w/shop"),
        ([], "/", {"CLAUDE_PROJECT_DIR": "relative", "PWD": "/home/u"}, "/"),
    ],
)
def test_folders(roots: Sequence[str], cwd: str, env: Mapping[str, str], folder: str) -> None:
    """The client's root that holds the process's folder, else the first; without roots the folder, else a variable."""
    there = {"/w/shop", "/w/other", "/w/my shop", "/w/shop/src", "/home/u", "/"}
    if roots == ["file:///w/sho"]:
        assert folder_of(roots, cwd, env, "/home/u", lambda path: path in there | {"/w/sho"}) == "/w/sho"
    else:
        assert folder_of(roots, cwd, env, "/home/u", there.__contains__) == folder


def test_a_client_is_asked_for_its_roots_once(tmp_path: Path) -> None:
    """Where it says that it has some; again when it says that they changed."""
    stub = Stub()
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    with server(lambda: stub.api) as pipes:
        pipes.ask(opening())
        pipes.send(INITIALIZED, calling(1, "recall", question="x"))
        for folder, call in ((one, 1), (two, 3)):
            asked = pipes.receive()
            assert asked["method"] == "roots/list"
            pipes.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": folder.as_uri()}]}})
            assert pipes.receive()["id"] == call
            assert stub.asked[-1][1]["cwd"] == str(folder)
            pipes.send(calling(2, "recall", question="x"))
            assert pipes.receive()["id"] == 2 and stub.asked[-1][1]["cwd"] == str(folder)
            pipes.send(
                {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}, calling(3, "recall", question="x")
            )
        assert pipes.receive()["method"] == "roots/list"


@pytest.mark.parametrize(
    "answer", [{"error": {"code": -32601, "message": "no"}}, {"result": {"roots": 7}}, {"result": {}}]
)
def test_a_client_that_has_no_roots_after_all(answer: dict[str, object]) -> None:
    """Its process's folder counts, and it is not asked again."""
    stub = Stub()
    with server(lambda: stub.api) as pipes:
        pipes.ask(opening())
        pipes.send(calling(1, "recall", question="x"))
        pipes.send({"jsonrpc": "2.0", "id": pipes.receive()["id"], **answer})
        assert pipes.receive()["id"] == 1 and stub.asked[-1][1]["cwd"] == str(Path.cwd())
        pipes.send(calling(2, "recall", question="x"))
        assert pipes.receive()["id"] == 2


def test_neither_handshake_nor_roots_are_needed() -> None:
    """A client of the 2026 protocol, and one that never said what it can."""
    stub = Stub()
    with server(lambda: stub.api) as pipes:
        pipes.send(modern(1, "tools/call", name="propose", arguments={"statement": "x", "quote": "y"}))
        assert pipes.receive()["id"] == 1
    given = stub.asked[-1][1]
    assert (given["cwd"], given["agent"]) == (str(Path.cwd()), "claude")


def test_codex_names_its_session_in_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the session of an agent around it is not taken for it."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "around")
    stub = Stub()
    who = {"name": "codex-mcp-client", "title": "Codex", "version": "0.171.0"}
    with server(lambda: stub.api) as pipes:
        pipes.ask(opening("2025-06-18", {"elicitation": {"form": {}}}, who))
        pipes.send(INITIALIZED)
        pipes.ask(calling(1, "feedback", {"threadId": "t1", "progressToken": 1}, id="x", verdict="helped"))
    assert stub.asked[-1][1]["agent"] == "codex" and stub.asked[-1][1]["session"] == "t1"
    assert os.environ["CLAUDE_CODE_SESSION_ID"] == "around"
