"""Evidence: projects, sessions, messages, documents and citations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flywheel.model.ids import Clean, DocumentId, MessageId, Micros, ProjectId, SessionId
from flywheel.model.words import FileState, MessageKind, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One repository, whatever folder, worktree or clone it is opened from."""

    id: ProjectId
    key: Clean  # what its identity rests on, e.g. "root:<commit>", "remote:host/owner/name", "path:/real/path"
    name: Clean
    root: Clean  # the folder it was last seen at; "" for the global project
    alias_of: ProjectId | None = None
    private: bool = False  # nothing that is known of it is proposed in another project
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPath:
    """A folder that was once resolved to a project, so that deleted checkouts keep their identity."""

    path: Clean
    project_id: ProjectId
    reason: Clean
    seen_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation of one agent; subagents are sessions with a parent. This row may change."""

    id: SessionId
    project_id: ProjectId
    agent: str
    native_id: str
    parent_id: SessionId | None = None
    title: Clean = Clean("")
    cwd: Clean = Clean("")
    branch: Clean = Clean("")
    model: Clean = Clean("")
    client_version: Clean = Clean("")
    started_at: Micros
    last_at: Micros
    ended_at: Micros | None = None
    messages: int = 0
    facts: Mapping[str, object] = field(default_factory=dict)  # PR links, forked_from, tokens used, ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One normalised event of a session; immutable evidence.

    ``ordinal`` orders a session's messages by file position, never by timestamp. ``sha256`` is over ``text``.
    """

    id: MessageId
    project_id: ProjectId
    session_id: SessionId
    ordinal: int
    role: Role
    kind: MessageKind
    text: Clean
    tool: Clean = Clean("")
    call_id: str = ""
    is_error: bool = False
    meta: Mapping[str, object] = field(default_factory=dict)  # redacted: tool input, files touched, exit code, ...
    created_at: Micros
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One immutable version of a file used as evidence."""

    id: DocumentId
    project_id: ProjectId
    path: Clean
    title: Clean
    kind: str  # adr, design, readme, runbook, incident, minutes, chat, draft, conventions, skill, note, code
    text: Clean
    created_at: Micros
    sha256: str
    rank: int = 0  # of the source, see `Claim.rank`
    said_at: Micros = Micros(0)  # the source's own date; 0 when it has none


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The verbatim span of a message or document that a claim rests on; ``quote == source.text[start:stop]``."""

    id: str
    project_id: ProjectId
    claim_id: str
    message_id: MessageId | None = None
    document_id: DocumentId | None = None
    start: int
    stop: int
    quote: Clean
    sha256: str
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """A message that its agent took back (rewind, refusal). The evidence stays."""

    message_id: MessageId
    project_id: ProjectId
    reason: Clean
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFile:
    """The cursor over one transcript file (FORMATS §0.4) and what reading it came to. This row may change."""

    path: str
    agent: str
    reader: str  # name in `READERS`: an agent may have several formats
    session_id: SessionId | None = None
    project_id: ProjectId | None = None
    device: int = 0
    inode: int = 0
    size: int = 0  # bytes when last read
    offset: int = 0  # bytes consumed
    head_hash: str = ""  # of the first 4 KiB
    tail_hash: str = ""  # of the last 256 bytes before ``offset``; of a file read whole, when it was last written
    state: FileState = FileState.SEEN
    lines: int = 0
    bad_lines: int = 0
    messages: int = 0
    unknown: Mapping[str, int] = field(default_factory=dict)  # record kinds that no rule knows, counted
    carry: Mapping[str, object] = field(default_factory=dict)  # the reader's state between two reads
    error: Clean = Clean("")
    updated_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A transcript that came over the socket instead of lying in an agent's folder."""

    id: str  # UUIDv7
    project_id: ProjectId
    forced: bool  # the client named folder or project: what the transcript itself says of them does not count
    reader: str  # name in `READERS`
    name: Clean
    cwd: Clean
    sha256: str  # of the bytes as they came
    bytes: int
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRequest:
    """What a client's retry is known by: its idempotency key, or what it sends."""

    request_key: str  # "key:" and the SHA-256 of the client's key, or "content:" and ``content``
    upload_id: str
    project_id: ProjectId
    content: str  # SHA-256 over the format, the target and the bytes
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadPart:
    """Some redacted lines of an upload, in order; the text goes once it is messages, the row with the last of them."""

    upload_id: str
    ordinal: int
    project_id: ProjectId
    size: int  # bytes that ``text`` had
    created_at: Micros
    text: Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadSession:
    """A session that an upload told of."""

    upload_id: str
    session_id: SessionId
    project_id: ProjectId
