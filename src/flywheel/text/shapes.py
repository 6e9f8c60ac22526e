"""Secrets that are known by their own shape: the tokens and keys of providers.

The table grew from what providers document about their tokens; where a provider gives no length, the body must be
long enough to be no ordinary word. Every shape has a run of at least `RUN` characters of ``[A-Za-z0-9_-]``: one pass
finds those runs, and only there are the few shapes tried that begin with the same two characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

Span = tuple[int, int, str]
"""Start and stop in the text, and what is there."""

RUN: Final = 20
_NEEDLE: Final = b"a" * RUN
_RUNS: Final = bytes(97 if chr(code) in "_-" or (code < 128 and chr(code).isalnum()) else 32 for code in range(256))

_B: Final = r"(?![A-Za-z0-9])"  # the body ends here
_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

_SHAPES: Final = (
    (
        "aws-access-key",
        "AK AS AB AC",
        rf"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_B}|"
        rf"ABSK[A-Za-z0-9+/]{{100,280}}={{0,2}}",
    ),
    ("google-api-key", "AI", rf"AIza[\w-]{{35}}{_B}"),
    ("google-oauth-secret", "GO", r"GOCSPX-[\w-]{24,40}"),
    ("github-token", "gh gi", r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{30,255}"),
    (
        "gitlab-token",
        "gl GR",
        r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|agent|oas|imt|ffct|"
        r"wt)-[\w-]{20,300}(?:\.[\w-]{2,64}){0,2}|GR1348941[\w-]{20,60}",
    ),
    ("slack-token", "xo xa", r"xox[a-z]-[\w-]{12,512}|xapp-\d-[\w-]{20,512}"),
    (
        "stripe-key",
        "sk rk wh",
        r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,255}|whsec_(?:[A-Za-z0-9]|[+/](?=[A-Za-z0-9+/]{6})){24,255}={0,2}",
    ),
    ("anthropic-key", "sk", r"sk-ant-[\w-]{20,255}"),
    (
        "openai-key",
        "sk",
        r"sk-(?:proj|svcacct|admin|None|service)-[\w-]{20,512}|"
        r"sk-[A-Za-z0-9]{16,32}T3BlbkFJ[A-Za-z0-9]{16,32}",
    ),
    ("openrouter-key", "sk", r"sk-or-[\w-]{20,255}"),
    ("huggingface-token", "hf ap", rf"(?:hf_|api_org_)[A-Za-z0-9]{{30,64}}{_B}"),
    ("npm-token", "np", rf"npm_[A-Za-z0-9]{{36,64}}{_B}"),
    ("pypi-token", "py", r"pypi-[\w-]{40,1024}"),
    ("rubygems-token", "ru", r"rubygems_[0-9a-f]{48}"),
    ("crates-token", "ci", rf"cio[A-Za-z0-9]{{32}}{_B}"),
    ("nuget-key", "oy", rf"oy2[a-z0-9]{{43}}{_B}"),
    ("docker-token", "dc", r"dckr_(?:pat|oat)_[\w-]{20,255}"),
    ("mailgun-key", "ke", rf"key-[0-9a-f]{{32}}{_B}"),
    ("brevo-key", "xk", r"xkeysib-[0-9a-f]{64}-\w{16}"),
    ("resend-key", "re", r"re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,40}"),
    ("twilio-key", "SK", rf"SK[0-9a-f]{{32}}{_B}"),
    ("square-token", "sq", r"sq0[a-z]{3}-[\w-]{22,43}"),
    ("facebook-token", "EA", r"EAA[A-Za-z0-9]{90,400}"),
    ("shopify-token", "sh", r"shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32,64}"),
    ("digitalocean-token", "do", r"do[opr]_v1_[0-9a-f]{64}"),
    ("heroku-key", "HR", r"HRKU-[\w-]{36,64}"),
    ("netlify-token", "nf", r"nfp_[A-Za-z0-9]{36,64}"),
    ("fly-token", "fo fm", r"fo1_[\w-]{40,64}|fm[12][ar]?_[A-Za-z0-9+/]{80,1024}={0,2}"),
    ("planetscale-token", "ps", r"pscale_(?:tkn|pw|oauth|app)_[\w=-]{32,64}"),
    ("supabase-key", "sb", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,64}"),
    ("neon-key", "na", r"napi_[a-z0-9]{60,80}"),
    ("render-key", "rn", r"rnd_[A-Za-z0-9]{24,64}"),
    ("databricks-token", "da", rf"dapi[0-9a-f]{{32}}(?:-\d)?{_B}"),
    ("grafana-token", "gl", r"gl(?:sa|c)_[A-Za-z0-9+/]{32,400}(?:_[0-9a-f]{8})?={0,2}"),
    ("newrelic-key", "NR", rf"NR(?:AK|RA|II)-[A-Za-z0-9_-]{{27,32}}{_B}"),
    ("sentry-token", "sn", r"sntry[su]_[\w+/=-]{40,512}"),
    ("posthog-key", "ph", r"phx_[A-Za-z0-9]{40,64}"),
    ("pulumi-token", "pu", r"pul-[0-9a-f]{40}"),
    ("linear-key", "li", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,80}"),
    ("notion-token", "nt se", rf"ntn_[A-Za-z0-9]{{40,64}}|secret_[A-Za-z0-9]{{43}}{_B}"),
    ("figma-token", "fi", r"fig[a-z]_[\w-]{36,64}"),
    ("postman-key", "PM", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("atlassian-token", "AT", r"AT(?:ATT|CTT|STT)3[\w-]{60,400}(?:=[0-9A-F]{8})?|ATBB[A-Za-z0-9]{32}"),
    ("hubspot-token", "pa", rf"pat-[a-z]{{2}}\d-{_UUID}"),
    ("contentful-token", "CF", r"CFPAT-[\w-]{40,48}"),
    ("circleci-token", "CC", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    ("buildkite-token", "bk", r"bk[a-z]{2,3}_[0-9a-f]{40}"),
    ("sonar-token", "sq", r"sq[upa]_[0-9a-f]{40}"),
    ("artifactory-token", "AK cm", r"AKCp[A-Za-z0-9]{60,100}|cmVmdGtu[A-Za-z0-9]{50,80}"),
    ("tailscale-key", "ts", r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,64}"),
    ("groq-key", "gs", r"gsk_[A-Za-z0-9]{40,64}"),
    ("xai-key", "xa", r"xai-[A-Za-z0-9]{60,100}"),
    ("perplexity-key", "pp", r"pplx-[A-Za-z0-9]{40,64}"),
    ("replicate-token", "r8", rf"r8_[A-Za-z0-9]{{37}}{_B}"),
    ("nvidia-key", "nv", r"nvapi-[\w-]{50,100}"),
    ("tavily-key", "tv", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,64}"),
    ("langsmith-key", "ls", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("pinecone-key", "pc", r"pcsk_\w{50,100}"),
    ("firecrawl-key", "fc", rf"fc-[0-9a-f]{{32}}{_B}"),
    ("elevenlabs-key", "sk", rf"sk_[0-9a-f]{{48}}{_B}"),
    ("voyage-key", "pa", rf"pa-[\w-]{{43}}{_B}"),
    ("jina-key", "ji", r"jina_[0-9a-f]{32}[\w-]{10,64}"),
    ("e2b-key", "e2", rf"e2b_[0-9a-f]{{40}}{_B}"),
    ("wandb-key", "wa", r"wandb_v1_[\w-]{40,120}"),
    ("kaggle-token", "KG", rf"KGAT_[0-9a-f]{{32}}{_B}"),
    ("age-key", "AG", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    (
        "onepassword-token",
        "op A3",
        r"ops_eyJ[\w-]{60,2048}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|"
        r"[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    ("alibaba-key", "LT", rf"LTAI[A-Za-z0-9]{{16,26}}{_B}"),
    ("tencent-key", "AK", rf"AKID[A-Za-z0-9]{{32}}{_B}"),
    ("yandex-token", "y0 y1 y2 y3 AQ", r"y[0-3]_[\w-]{50,80}|AQVN[\w-]{35,40}"),
    ("prefect-key", "pn", r"pn[ub]_[A-Za-z0-9]{36}"),
    ("typeform-token", "tf", r"tfp_[\w-]{40,80}"),
    ("easypost-key", "EZ", r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("shippo-token", "sh", r"shippo_(?:live|test)_[0-9a-f]{40}"),
    ("plaid-token", "ac", rf"access-(?:sandbox|development|production)-{_UUID}"),
    ("flutterwave-key", "FL", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z-]{12,64}"),
    ("infracost-key", "ic", rf"ico-[A-Za-z0-9]{{32}}{_B}"),
    ("api-key", "sk", r"sk-[\w-]{20,255}"),
)
"""Kind, the two characters it may begin with, and its pattern: after a character that is no letter or digit."""

_AFTER: Final = (
    ("sendgrid-key", ".", r"(?<=SG\.)[\w-]{20,32}\.[\w-]{20,64}"),
    ("google-token", ".", r"(?<=ya29\.)[\w-]{20,2048}(?:\.[\w-]{1,512})?"),
    ("google-token", "/", r"(?<=1//)0[\w-]{35,512}"),
    ("vault-token", ".", r"(?<=hv[sbr]\.)[\w-]{24,512}|(?<=\.atlasv1\.)[\w-]{60,100}"),
    ("doppler-token", ".", r"(?<=dp\.[a-z]{2}\.)(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("telegram-token", ":", rf"(?<=\d{{8}}:)[\w-]{{35}}{_B}"),
    ("airtable-token", ".", r"(?<=pat[A-Za-z0-9]{14}\.)[0-9a-f]{64}"),
    ("dropbox-token", ".", r"(?<=sl\.)[\w-]{60,2048}|(?<=sl\.u\.)[\w-]{60,2048}"),
    ("dynatrace-token", ".", r"(?<=dt0c01\.)[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("firebase-key", ":", r"(?<=:)APA91b[\w-]{80,256}"),
    ("openshift-token", "~", rf"(?<=sha256~)[\w-]{{43}}{_B}"),
)
"""Kind, the character before the run, and the pattern; what a look-behind holds is no secret and stays."""

_WHOLE: Final = (
    ("jwt", ("ey",), r"eyJ[\w-]{17,8192}\.[\w-]{10,16384}(?:\.[\w-]{0,4096}){0,3}"),
    ("discord-token", tuple("MNO"), r"[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,45}"),
    ("mailchimp-key", tuple("0123456789abcdef"), rf"[0-9a-f]{{32}}-us\d{{1,2}}{_B}"),
)
"""Kind, how it may begin, and its pattern: the run itself begins it, and no other shape does."""


def _by_head(rows: Iterable[tuple[str, Iterable[str], str]]) -> dict[str, re.Pattern[str]]:
    """One alternation per beginning, its groups named by kind."""
    table: dict[str, list[str]] = {}
    for kind, heads, pattern in rows:
        for head in heads:
            table.setdefault(head, []).append(f"(?P<{kind.replace('-', '_')}>{pattern})")
    return {head: re.compile("|".join(patterns), re.ASCII) for head, patterns in table.items()}


_BY_PAIR: Final = _by_head((kind, heads.split(), pattern) for kind, heads, pattern in _SHAPES)
_BY_FIRST: Final = _by_head(_WHOLE)
_BY_BEFORE: Final = _by_head(_AFTER)
_LETTERS_ONLY: Final = frozenset(("AK", "AS", "AB", "AC", "hf"))
"""How a token may begin that has no digit; every other run without one is a name."""

_ESCAPED: Final = re.compile(r"[nrtfb]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}")
_AZURE: Final = re.compile(r"[\w~.-]{3}\dQ~[\w.~-]{31,34}", re.ASCII)
_JOINT: Final = re.compile(r"[_-][A-Za-z][A-Za-z0-9]", re.ASCII)
_FILLER: Final = re.compile(r"(?:[A-Za-z0-9]{1,12}[-_]){0,4}[A-Za-z0-9]{0,4}?(?:[xX]{8,}|\*{8,}|0{8,})", re.ASCII)


def shapes(text: str, low: bytes) -> Iterator[Span]:
    """The spans of provider tokens; ``low`` is the text as one lower-case ASCII byte per character."""
    runs = low.translate(_RUNS)
    at = runs.find(_NEEDLE)
    while at >= 0:
        stop = runs.find(b" ", at + RUN)
        stop = len(runs) if stop < 0 else stop
        if text[at - 1 : at] == "\\":
            at = _after_escape(text, at)
        run = text[at:stop]
        named = run.replace("_", "").replace("-", "").isalpha()
        if not named or run[:2] in _LETTERS_ONLY:
            found = _first(text, at) or (None if named else _later(text, at, stop))
            if found is not None and _holds(found):
                yield found.start(), found.end(), str(found.lastgroup).replace("_", "-")
                stop = max(stop, found.end())
        at = runs.find(_NEEDLE, stop)
    if b"~" in low:
        yield from _azure(text, low)


def holds_token(name: str) -> bool:
    """Whether a name or path has the token of a provider in it."""
    return len(name) >= RUN and any(True for _ in shapes(name, name.encode("ascii", "replace").lower()))


def _azure(text: str, low: bytes) -> Iterator[Span]:
    """Client secrets of Entra applications: ``Q~`` after three characters and a digit, in a body that has dots."""
    at = low.find(b"q~")
    while at >= 0:
        found = _AZURE.match(text, max(0, at - 4))
        if found is not None:
            yield *found.span(), "azure-client-secret"
        at = low.find(b"q~", at + 2)


def _after_escape(text: str, at: int) -> int:
    """Where a run really begins that follows a back-slash: the ``n`` of an escaped line end is not part of it."""
    found = _ESCAPED.match(text, at)
    return found.end() if found else at


def _first(text: str, at: int) -> re.Match[str] | None:
    """The shape that a run begins with."""
    pair = text[at : at + 2]
    for table, head in ((_BY_PAIR, pair), (_BY_FIRST, pair[:1]), (_BY_FIRST, pair), (_BY_BEFORE, text[at - 1 : at])):
        pattern = table.get(head)
        found = pattern.match(text, at) if pattern is not None else None
        if found is not None:
            return found
    return None


def _later(text: str, at: int, stop: int) -> re.Match[str] | None:
    """A shape within a run, as in ``backup-ghp_...``."""
    for joint in _JOINT.finditer(text, at, stop):
        pattern = _BY_PAIR.get(joint.group()[1:])
        found = pattern.match(text, joint.start() + 1) if pattern is not None else None
        if found is not None:
            return found
    return None


def _holds(found: re.Match[str]) -> bool:
    """Whether a match is a secret and neither a filled-in example nor a long name."""
    value = found.group()
    if _FILLER.fullmatch(value):
        return False
    if found.lastgroup in ("api_key", "voyage_key"):
        body = value[3:]
        return any(c.isdigit() for c in body) and any(
            len(part) >= 12 and not part.isalpha() for part in body.split("-")
        )
    return found.lastgroup != "telegram_token" or (any(c.isdigit() for c in value) and value.lower() != value)
