"""Which language model there is: a setting, else what the environment has a key for; `offline` wins over both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flywheel.config import Config
from flywheel.llm import Llm, Provider
from flywheel.llm.pricing import Price, is_own, load_prices
from flywheel.llm.rules import NoLlm
from flywheel.model import Micros
from flywheel.store import Db
from flywheel.text.redact import Redactor

if TYPE_CHECKING:
    from flywheel.llm.seam import Seam

ANTHROPIC_KEY: Final = "ANTHROPIC_API_KEY"
OPENAI_KEY: Final = "OPENAI_API_KEY"
OPENAI_URL: Final = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The provider and why; ``rules`` where there is no model."""

    provider: str
    model: str
    reason: str
    url: str = ""
    key: str = ""


def choose(config: Config, env: Mapping[str, str]) -> Choice:
    """What the settings and the environment come to. Nothing is imported, opened or asked for."""
    given, llm = config.llm.provider, config.llm
    if config.offline:
        return _rules("offline = true: nothing leaves this machine")
    if given == "rules":
        return _rules('llm.provider = "rules"')
    key = env.get(llm.key_env or (OPENAI_KEY if given == "openai" else ANTHROPIC_KEY), "").strip()
    model = llm.model or load_prices().defaults.get("anthropic" if given == "auto" else given, "")
    if given in ("auto", "anthropic"):
        why = f"{llm.key_env or ANTHROPIC_KEY} is set" if given == "auto" else 'llm.provider = "anthropic"'
        url = llm.url or env.get("ANTHROPIC_BASE_URL", "")
        if not key:
            return _rules(f"{llm.key_env or ANTHROPIC_KEY} is not set")
        return Choice(provider="anthropic", model=model, reason=why, url=url, key=key)
    if given == "agent":
        return Choice(provider="agent", model=model, reason='llm.provider = "agent"')
    url = llm.url or (OPENAI_URL if key else "")
    if not url or not model:
        return _rules('llm.provider = "openai" needs llm.url (or a key) and llm.model')
    return Choice(provider="openai", model=model, reason='llm.provider = "openai"', url=url, key=key)


def editor_of(config: Config, choice: Choice) -> Choice:
    """What edits: the same provider's stronger model where a setting or the table names one, else the same model."""
    named = config.llm.editor or ("" if config.llm.model else load_prices().editors.get(choice.provider, ""))
    return replace(choice, model=named or choice.model)


def open_llm(
    config: Config, env: Mapping[str, str], *, db: Db, data: Path, redact: Redactor, now: Callable[[], Micros]
) -> Llm:
    """The model within its budget. Raises ConfigError for an address that is none."""
    choice = choose(config, env)
    if choice.provider == "rules":
        return NoLlm(choice.reason)
    return _seam(config, env, choice, editor_of(config, choice), db=db, data=data, redact=redact, now=now)


def _seam(
    config: Config,
    env: Mapping[str, str],
    choice: Choice,
    editor: Choice,
    *,
    db: Db,
    data: Path,
    redact: Redactor,
    now: Callable[[], Micros],
) -> Seam:
    from flywheel.llm import agent_cli
    from flywheel.llm.seam import FRAME, Seam

    def stronger() -> Seam:
        return _seam(config, env, editor, editor, db=db, data=data, redact=redact, now=now)

    price = price_of(config, choice)
    agent = choice.provider == "agent"
    return Seam(
        _open(config, env, choice, price, data),
        model=choice.model,
        reason=choice.reason,
        price=price,
        config=config.llm,
        db=db,
        redact=redact,
        now=now,
        overhead=agent_cli.OVERHEAD if agent else FRAME,
        most=config.llm.agent_day if agent else None,
        stronger=stronger if editor != choice else None,
    )


def price_of(config: Config, choice: Choice) -> Price:
    """What the chosen model costs."""
    return load_prices().of(choice.model, config.llm, own=bool(choice.url) and is_own(choice.url))


def _open(config: Config, env: Mapping[str, str], choice: Choice, price: Price, data: Path) -> Provider:
    if choice.provider == "anthropic":
        from flywheel.llm.anthropic import AnthropicProvider

        return AnthropicProvider(key=choice.key, url=choice.url, price=price)
    if choice.provider == "openai":
        from flywheel.llm.openai import OpenAiProvider

        return OpenAiProvider(url=choice.url, key=choice.key)
    from flywheel.llm.agent_cli import AgentProvider

    llm = config.llm
    return AgentProvider(program=llm.agent_command, folder=data, env=env, at_once=llm.agent_at_once)


def _rules(reason: str) -> Choice:
    return Choice(provider="rules", model="", reason=reason)
