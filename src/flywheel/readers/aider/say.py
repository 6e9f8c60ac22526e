"""What the blocks of aider's history come to: prompts, commands, replies with their edits, and aider's own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from flywheel.model import MessageKind, Role, digest
from flywheel.readers.aider.edits import proposed
from flywheel.readers.aider.state import State
from flywheel.readers.claude.tools import is_own
from flywheel.readers.fields import clip
from flywheel.readers.seam import Draft, Parsed, SessionFacts
from flywheel.text.compose import FENCE_OPEN, strip_injected

_FENCE: Final = FENCE_OPEN.rstrip(">")
_SLASH: Final = re.compile(r"(/[a-z][a-z-]*(?=\s|\Z)|!)\s*(.*)", re.DOTALL)
_SPOKEN: Final = frozenset({"/ask", "/code", "/architect", "/context", "/help"})
_RUN: Final = frozenset({"!", "/run", "/test", "/git", "/lint"})
_FILES: Final = frozenset({"/add", "/drop", "/read-only", "/edit", "/load", "/save"})
_APPLIED: Final = "Applied edit to "
_RUNNING: Final = "Running "
_COMMIT: Final = re.compile(r"Commit ([0-9a-f]{7,40})\b")
_VERSION: Final = re.compile(r"Aider v(\S+)")
_MODEL: Final = re.compile(r"(?:Main model|Model): (\S+)")
_TROUBLE: Final = re.compile(
    r"\b(?:error|errors|exception|traceback|failed|fatal|did not conform|SearchReplaceNoExactMatch)\b", re.IGNORECASE
)
_FAILED: Final = re.compile(
    r"^(?:fatal: |error: |Traceback )|exit(?:ed)?(?: with)? (?:status|code) [1-9]", re.MULTILINE
)
_CHATTER: Final = re.compile(
    r"Tokens: |Cost |Aider v|Main model|Model: |Weak model|Editor model|Git repo|Repo-map|Added |Removed |Dropp|Use /|"
    r"https?://|You can |Restored previous|Multiline mode|Scraping |Detected |Initial |VSCode|\^C|Cur working dir|"
    r"Create new file\?|Creating empty file|Add .*\?|.*\(Y\)es/\(N\)o|Warning|Reasoning effort|Thinking tokens"
)
_EDIT_CHARS: Final = 1000
_COMMAND_CHARS: Final = 4000
_USER, _ASSISTANT = Role.USER, Role.ASSISTANT  # looked up once: an enumeration's members are slow to get at
_PROMPT, _REPLY, _TOOL_CALL = MessageKind.PROMPT, MessageKind.REPLY, MessageKind.TOOL_CALL


class Speech:
    """Takes closed blocks and keeps the books of one pass."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._drafts: list[Draft] = []
        self._facts: dict[str, SessionFacts] = {}
        self._known = False  # what the facts say of the open run is all that is known

    def finish(self) -> Parsed:
        """Everything since the books were opened."""
        return Parsed(carry=self.state.dump(), drafts=tuple(self._drafts), sessions=dict(self._facts))

    def said(self) -> None:
        """The person's lines are complete."""
        state = self.state
        words = state.open.words().strip()
        text, chars = state.open.text(state.block)
        state.open.clear()
        state.command = state.tool = ""
        asked, state.asked = state.asked, ""
        if not words or words == "<blank>":
            return
        slash = _SLASH.match(words) if words[0] in "/!" else None
        name = slash[1] if slash else ""
        rest = slash[2].strip() if slash else ""
        if name in _RUN and rest:
            self._run(name, rest)
        elif slash and name not in _SPOKEN:
            meta: dict[str, object] = {"slash": name, "notice": "command"}
            if name in _FILES and rest:
                meta["files"] = [clip(path, 1000) for path in rest.split()[:20]]
            self._draft(Role.USER, MessageKind.NOTICE, clip(words, 2000), meta=meta)
        elif (rest or not slash) and not (asked and digest(words) == asked):
            if slash:
                state.asked = digest(rest)
                text = text.split(name, 1)[-1].strip()
            self._draft(_USER, _PROMPT, text, chars=chars, meta={"slash": name} if name else {})

    def _run(self, name: str, command: str) -> None:
        """A command that the person had run."""
        state = self.state
        command = f"git {command}" if name == "/git" else command
        state.tool = "run" if name in ("!", "/run") else name[1:]
        self._called(_USER, command, name)

    def replied(self) -> None:
        """The model's text is complete."""
        state = self.state
        text, chars = state.open.text(state.block)
        edits = proposed(state.open.words()) if "\n" in text else []
        if edits:
            state.pending = [[clip(part, _EDIT_CHARS) for part in edit] for edit in edits]
        state.open.clear()
        self._draft(_ASSISTANT, _REPLY, text, chars=chars)

    def output(self, line: str) -> None:
        """The first line of one message of aider's own."""
        state = self.state
        if not state.mode:
            self._banner(line)
        elif line.startswith(_APPLIED):
            self._applied(line[len(_APPLIED) :].strip())
        elif line.startswith("Commit ") and (commit := _COMMIT.match(line)):
            self._draft(
                Role.SYSTEM, MessageKind.NOTICE, line, meta={"notice": "commit", "input": {"commit": commit[1]}}
            )
        elif line.startswith(_RUNNING) and not state.more:
            self.put_out()
            state.tool = "run"
            self._called(_ASSISTANT, line[len(_RUNNING) :])
        elif state.more or not _CHATTER.match(line):
            state.open.add(line + "\n", state.block)

    def _banner(self, line: str) -> None:
        if version := _VERSION.match(line):
            self.state.version = version[1][:60]
        elif model := _MODEL.match(line):
            self.state.model = model[1][:120]

    def _applied(self, path: str) -> None:
        """An edit of a reply that was made."""
        state = self.state
        lines = [path]
        meta: dict[str, object] = {"files": [clip(path, 1000)]}
        mine = [edit for edit in state.pending if edit[0] == path]
        for _, old, new in mine:
            if old:
                lines.append("- " + old.replace("\n", "\n- "))
            if new:
                lines.append("+ " + new.replace("\n", "\n+ "))
        if mine:
            state.pending = [edit for edit in state.pending if edit[0] != path]
            meta["edits"] = [{"path": path, "old": old, "new": new} for _, old, new in mine[:8]]
        self._draft(_ASSISTANT, _TOOL_CALL, "\n".join(lines), tool="edit", meta=meta)

    def put_out(self) -> None:
        """Aider's own lines are complete."""
        state = self.state
        if not state.open.chars:
            state.command = ""
            return
        text, chars = state.open.text(state.block)
        state.open.clear()
        trouble = bool(_TROUBLE.search(text[:2000]))
        if state.command and state.command != "own":
            kind, role = MessageKind.TOOL_RESULT, Role.TOOL
            failed = bool(_FAILED.search(text))
            self._draft(role, kind, text, tool=state.tool, call=state.command, error=failed, chars=chars)
        elif not state.command and (trouble or "\n" in text):
            meta = {"notice": "error" if trouble else "output"}
            self._draft(Role.SYSTEM, MessageKind.NOTICE, text, error=trouble, chars=chars, meta=meta)
        state.command = ""

    def _draft(
        self,
        role: Role,
        kind: MessageKind,
        text: str,
        *,
        tool: str = "",
        call: str = "",
        error: bool = False,
        chars: int = 0,
        meta: Mapping[str, object] | None = None,
    ) -> None:
        """Add a draft to the run, unless it is empty."""
        if "<" in text and _FENCE in text:
            text = strip_injected(text).strip()
        if not text:
            return
        mark = digest(text)[:12]
        if not (self.state.session or self._named(role, kind, mark)):
            return
        if kind is _PROMPT and not self.state.title:
            self.state.title = clip(" ".join(text.split()), 120)
            self._known = False
        if chars:
            meta = {**(meta or {}), "chars": chars}
        self._add(role, kind, text, mark, tool, call, error, meta or {})

    def _called(self, role: Role, command: str, slash: str = "") -> None:
        """Add a command that is run; what it gives is awaited."""
        state, mark = self.state, digest(command)[:12]
        if not command or not (state.session or self._named(role, _TOOL_CALL, mark)):
            return
        call = f"{state.count}-{mark}"
        state.command = "own" if is_own("", {"command": command}) else call
        meta: dict[str, object] = {"command": clip(command, _COMMAND_CHARS)}
        if slash:
            meta["slash"] = slash
        self._add(role, _TOOL_CALL, command, mark, state.tool, call, False, meta)

    def _named(self, role: Role, kind: MessageKind, mark: str) -> bool:
        """Whether the run has a name now: its first prompt or command gives it one, what was before is of none."""
        if role is not _USER or kind is MessageKind.NOTICE:
            return False
        self.state.session = f"{self.state.started.replace(' ', 'T') or 'undated'}-{mark}"
        self._known = False
        return True

    def _add(
        self,
        role: Role,
        kind: MessageKind,
        text: str,
        mark: str,
        tool: str,
        call: str,
        error: bool,
        meta: Mapping[str, object],
    ) -> None:
        state = self.state
        session, count = state.session, state.count
        key = (session, str(count), mark)
        self._drafts.append(Draft(key, session, count, role, kind, text, state.at, tool, call, error, meta))
        state.count = count + 1
        if not self._known:
            self._note()

    def _note(self) -> None:
        """What is known of the run by now: its banner came before its name."""
        state = self.state
        self._known = True
        self._facts[state.session] = SessionFacts(
            native_id=state.session,
            title=state.title,
            cwd=state.cwd,
            model=state.model,
            version=state.version,
            started_at=state.at,
            last_at=state.at,
        )
