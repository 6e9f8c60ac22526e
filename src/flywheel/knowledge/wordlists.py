"""The words that make the same thing the same: units, numbers, synonyms of attributes, verbs and nouns. Data only.

General English and the trade's own words, written down once; nothing of any project or data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _lines(table: str) -> dict[str, str]:
    """``target: word, word`` lines as word → target, the target among them; a line without a target goes on."""
    found: dict[str, str] = {}
    target = ""
    for line in table.strip().splitlines():
        head, colon, words = line.partition(":")
        target = head.strip() if colon else target
        for word in (target, *(words if colon else head).split(",")):
            if word.strip():
                found[word.strip()] = target
    return found


DETERMINERS: Final = ("the", "a", "an", "our", "my", "your", "their", "its", "his", "her", "this", "these", "those")
UNTIMELY: Final = ("current", "currently", "present", "actual", "now", "new", "name of the", "name of")
APPROXIMATE: Final = (
    "exactly", "about", "around", "roughly", "approximately", "approx\\.?", "only", "just", "now", "currently", "still",
    "always", "simply", "up to", "at most", "no more than", "a maximum of", "a total of", "set to", "equal to",
)  # fmt: skip
"""Words before a value that do not change which value it is."""

NUMBERS: Final[Mapping[str, int]] = {
    **{word: number for number, word in enumerate(_words(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen"
    ))},
    **{word: 10 * number for number, word in enumerate(
        _words("twenty thirty forty fifty sixty seventy eighty ninety"), 2
    )},
    "hundred": 100, "thousand": 1000, "million": 1_000_000, "dozen": 12,
}  # fmt: skip

UNITS: Final = _lines(
    """
    ms: msec, msecs, millisecond, milliseconds, millis
    s: sec, secs, second, seconds
    min: mins, minute, minutes
    h: hr, hrs, hour, hours
    days: d, day
    weeks: w, wk, wks, week
    months: mo, mos, month
    years: y, yr, yrs, year
    bytes: byte
    kb: kilobyte, kilobytes, kib
    mb: megabyte, megabytes, mib
    gb: gigabyte, gigabytes, gib
    tb: terabyte, terabytes, tib
    %: percent, pct
    """
)

ADJECTIVES: Final = frozenset(
    _words("""
    due equal full free safe open close ready good bad known worth subject specific native similar new loyal late early
    true unique due married born short proud fond valid
    """)
)
"""Adjectives before a preposition, besides those that their ending shows (`ADJECTIVE_ENDINGS`)."""

ADJECTIVE_ENDINGS: Final = ("able", "ible", "ous", "ful", "ent", "ant", "al", "ive", "ic", "less", "ular", "ary")

EVERY: Final = ("every", "each", "all", "any", "all of", "both")
"""Words before a subject that say that it is meant in general."""

TABLE_SCOPES: Final = _lines(
    """
    plan: tier, edition, subscription, package, plans
    env: environment, stage, environments
    region: regions, country, market
    os: operating system, platform
    browser: browsers
    role: roles, user role
    tenant: customer, client
    version: api version
    """
)
"""Heads of a table's first column that make its cells scopes."""

SAME_NAMES: Final = _lines(
    """
    postgresql: postgres, pg, psql, postgre
    kubernetes: k8s
    javascript: js
    typescript: ts
    golang: go
    macos: mac os, os x, mac os x, osx
    mongodb: mongo
    elasticsearch: elastic search
    github actions: gh actions
    rabbitmq: rabbit mq
    forever: indefinitely, without limit, for ever
    """
)

SINGULAR: Final[Mapping[str, str]] = {
    **{word: word for word in _words(
        "kubernetes postgres series news species means always https dns aws ios macos css sms gps tls js windows"
        " jenkins analytics metrics headquarters sass rails axios ops devops sales goods gas bus lens"
    )},
    "aliases": "alias", "statuses": "status", "buses": "bus", "indices": "index", "indexes": "index",
    "people": "person", "children": "child", "men": "man", "women": "woman", "data": "data", "caches": "cache",
}  # fmt: skip

