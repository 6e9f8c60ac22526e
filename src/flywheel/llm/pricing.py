"""What a model costs and how it is asked, from `config/llm.toml`; whole micro-dollars, rounded up."""

from __future__ import annotations

import functools
import ipaddress
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast
from urllib.parse import urlsplit

from flywheel.config import LlmConfig
from flywheel.llm import Usage
from flywheel.resources import resource_dir

DEARER: Final = 1.3
"""Tokens for each that the counter estimates, of a model about which nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Of one model, in dollars per million tokens, and how it is asked."""

    model: str
    input: float
    output: float
    cache_write: float
    cache_read: float
    batch: float = 1.0  # the part of the price that a batch costs
    long_above: int = 0  # tokens of a prompt past which it costs ``long_times`` as much; 0 is never
    long_times: float = 1.0
    counts: float = DEARER
    tool: str = "forced"
    thinking: str = ""
    known: bool = True  # whether the table names the model

    def cost(self, usage: Usage, *, batch: bool = False) -> int:
        """Micro-dollars of a call."""
        prompt = usage.input + usage.cache_read + usage.cache_write
        times = self.long_times if self.long_above and prompt > self.long_above else 1.0
        plain = usage.input * self.input + usage.output * self.output
        cached = usage.cache_read * self.cache_read + usage.cache_write * self.cache_write
        return math.ceil(round((plain + cached) * times * (self.batch if batch else 1.0), 6))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The table."""

    date: str
    defaults: Mapping[str, str]
    editors: Mapping[str, str]  # the stronger model of a provider
    models: Mapping[str, Price]
    embedders: Mapping[str, float]  # dollars per million tokens

    def of_vectors(self, model: str, *, own: bool, given: float) -> Price:
        """The price of an embedding model or a reranker: ``given`` unless that is negative, else the table's, else
        nothing on a server of one's own; of somebody else's unknown one the dearest."""
        usd = given if given >= 0 else self.embedders.get(model, 0.0 if own else max(self.embedders.values()))
        return replace(_free(model), input=usd, known=own or given >= 0 or model in self.embedders)

    def of(self, model: str, config: LlmConfig, *, own: bool) -> Price:
        """The price of a model: what the settings say, else the table, else nothing on a server of one's own.

        Of an unknown model of somebody else's server the dearest price of the table is taken.
        """
        found = self.models.get(model) or (_free(model) if own else self._dearest(model))
        if config.input_usd >= 0:
            one = config.input_usd
            found = replace(found, input=one, cache_write=one * 1.25, cache_read=one, long_above=0, known=True)
        if config.output_usd >= 0:
            found = replace(found, output=config.output_usd, known=True)
        return found

    def _dearest(self, model: str) -> Price:
        worst = max(self.models.values(), key=lambda price: (price.output, price.input))
        return replace(worst, model=model, counts=DEARER, tool="forced", thinking="", batch=1.0, known=False)


@functools.cache
def load_prices() -> Prices:
    """The table that ships with the program."""
    table = tomllib.loads((resource_dir("config") / "llm.toml").read_text("utf-8"))
    models = {name: Price(model=name, **cast("dict[str, Any]", row)) for name, row in table["models"].items()}
    defaults, editors = dict(table["defaults"]), dict(table["editors"])
    embedders = {str(name): float(usd) for name, usd in table["embedders"].items()}
    return Prices(date=str(table["date"]), defaults=defaults, editors=editors, models=models, embedders=embedders)


def is_own(url: str) -> bool:
    """Whether an address is of this machine or of a private network: what runs there is nobody else's to bill."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return False
    return found.is_loopback or found.is_private


def _free(model: str) -> Price:
    return Price(model=model, input=0, output=0, cache_write=0, cache_read=0)
