"""Scopes: the part of the world that a statement is limited to, as ``kind:value``, and where it says so. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_PLANS: Final = (
    "free|basic|pro|team|teams|business|enterprise|premium|standard|starter|plus|trial|paid|professional|hobby|growth"
    "|scale|essentials?|community|ultimate|personal|advanced"
)
_WHO: Final = (
    r"(?:users?|customers?|accounts?|tenants?|workspaces?|organi[sz]ations?|orgs?|clients?|subscribers?|members?|teams?"
    r"|projects?)"
)
_REGIONS: Final = (
    "eu|us|uk|usa|emea|apac|latam|amer|anz|dach|european|american|british|german|french|asian|swiss|canadian|indian"
)
_ENVIRONMENTS: Final = (
    "production|prod|live|staging|stage|development|dev|testing|tests?|qa|preview|ci|sandbox|local|canary|demo"
)
_SYSTEMS: Final = (
    "windows|linux|macos|mac|osx|mac os|os x|ubuntu|debian|fedora|alpine|freebsd|ios|android|wsl2?|arm64|x86"
)
_BROWSERS: Final = "safari|chrome|firefox|edge|chromium"
_ROLES: Final = (
    "admin|administrator|guest|editor|viewer|owner|moderator|manager|maintainer|contributor|reviewer|visitor"
)
_SAME: Final = {
    "production": "prod", "live": "prod", "stage": "staging", "development": "dev", "testing": "test", "tests": "test",
    "usa": "us", "american": "us", "european": "eu", "british": "uk", "german": "de", "french": "fr", "swiss": "ch",
    "canadian": "ca", "indian": "in", "mac": "macos", "osx": "macos", "mac os": "macos", "os x": "macos",
    "administrator": "admin", "teams": "team", "essential": "essentials", "professional": "pro", "wsl2": "wsl",
}  # fmt: skip
_PREP: Final = r"(?:on|in|for|under|with|within|at|across)"
_THE: Final = r"(?:\s+(?:the|our|a|an|its|their|any))?"
_NAME: Final = r"[A-Za-z0-9][\w.-]{0,30}"

_PATTERNS: Final = tuple(
    (kind, re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE))
    for kind, pattern in (
        ("", rf"{_PREP}\s+(?:all|every|each|both|any)\s+(?:the\s+|of\s+the\s+)?(?:[\w-]+\s+)?"
             rf"(?:plans?|tiers?|{_WHO}|environments?|regions?|platforms?|systems?|editions?|subscriptions?)"),
        ("", r"(?:for\s+(?:everyone|everybody|all)|everywhere|regardless\s+of\s+(?:the\s+)?(?:plan|tier|region))"),
        ("plan", rf"{_PREP}{_THE}\s+(?P<value>{_NAME})[\s-]+(?:plan|tier|subscription|edition)s?(?:\s+{_WHO})?"),
        ("plan", rf"(?:for|with)\s+{_WHO}\s+(?:on|with)\s+(?:the\s+|an?\s+)?(?P<value>{_NAME})(?:\s+(?:plan|tier))?"),
        ("plan", rf"(?:{_PREP}|of){_THE}\s+(?P<value>{_PLANS})\s+{_WHO}"),
        ("plan", rf"on\s+(?P<value>{_PLANS})(?=\s*(?:[,;.)]|$|(?:and|but|or|it|they|while)\s))"),
        ("plan", rf"\(\s*(?:on\s+|for\s+|in\s+)?(?P<value>{_PLANS})(?:\s+(?:plan|tier|{_WHO}|only))*\s*\)"),
        ("env", rf"\(\s*(?:on\s+|for\s+|in\s+)?(?P<value>{_ENVIRONMENTS})(?:\s+only)?\s*\)"),
        ("region", rf"\(\s*(?:for\s+|in\s+)?(?:the\s+)?(?P<value>{_REGIONS})(?:\s+(?:region|{_WHO}|only))*\s*\)"),
        ("plan", r"(?<!\S)(?<![a-z] )(?P<value>enterprise|premium|pro|trial|hobby|starter)"
                 r"(?=\s+(?:customers?'?\s+)?[a-z]+s\s)"),
        ("region", rf"{_PREP}{_THE}\s+(?P<value>{_REGIONS})[\s-]+(?:{_WHO}|regions?|data|cluster|based\s+{_WHO})"),
        ("region", rf"for\s+{_WHO}\s+in\s+(?:the\s+)?(?P<value>{_REGIONS})"),
        ("region", rf"in\s+(?:the\s+)?(?P<value>{_REGIONS})(?=\s*(?:,|$|\.))"),
        ("region", r"in\s+(?:the\s+)?(?P<value>(?:us|eu|ap|sa|ca|me|af|il)-(?:[a-z]+-)?[a-z]+-?\d)(?:\s+region)?"),
        ("env", rf"(?:in|on){_THE}\s+(?P<value>{_ENVIRONMENTS})(?:[\s-]+(?:environments?|env|systems?|servers?"
                r"|clusters?|runs?|builds?|mode))"),
        ("env", rf"(?:in|on)\s+(?P<value>{_ENVIRONMENTS})(?!\s+\w+\s+(?:is|are)\b)"),
        ("env", r"(?P<value>local)ly"),
        ("os", rf"(?:on|under|in|for)\s+(?P<value>{_SYSTEMS})(?:\s+(?:machines?|hosts?|systems?|users?|builds?))?"),
        ("browser", rf"(?:in|on|under|for)\s+(?P<value>{_BROWSERS})(?:\s+users?)?"),
        ("role", rf"for{_THE}\s+(?P<value>{_ROLES})s?(?:\s+{_WHO})?"),
        ("tenant", rf"for\s+(?:the\s+)?(?:tenant|customer|client|organi[sz]ation)\s+(?P<value>[\"'`]?{_NAME}[\"'`]?)"),
        ("user", r"for\s+(?:the\s+)?user\s+(?P<value>[\"'`]?[\w.@-]+[\"'`]?)"),
        ("version", r"(?:in|for|since|from|with)\s+(?:the\s+)?(?:api\s+)?(?:version\s+|v)(?P<value>\d[\w.]*)"),
    )
)  # fmt: skip
_NEEDED: Final = re.compile(
    rf"(?<![\w-])(?:{_PLANS}|{_WHO}|{_REGIONS}|{_ENVIRONMENTS}|{_SYSTEMS}|{_BROWSERS}|(?:{_ROLES})s?|plans?|tiers?|subscriptions?"
    r"|editions?|environments?|regions?|platforms?|systems?|all|every|each|both|any|everyone|everybody|everywhere|regardless"
    r"|locally|v\d|version|(?:ap|sa|ca|me|af|il)(?=-))",
    re.IGNORECASE,
)
"""A word of which every limit has one; cheap, for passing over sentences without."""

_CLOSED: Final = {
    kind: re.compile(
        rf"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|as\s+well\s+as)\s+)(?:(?:in|on|for)\s+)?(?:the\s+)?(?P<value>{names})"
        r"(?=\s*(?:[,;.)]|$|and\s)|\s+(?:plan|environment|region|customer|user)s?(?!\w))(?:\s+(?:plan|environment|region|customer|user)s?)?",
        re.IGNORECASE,
    )
    for kind, names in (("plan", _PLANS), ("env", _ENVIRONMENTS), ("region", _REGIONS), ("browser", _BROWSERS))
}
_ALL: Final = frozenset(
    """
    all every each both any the this that same other some which project release migration test recovery rollout backup
    action floor
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words before "plan", "tier" or "edition" that name none."""
_TIDY: Final = re.compile(r"[^\w.@+-]+")


@dataclass(frozen=True, slots=True)
class Limit:
    """A phrase that limits a statement; ``scope`` is "" for one that says it holds for all."""

    scope: str
    start: int
    stop: int


def limits(text: str) -> list[Limit]:
    """The phrases of a sentence that say where or for whom it holds, in order; they do not overlap."""
    found: list[Limit] = []
    if _NEEDED.search(text) is None:
        return found
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            one = _limit(kind, match)
            if one is not None and not any(one.start < other.stop and other.start < one.stop for other in found):
                found += [one, *_further(text, kind, one)]
    return sorted(found, key=lambda one: one.start)


def _further(text: str, kind: str, first: Limit) -> Iterator[Limit]:
    """What a limit is shared with: the production of "in staging and production"."""
    names, at = _CLOSED.get(kind), first.stop
    while names is not None and (more := names.match(text, at)) is not None:
        yield Limit(f"{kind}:{normal_part(more['value'])}", at, more.end())
        at = more.end()


def _limit(kind: str, match: re.Match[str]) -> Limit | None:
    if not kind:
        return Limit("", match.start(), match.end())
    value = normal_part(match["value"])
    if not value or value in _ALL:
        return None
    return Limit(f"{kind}:{value}", match.start(), match.end())


def normal_part(value: str) -> str:
    """The value of a scope: lower case, one name for what has several."""
    value = _TIDY.sub("-", value.lower().strip("\"'`.,; ")).strip("-.")
    return _SAME.get(value.replace("-", " "), _SAME.get(value, value))


def normal_scope(text: str) -> str:
    """A scope that somebody wrote: "plan:Enterprise", "on the enterprise plan", "EU customers", "production".

    Several are sorted and joined by a comma. "" is everybody. What is of no known kind is kept as ``only:words``.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return join_scopes([one for part in parts for one in _scopes_of(part)])


def _scopes_of(part: str) -> Iterator[str]:
    kind, colon, value = part.partition(":")
    if colon and kind.strip().isalpha() and value.strip():
        yield f"{kind.strip().lower()}:{normal_part(value)}"
        return
    for phrase in (part, f"in {part}", f"on {part}", f"for {part}"):
        found = limits(phrase)
        if found and found[0].stop - found[0].start >= len(phrase.rstrip(" .")):
            yield found[0].scope
            return
    yield f"only:{normal_part(part)}"


def join_scopes(scopes: list[str]) -> str:
    """Several scopes as one; the same whatever their order."""
    return ",".join(sorted({scope for scope in scopes if scope and not scope.endswith(":")}))
