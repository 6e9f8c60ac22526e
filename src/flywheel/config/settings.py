"""The settings by section, each with its default, its comment and its bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


def _setting(
    default: object,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    among: Sequence[str] = (),
    free: bool = False,
) -> Any:
    """A setting with its one-line comment and its bounds, both inclusive; ``free``: a table with keys of any name."""
    meta = {"doc": doc, "low": low, "high": high, "among": tuple(among), "free": free}
    if isinstance(default, dict):
        frozen = MappingProxyType(default)
        return field(default_factory=lambda: frozen, metadata=meta)
    return field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreConfig:
    """Where everything is kept."""

    url: str = _setting("", 'Database: "" is SQLite in the data folder; or "postgresql://user@host/name".')
    busy_seconds: float = _setting(10.0, "How long a write waits for the database lock.", low=0.1, high=300)


@dataclass(frozen=True, slots=True, kw_only=True)
class HarvestConfig:
    """Reading transcripts."""

    interval_seconds: int = _setting(60, "How often transcripts are looked for besides file events.", low=1, high=86400)
    roots: tuple[str, ...] = _setting((), "More folders with transcripts, besides each agent's own.")
    line_mb: int = _setting(64, "Longer transcript lines are skipped and counted.", low=1, high=1024)
    block_kb: int = _setting(32, "Longer texts are stored as head and tail.", low=1, high=1024)
    max_behind_seconds: float = _setting(
        2.0, "An import slows down when the index is this far behind.", low=0.1, high=600
    )
    sync_code: bool = _setting(True, "Index the code of the projects that sessions belong to.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractConfig:
    """Turning conversation into candidate knowledge."""

    floor: float = _setting(0.5, "Candidates that the signal rules score lower are not kept.", low=0, high=1)
    idle_minutes: int = _setting(15, "A session counts as over after this long without a message.", low=1, high=1440)
    model: bool = _setting(True, "Where there is a language model, it reads sessions and documents after the rules.")
    model_days: int = _setting(
        2, "Older ones are read by a model only when asked: flywheel llm backfill.", low=0, high=36500
    )
    model_least: int = _setting(
        120,
        "A shorter session (tokens of what you said) goes to a model only where rules find something.",
        low=0,
        high=100000,
    )
    model_share: float = _setting(
        0.25,
        "The part of a session's own tokens that asking about it may take; a session too short for that waits. 0: any.",
        low=0,
        high=10,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeConfig:
    """What is known, and which of two sources holds."""

    ranks: Mapping[str, float] = _setting(
        {"approved": 4, "design": 3, "runbook": 2, "conversation": 1, "draft": 0},
        "How much each sort of source weighs where two disagree (incident reports weigh as runbooks).",
        low=0,
        high=100,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeConfig:
    """The memory tree: knowledge as files below the data folder."""

    sweep_seconds: int = _setting(3600, "How often the files are compared with what was rendered.", low=5, high=86400)
    commit_seconds: float = _setting(3.0, "What changes within this time is one commit.", low=0, high=3600)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintConfig:
    """Looking for what is wrong with the knowledge."""

    hour: int = _setting(
        3, "From this hour on, local time, each project is linted once a day; -1 never.", low=-1, high=23
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexConfig:
    """The derived indexes."""

    heap_mb: int = _setting(48, "Memory of the text index writer.", low=15, high=1024)
    tool_chars: int = _setting(2000, "Characters of a tool's output that are findable.", low=0, high=100000)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedConfig:
    """Vectors."""

    model: str = _setting(
        "static",
        'Embedding model: "static" or "minilm" (bundled), "none", "sentence-transformers:NAME", "openai:NAME" (any'
        ' server of that kind) or "voyage:NAME".',
    )
    url: str = _setting("", 'Base address of an embedding server; "" is the provider\'s own.')
    key_env: str = _setting("", 'The environment variable with its key; "" is OPENAI_API_KEY or VOYAGE_API_KEY.')
    dimensions: int = _setting(
        0, "Numbers of a vector to ask a server for; 0 leaves it to the model.", low=0, high=8192
    )
    seconds: float = _setting(30.0, "How long one request to a server may take.", low=0.05, high=600)
    query_prompt: str = _setting("", 'What stands before a question; "" is the model\'s own, if it has one.')
    passage_prompt: str = _setting("", "What stands before a text that is looked for.")
    device: str = _setting("", 'Where sentence-transformers computes: "cpu", "cuda", ...; "" is the best there is.')
    usd: float = _setting(
        -1.0, "Dollars per million tokens of a server's model; -1: as config/llm.toml says.", low=-1, high=10000
    )
    code: str = _setting("minilm", 'Embedding model of code: "minilm" (bundled), or "none" for that of the rest.')


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmConfig:
    """Language models. Without one, rules do the work."""

    provider: str = _setting(
        "auto",
        '"auto" (anthropic when ANTHROPIC_API_KEY is set, else rules), "rules" (no model), "anthropic", "openai" (any'
        ' server of that kind: Ollama, vLLM, LM Studio), "agent" (an agent\'s command line).',
        among=("auto", "rules", "anthropic", "openai", "agent"),
    )
    model: str = _setting("", 'The model; "" is the provider\'s default in config/llm.toml.')
    editor: str = _setting(
        "", 'The stronger model that edits the memory; "" is llm.model, or the provider\'s own in config/llm.toml.'
    )
    url: str = _setting(
        "", 'Base address of the server; "" is the provider\'s own. For Ollama "http://127.0.0.1:11434/v1".'
    )
    key_env: str = _setting("", 'The environment variable with the key; "" is ANTHROPIC_API_KEY or OPENAI_API_KEY.')
    retro: bool = _setting(
        False, "A few sentences by the model after each look back, and of threads and projects; cited."
    )
    seconds: float = _setting(120.0, "How long one call may take.", low=0.05, high=3600)
    day_usd: float = _setting(1.0, "Dollars that a day (UTC) may cost; -1 is no cap.", low=-1, high=100000)
    month_usd: float = _setting(10.0, "Dollars that a month (UTC) may cost; -1 is no cap.", low=-1, high=1000000)
    day_tokens: int = _setting(10000000, "Tokens of a day (UTC); -1 is no cap.", low=-1, high=10**12)
    month_tokens: int = _setting(100000000, "Tokens of a month (UTC); -1 is no cap.", low=-1, high=10**13)
    purpose_shares: Mapping[str, float] = _setting(
        {"extract": 0.8, "retro": 0.4, "ask": 0.5, "embed": 0.5, "rerank": 0.3, "lint": 0.2, "test": 0.1},
        "The part of each cap that one purpose may take.",
        low=0,
        high=1,
    )
    project_shares: Mapping[str, float] = _setting(
        {}, "The part of each cap that one project, by name or id, may take: { shop = 0.5 }.", low=0, high=1, free=True
    )
    input_usd: float = _setting(
        -1.0, "Dollars per million input tokens; -1: as config/llm.toml says.", low=-1, high=10000
    )
    output_usd: float = _setting(-1.0, "Dollars per million output tokens; -1: likewise.", low=-1, high=10000)
    agent_command: str = _setting("claude", 'The agent\'s program, with provider = "agent".')
    agent_day: int = _setting(100, "How often a day (UTC) the agent's program is started at most.", low=0, high=100000)
    agent_at_once: int = _setting(1, "How many of it may run at once.", low=1, high=8)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """Finding things."""

    limit: int = _setting(10, "How many hits an answer holds unless asked otherwise.", low=1, high=1000)
    abstain: bool = _setting(True, "Return nothing when nothing is relevant enough.")
    prerequisites: int = _setting(2, "How many steps of prerequisites come with an entry; 0 is none.", low=0, high=5)
    prerequisite_share: float = _setting(
        0.25, "The part of an answer, or of a briefing's entries, that prerequisites may take.", low=0, high=1
    )
    rerank: str = _setting(
        "",
        'A model that orders the best 50 hits of a search again: "" (none), "http", "http:NAME" (Cohere, Jina, vLLM,'
        ' text-embeddings-inference) or "sentence-transformers:NAME" (a cross-encoder).',
    )
    rerank_url: str = _setting("", 'Address of a reranking server, up to "/rerank".')
    rerank_key_env: str = _setting("", "The environment variable with its key.")
    rerank_usd: float = _setting(
        -1.0, "Dollars per million tokens of that server; -1: as config/llm.toml says.", low=-1, high=10000
    )
    rerank_seconds: float = _setting(
        0.5, "How long a search waits for it; then the order is as before.", low=0.01, high=30
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeConfig:
    """The code index."""

    max_file_kb: int = _setting(1024, "Larger source files are skipped and counted.", low=1, high=1048576)
    parse_seconds: float = _setting(5.0, "A file that takes longer to parse is skipped and counted.", low=0.1, high=600)
    parsers: int = _setting(2, "Parser processes of a large sync.", low=1, high=64)
    sweep_seconds: int = _setting(600, "How often checkouts are compared with the index.", low=5, high=86400)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextConfig:
    """The briefing."""

    budget: int = _setting(2000, "Tokens of a session's briefing.", low=0, high=100000)
    shares: Mapping[str, float] = _setting(
        {"slot": 0.12, "skills": 0.08, "entries": 0.4, "history": 0.2, "topology": 0.1, "conventions": 0.1},
        "Each source's part of the budget; together at most 1.",
        low=0,
        high=1,
    )
    deadline_ms: int = _setting(60, "A source that takes longer gives an empty slice.", low=1, high=10000)
    candidates: bool = _setting(True, "Serve unreviewed candidates, marked unconfirmed.")
    candidate_share: float = _setting(0.2, "The part of the entries' tokens that candidates may take.", low=0, high=1)
    category_weights: Mapping[str, float] = _setting(
        {
            "decisions": 1.0,
            "policies": 1.0,
            "conventions": 0.95,
            "preferences": 0.9,
            "debugging": 0.9,
            "architecture": 0.85,
            "tasks": 0.8,
            "knowledge": 0.7,
            "people": 0.6,
            "projects": 0.6,
            "misc": 0.4,
        },
        "How much each category counts at a session's start.",
        low=0,
        high=10,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourConfig:
    """How somebody works."""

    budget: int = _setting(300, "Tokens of a briefing that tell how you work here; 0 is none.", low=0, high=2000)
    deadline_ms: int = _setting(500, "Loading that takes longer gives an empty section.", low=1, high=10000)
    decay: str = _setting(
        "adaptive",
        '"adaptive" (what proved itself fades more slowly) or "exponential" (0.95 a day).',
        among=("adaptive", "exponential"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksConfig:
    """What agents' hooks get."""

    prompt_budget: int = _setting(600, "Tokens injected for one prompt; 0 turns it off.", low=0, high=10000)
    gotcha_tokens: int = _setting(
        0, "Tokens of what is confirmed about a file when an agent reads or edits it; 0 turns it off.", low=0, high=300
    )
    deadline_ms: int = _setting(200, "The hook client gives up after this long.", low=10, high=5000)
    start_daemon: bool = _setting(True, "A hook that finds no daemon starts one for the next time.")
    spool_files: int = _setting(1000, "Events kept on disk while no daemon runs.", low=0, high=100000)


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonConfig:
    """The long-running process."""

    socket: str = _setting("", 'Path of the unix socket; "" is in the runtime folder.')
    idle_seconds: int = _setting(60, "A worker process without work ends after this long.", low=1, high=86400)
    drain_seconds: int = _setting(10, "How long stopping waits for running jobs.", low=0, high=600)
    lease_seconds: int = _setting(
        60, "A job whose worker is silent for this long is given to another.", low=5, high=3600
    )
    nice: int = _setting(19, "How far worker processes stand back: their nice value.", low=0, high=19)
    threads: int = _setting(8, "Threads that answer requests.", low=2, high=128)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConfig:
    """What the socket takes."""

    upload_mb: int = _setting(1024, "Larger transcripts are refused.", low=1, high=1048576)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactConfig:
    """What is never stored."""

    patterns: tuple[str, ...] = _setting((), "More regular expressions whose matches are redacted.")
    allow: tuple[str, ...] = _setting((), "Regular expressions of values that are no secrets.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The log file in the data folder."""

    level: str = _setting("info", "debug, info, warning or error.", among=("debug", "info", "warning", "error"))
    max_mb: int = _setting(10, "A log file that grows larger is rotated.", low=1, high=1024)
    keep: int = _setting(3, "Rotated log files that are kept.", low=0, high=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting. Sections are the tables of `flywheel.toml`; what belongs to no section stands above them."""

    offline: bool = _setting(
        False, "Nothing leaves this machine: no connection is opened but to the daemon's socket and the store."
    )
    store: StoreConfig = field(default_factory=StoreConfig)
    harvest: HarvestConfig = field(default_factory=HarvestConfig)
    extract: ExtractConfig = field(default_factory=ExtractConfig)
    knowledge: KnowledgeConfig = field(default_factory=KnowledgeConfig)
    tree: TreeConfig = field(default_factory=TreeConfig)
    lint: LintConfig = field(default_factory=LintConfig)
    index: IndexConfig = field(default_factory=IndexConfig)
    embed: EmbedConfig = field(default_factory=EmbedConfig)
    llm: LlmConfig = field(default_factory=LlmConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    code: CodeConfig = field(default_factory=CodeConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    behaviour: BehaviourConfig = field(default_factory=BehaviourConfig)
    hooks: HooksConfig = field(default_factory=HooksConfig)
    daemon: DaemonConfig = field(default_factory=DaemonConfig)
    http: HttpConfig = field(default_factory=HttpConfig)
    redact: RedactConfig = field(default_factory=RedactConfig)
    log: LogConfig = field(default_factory=LogConfig)
