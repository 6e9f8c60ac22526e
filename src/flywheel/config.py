"""Settings: from a parsed TOML table to one frozen `Config`, with every error at once. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from flywheel.errors import ConfigError

Table = Mapping[str, object]

MODEL_KINDS = ("sentence-transformers", "openai", "voyage")
"""What stands before the colon of an embedding model's name."""


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
    retro: bool = _setting(False, "A few sentences by the model after each look back, cited.")
    seconds: float = _setting(120.0, "How long one call may take.", low=0.05, high=3600)
    day_usd: float = _setting(1.0, "Dollars that a day (UTC) may cost; -1 is no cap.", low=-1, high=100000)
    month_usd: float = _setting(10.0, "Dollars that a month (UTC) may cost; -1 is no cap.", low=-1, high=1000000)
    day_tokens: int = _setting(10000000, "Tokens of a day (UTC); -1 is no cap.", low=-1, high=10**12)
    month_tokens: int = _setting(100000000, "Tokens of a month (UTC); -1 is no cap.", low=-1, high=10**13)
    purpose_shares: Mapping[str, float] = _setting(
        {"extract": 0.8, "retro": 0.4, "ask": 0.5, "rerank": 0.3, "lint": 0.2, "test": 0.1},
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where this user's files are."""

    config: Path
    data: Path
    run: Path

    def socket(self, config: Config) -> Path:
        """The daemon's socket."""
        return Path(config.daemon.socket) if config.daemon.socket else self.run / "flywheel.sock"


def locate(env: Mapping[str, str], home: Path) -> Places:
    """Where the configuration, the data and the socket are.

    ``FLYWHEEL_HOME`` puts all of them into one folder; otherwise the XDG base directories are followed, the socket
    lying in the data folder where ``XDG_RUNTIME_DIR`` is not set.
    """
    if one := env.get("FLYWHEEL_HOME"):
        base = Path(one).absolute()
        return Places(config=base / "flywheel.toml", data=base / "data", run=base / "run")
    data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "flywheel"
    runtime = env.get("XDG_RUNTIME_DIR")
    return Places(
        config=Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "flywheel" / "flywheel.toml",
        data=data,
        run=Path(runtime) / "flywheel" if runtime else data / "run",
    )


def parse_config(table: Table, *, file: str = "flywheel.toml", text: str = "") -> Config:
    """The `Config` of a parsed TOML table.

    ``text`` is the file's source, for line numbers. Raises ConfigError that lists every mistake, each with file,
    line and remedy.
    """
    problems: list[str] = []
    known = {f.name: f for f in fields(Config)}
    sections: dict[str, object] = {}
    for name, value in table.items():
        at = _line(text, name, None)
        if name not in known:
            problems.append(f"{file}:{at}: unknown section [{name}]; {_nearest(name, known)}")
        elif "doc" in known[name].metadata:
            found = _check(known[name], value)
            if isinstance(found, _Wrong):
                problems.append(f"{file}:{at}: {name} {found.what}")
            else:
                sections[name] = found
        elif not isinstance(value, Mapping):
            problems.append(f"{file}:{at}: {name} is a section; write [{name}] and its settings below it")
        else:
            sections[name] = _section(name, cast("type[Any]", _section_type(known[name])), value, file, text, problems)
    config = Config(**cast("dict[str, Any]", sections))
    problems += [f"{file}:{_line(text, key, section)}: {what}" for section, key, what in _impossible(config)]
    if problems:
        raise ConfigError("\n".join(problems), problems=problems)
    return config


def _impossible(config: Config) -> Iterator[tuple[str, str, str]]:
    """(section, key, what is wrong) of what no single setting's bounds can say."""
    socket, model = config.daemon.socket, config.embed.model
    if socket and not socket.startswith("/"):
        yield "daemon", "socket", f"daemon.socket must be an absolute path; it is {socket!r}"
    if wrong := not_a_model(model):
        yield "embed", "model", f"embed.model {wrong}"
    total = sum(config.context.shares.values())
    if total > 1 + 1e-9:
        yield "context", "shares", f"context.shares add up to {total:.2f}; make them at most 1"


def not_a_model(model: str) -> str:
    """What is wrong with the name of an embedding model; "" when nothing is."""
    kind, colon, name = model.partition(":")
    if model in ("static", "minilm", "none") or (kind in MODEL_KINDS and colon and name.strip()):
        return ""
    named = ", ".join(f'"{one}:NAME"' for one in MODEL_KINDS)
    return f'must be "static", "minilm", "none" or one of {named}; it is {model!r}'


def _section_type(of: Field[Any]) -> object:
    return of.default_factory


def _section(name: str, kind: type[Any], table: Table, file: str, text: str, problems: list[str]) -> object:
    """One section's dataclass; mistakes are appended to ``problems``."""
    known = {f.name: f for f in fields(kind)}
    good: dict[str, object] = {}
    for key, value in table.items():
        at = f"{file}:{_line(text, key, name)}: {name}.{key}"
        if key not in known:
            problems.append(f"{at} is no setting; {_nearest(key, known)}")
            continue
        found = _check(known[key], value)
        if isinstance(found, _Wrong):
            problems.append(f"{at} {found.what}")
        else:
            good[key] = found
    return kind(**good)


@dataclass(frozen=True, slots=True)
class _Wrong:
    what: str


def _check(setting: Field[Any], value: object) -> object:
    """The value as the setting wants it, or what is wrong with it and what to write."""
    default = default_of(setting)
    if isinstance(default, Mapping):
        return _check_table(setting, default, value)
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            return _Wrong(f'must be a list of texts, such as ["a", "b"]; it is {value!r}')
        return tuple(value)
    if isinstance(default, bool) or isinstance(value, bool):
        return value if isinstance(default, bool) and isinstance(value, bool) else _Wrong(_want(default, value))
    if isinstance(default, float) and isinstance(value, int):
        value = float(value)
    if type(value) is not type(default):
        return _Wrong(_want(default, value))
    return _bounded(setting, value)


def _check_table(setting: Field[Any], default: Mapping[str, float], value: object) -> object:
    if not isinstance(value, Mapping):
        return _Wrong(f"must be a table of numbers; it is {value!r}")
    merged = dict(default)
    for key, number in value.items():
        if key not in default and not setting.metadata["free"]:
            return _Wrong(f"has no {key!r}; {_nearest(key, default)}")
        if isinstance(number, bool) or not isinstance(number, int | float):
            return _Wrong(f"needs a number for {key!r}; it is {number!r}")
        checked = _bounded(setting, float(number))
        if isinstance(checked, _Wrong):
            return _Wrong(f"{key!r}: {checked.what}")
        merged[key] = float(number)
    return MappingProxyType(merged)


def _bounded(setting: Field[Any], value: object) -> object:
    low, high, among = (setting.metadata[k] for k in ("low", "high", "among"))
    if among and value not in among:
        return _Wrong(f"must be one of {', '.join(among)}; it is {value!r}")
    if isinstance(value, int | float) and low is not None and not low <= value <= high:
        return _Wrong(f"must be between {low:g} and {high:g}; it is {value:g}")
    return value


def _want(default: object, value: object) -> str:
    names = {bool: "true or false", int: "a whole number", float: "a number", str: 'a text in "quotes"'}
    return f"must be {names[type(default)]}; it is {value!r}"


def _nearest(name: str, known: Mapping[str, object]) -> str:
    """A remedy: the known name that looks most like it, or all of them."""
    import difflib

    close = difflib.get_close_matches(name, known, 1, 0.6)
    return f"did you mean {close[0]!r}?" if close else f"known are: {', '.join(known)}"


def _line(text: str, key: str, section: str | None) -> int:
    """The 1-based line of a key (within its section) or of a section's header; 1 when it is not found."""
    name = rf"[\"']?{re.escape(key)}[\"']?\s*[.=]"
    dotted = rf"{re.escape(section or '')}\.{re.escape(key)}\s*[.=]"
    inside = section is None
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if header := re.match(r"\[\s*([\w.\"'-]+)\s*\]", bare):
            path = header[1].replace('"', "").replace("'", "")
            if path == f"{section}.{key}" if section else path.split(".")[0] == key:
                return number
            inside = section is not None and path == section
        elif inside and re.match(name, bare):
            return number
        elif section and re.match(dotted, bare):
            return number
    return 1


def default_of(setting: Field[Any]) -> object:
    """A field's default value."""
    return setting.default_factory() if setting.default_factory is not MISSING else setting.default


def render_defaults() -> str:
    """The text of `config/flywheel.toml`: every setting with its default and its comment."""
    lines = ["# Flywheel's settings with their defaults. Copy what you change; leave the rest out.", ""]
    for alone in (one for one in fields(Config) if "doc" in one.metadata):
        lines += [f"# {alone.metadata['doc']}", f"{alone.name} = {_toml(default_of(alone))}", ""]
    for section in (one for one in fields(Config) if "doc" not in one.metadata):
        kind = cast("type[Any]", _section_type(section))
        lines += [f"# {kind.__doc__}", f"[{section.name}]"]
        for setting in fields(kind):
            lines += [f"# {setting.metadata['doc']}", f"{setting.name} = {_toml(default_of(setting))}"]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _toml(value: object) -> str:
    """A default as TOML source."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping) and not value:
        return "{}"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