ATTRIBUTES: Final = _lines(
    """
    retention: retention period, retention time, retention window, retention policy, data retention, retained for,
      kept for, stored for, held for, archived for, preserved for, saved for, available for, deleted after, purged
      after, removed after, erased after, dropped after, expire after, expired after, expire in, expiry,
      expiration, expiry time, ttl, time to live, lifetime, valid for, live for, keep for
    timeout: time out after, timed out after, time limit, timeout value, time out, timeout limit
    limit: limited to, capped at, restricted to, upper limit, max, cap, maximum number, max number, allow up to,
      max value
    schedule: run every, scheduled for, scheduled at, scheduled every, executed every, executed at, repeated every
    headquarters: headquartered in, headquartered at, headquarter, hq, head office, main office
    owner: owned by, belong to, proprietor
    maintainer: maintained by, looked after by
    lead: led by, headed by, leader, team lead
    manager: managed by
    author: written by, authored by, writer
    founder: founded by
    creator: created by
    developer: developed by, built by
    producer: produced by, manufactured by, made by, manufacturer, maker
    performer: performed by, sung by, singer
    director: directed by
    designer: designed by
    inventor: invented by
    publisher: published by
    discoverer: discovered by
    employer: employed by, work for
    spouse: married to, wife, husband
    chairperson: chaired by, chair, chairman, chairwoman
    ceo: chief executive officer, chief executive
    cto: chief technology officer
    cfo: chief financial officer
    broadcaster: broadcast by, aired by, broadcasted by
    approver: approved by
    reviewer: reviewed by
    birthplace: born in, place of birth, born in city, born in town, born in village
    place of death: died in, die in, die in city, died in city, deathplace
    version: pinned to, version number
    port: port number, listen on port, run on port, served on port, exposed on port
    hosting: run on, run in, hosted on, hosted at, hosted in, hosted by, deployed to, deployed on, deployed in,
      running on, hosting provider, host provider
    storage: stored in, stored on, saved in, saved to, persisted in, persisted to, kept in, kept on, storage
      location, storage backend
    language: written in, implemented in, programming language, written in language, implementation language,
      coded in
    default: default to, default value, default setting
    price: cost, priced at, sold for
    deadline: due on, due by, due date, due in
    release date: released on, launch date, launched on, shipped on
    founding date: founded on, established on
    enabled: switched on, turned on
    name: called, named
    use: choice, tool of choice
    """
)
"""Synonyms of attributes. Those of `TIMED` mean it only where the value is a length of time."""

TIMED: Final = frozenset(
    phrase
    for phrase, target in ATTRIBUTES.items()
    if target in ("retention", "timeout") and phrase.rpartition(" ")[2] in ("for", "after", "in")
)

NOUNS: Final = frozenset(
    _words("""
    retention timeout limit size port host url address path folder directory branch version language license licence
    format encoding region zone name email owner lead maintainer manager deadline date schedule interval frequency
    period window rate quota budget price cost threshold default level mode strategy policy protocol algorithm database
    queue broker cache framework library runtime shell editor linter formatter registry provider backend frontend
    engine driver client server endpoint domain subdomain prefix suffix key id title status state phase color colour
    theme font currency timezone locale charset count number length width height depth age duration ttl delay
    concurrency parallelism replicas retries attempts capacity memory threads workers contact channel team location
    capital population headquarters author founder creator director president ceo cto chairperson
    """)
)
"""Nouns that name what is said of something: "the export retention" is the retention of the export."""

QUALIFIERS: Final = frozenset(
    _words("""
    default max maximum min minimum current total average base public internal primary main official original legal
    target initial final hard soft global local rate batch page log time pool chunk buffer line idle connection heap
    stack body read write old new former previous planned
    """)
)
"""Words that belong to the attribute: "max upload size" is the max size of the upload, "API rate limit" the API's."""

CLASSIFIERS: Final = frozenset(
    _words("""
    city town village country continent state region province county district language sport religion field position
    role port version branch club genre instrument industry profession occupation party faith
    """)
)
"""Nouns before a name that say what sort of thing it is: "the city of Oslo", "port 8080"."""

SEVERAL_VERBS: Final = frozenset(
    _words("""
    support include contain require need depend call import expose provide offer handle accept allow have know like use
    consume emit read write cover involve feature mention reference extend implement own see mean produce serve graduate
    """)
)
SEVERAL_WORDS: Final = frozenset(
    _words("""
    responsible available compatible aware capable known intended useful good bad ready built made composed
    member part user fan subset kind type sort form example instance piece one copy friend graduate list set
    """)
)
"""Verbs, and adjectives and nouns, whose objects stand side by side: a second one takes no other's place."""

VERBS: Final = """
run listen default expire time last cost weigh take return speak play work live die start end begin belong report point
resolve depend support include contain require need call import expose provide offer handle accept allow have know like
consume emit read write cover involve feature extend implement use serve sit stand deploy ship build target follow hold
sell study teach represent orbit border flow end close open occur happen arise stay reside remain retire graduate
"""
"""Verbs that say something of their subject."""

