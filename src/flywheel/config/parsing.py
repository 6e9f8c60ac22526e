"""From a parsed TOML table to one frozen `Config`, with every error at once; and the defaults as such a file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from types import MappingProxyType
from typing import Any, cast

from flywheel.config.settings import Config
from flywheel.errors import ConfigError

Table = Mapping[str, object]

MODEL_KINDS = ("sentence-transformers", "openai", "voyage")
"""What stands before the colon of an embedding model's name."""


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