INVERSE: Final = """
lead own maintain manage write found create develop invent design direct produce perform discover chair coach employ
publish manufacture head approve review broadcast sponsor
"""
"""Verbs whose object is what is spoken of: "Ada leads billing" says who leads billing."""

TRANSITIVE: Final = """
keep store retain hold archive delete purge remove limit cap restrict run deploy host pin set schedule send serve
publish log cache round encrypt sign hash build release review rotate retry name call write persist save expire move
"""
"""What one does with something: "we keep exports for 30 days" says it of the exports."""

CHOOSING: Final = "use choose pick adopt select prefer"

IRREGULAR: Final[Mapping[str, tuple[str, ...]]] = {
    "keep": ("kept",), "hold": ("held",), "build": ("built",), "send": ("sent",), "write": ("wrote", "written"),
    "run": ("ran", "run", "running"), "set": ("set",), "make": ("made",), "know": ("knew", "known"),
    "lead": ("led",), "read": ("read",), "take": ("took", "taken"), "speak": ("spoke", "spoken"), "cost": ("cost",),
    "sell": ("sold",), "teach": ("taught",), "have": ("has", "had"), "begin": ("began", "begun"), "sit": ("sat",),
    "stand": ("stood",), "choose": ("chose", "chosen"), "found": ("founded",), "ship": ("shipped",),
    "stop": ("stopped",),
    "cap": ("capped",), "pin": ("pinned",), "log": ("logged",), "study": ("studied",), "die": ("died",),
    "lie": ("lay",), "broadcast": ("broadcast",), "bind": ("bound",), "sing": ("sang", "sung"), "pay": ("paid",),
    "see": ("saw", "seen"), "mean": ("meant",), "find": ("found",), "buy": ("bought",), "do": ("does", "did", "done"),
    "give": ("gave", "given"), "draw": ("drew", "drawn"), "drive": ("drove", "driven"), "put": ("put",),
    "permit": ("permitted",), "split": ("split",), "get": ("got",), "grow": ("grew", "grown"), "bear": ("born",),
    "win": ("won",), "feed": ("fed",), "show": ("showed", "shown"), "hide": ("hid", "hidden"), "arise": ("arose",),
}  # fmt: skip

PARTICIPLES: Final = frozenset(
    _words("""
    kept held built sent written run set made known born sold bought put read led fed shown given taken done paid found
    lost cut hit split drawn driven thrown grown chosen frozen broken spoken stolen sung hidden bound won worn hung
    dealt spent meant taught thought caught brought sought left met broadcast cast overwritten rebuilt reset
    """)
)
"""Irregular participles; the others end in -ed."""

PREPOSITIONS: Final = (
    "in", "on", "at", "to", "for", "with", "by", "as", "from", "after", "under", "within", "every", "via", "through",
    "of", "into", "over", "per", "against", "behind", "between", "before", "near", "onto", "toward", "towards",
)  # fmt: skip

LOCATING: Final = frozenset(
    _words("""
    located based situated set held called named kept found defined known given
    """)
)
"""Participles between an attribute and its value that say nothing themselves: "the office of X is located in Y"."""

PRONOUNS: Final = frozenset(
    _words("""
    it this that they them these those there he she i you we us everything everyone someone something anything nothing
    nobody which who what here one ones each all both some many most none any others another other such so
    """)
)
"""What does not say what it speaks of."""

ANNOUNCERS: Final = frozenset(
    _words("""
    note notes todo fixme fyi warning caution important update edit example question answer q a decision decided agreed
    action actions result results summary tldr context background reminder hint tip info see also ps re fwd status
    """)
) | {"open question", "open questions", "open point", "still open", "to be decided", "not decided", "not decided yet"}
"""What stands before a colon and only announces what follows."""

GENERIC: Final = frozenset(
    _words("""
    overview introduction intro summary background context notes note details settings setting configuration config
    options parameters usage example examples faq questions decision decisions status consequences goals goal scope
    misc miscellaneous general todo tasks agenda attendees participants minutes discussion action items next steps
    timeline impact resolution mitigation root cause table of contents references links changelog history about readme
    installation getting started limits defaults values facts list log journal draft design proposal update updates
    open questions answers key points facts what why how who where when
    """)
)
"""Words of headings that say nothing about a subject."""
