"""Symptom, cause and fix, put together from what a session says and what its tools report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules.cues import words_of
from flywheel.harvest.rules.score import DATE, total
from flywheel.harvest.rules.statements import EXPLAINING
from flywheel.harvest.rules.topic import key_of, links_of, merge_links, stems, subject_of, title_of
from flywheel.harvest.rules.values import Draft, Point, quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.knowledge.parts import CAUSE, FIX, PROOF, SYMPTOM
from flywheel.model import Category, ClaimType, Message, MessageKind, Role, evidence_id
from flywheel.text import stance
from flywheel.text.prose import QUOTE, Sentence

_SYMPTOM: Final = re.compile(
    r"\b(?:errors?|exceptions?|fail(?:s|ed|ing|ures?)?|crash(?:es|ed|ing)?|broken|breaks?|bugs?|(?:doesn't"
    r"|does\s+not|don't|isn't|not|won't|stopped)\s+(?:work|load|start|build|compile"
    r"|render|respond|connect|save|update|show|send|return)\w*|hangs?|hanging|stuck|timeouts?|time\s?outs?"
    r"|timed\s+out|[45]\d\ds?\b|wrong|missing|too\s+slow|leak(?:s|ing)?|flaky|regression"
    r"|twice|duplicated?s?|lost|deadlock(?:s|ed)?|segfaults?|traceback|corrupt(?:s|ed)?|out\s+of\s+memory"
    r"|infinite\s+loop|blank\s+page)\b",
    re.IGNORECASE,
)
_TROUBLE: Final = frozenset(
    """
    error errors exception exceptions fail fails failed failing failure failures crash crashes crashed crashing broken
    break breaks bug bugs doesn't does don't isn't not won't stopped hang hangs hanging stuck timeout timeouts time
    outs timed wrong missing slow leak leaks leaking flaky regression twice duplicate duplicated duplicates lost
    deadlock deadlocks deadlocked segfault segfaults traceback corrupt corrupts corrupted memory infinite blank
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words one of which stands in every sentence that reports trouble, or else a status code does."""
_CAUSE: Final = re.compile(
    r"\b(?:root\s+cause|(?:the\s+)?(?:actual\s+|real\s+|underlying\s+)?(?:cause|culprit)\s+(?:is|was|turned\s+out)"
    r"|the\s+(?:actual\s+|real\s+|underlying\s+)?(?:problem|issue|bug|reason|failure|error)\s+"
    r"(?:is|was|turned\s+out\s+to\s+be|comes?\s+from|happens|occurs?|here\s+is)|the\s+(?:problem|issue|cause|reason"
    r"|bug)\s*:|(?:is|was|were|are)\s+(?:being\s+)?caused\s+by|caused\s+by|(?:it|this|that)\s+(?:fails|failed"
    r"|happens|happened|breaks|broke|crashes)"
    r"\s+because|stems?\s+from|traced\s+(?:it\s+)?(?:back\s+)?to)(?!\w)",
    re.IGNORECASE,
)
_BECAUSE: Final = re.compile(r"\b(?:because|due\s+to|turns\s+out|turned\s+out)\b", re.IGNORECASE)
_FIX: Final = re.compile(
    r"\b(?:fixed\s+(?:[\w'-]+\s+){0,5}by|(?:the|a|my)\s+(?:proper\s+|real\s+|right\s+|actual\s+)?(?:fix"
    r"|solution)\s+(?:is|was)|(?:resolved|solved|addressed|cured)\s+(?:[\w'-]+\s+){0,4}by"
    r"|i(?:'ve|\s+have)?\s+(?:now\s+)?(?:fixed|resolved|solved|patched|corrected)\s+\w+|(?:changing|adding|removing"
    r"|setting|moving|upgrading|pinning|wrapping|replacing|renewing|using)\s+.{3,90}?\s+"
    r"(?:fixe[sd]|resolve[sd]|solve[sd]|did\s+the\s+trick))\b|^fix(?:ed)?\s*:",
    re.IGNORECASE,
)
_PROOF: Final = re.compile(
    r"\b(?:(?:that|this|it)(?:\s+(?:has|all))?\s+(?:fixed|solved|worked|works|did\s+(?:it|the\s+trick))"
    r"|works\s+(?:now|great|perfectly|fine|again)|(?:is|it's|its|all)\s+(?:now\s+)?fixed(?:\s+now)?"
    r"|no\s+(?:more\s+)?(?:errors?|timeouts?|crash(?:es)?|failures?)"
    r"|(?:all\s+)?tests?\s+(?:are\s+)?(?:now\s+)?(?:pass(?:es|ing)?|green)|all\s+green|problem\s+(?:is\s+)?(?:gone"
    r"|solved)|confirmed\s+fixed)\b",
    re.IGNORECASE,
)
_NOT_YET: Final = re.compile(
    r"\b(?:not|n't|no|never|still|once|until|if|should|hopefully|will)\s+(?:\w+\s+){0,2}(?:fix|solv|work|resolv|pass)",
    re.IGNORECASE,
)
_ERROR_LINE: Final = re.compile(
    r"^(?:E\s+)?(?P<line>(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Fault|Panic)\b:?.{0,200}|error(?:\[E\d+\]"
    r"|\s+TS\d+)?:.{3,200}|(?:fatal|panic|FAIL(?:ED)?|ERROR)[: ].{3,200}"
    r"|.{1,80}:\s(?:command\s+not\s+found|No\s+such\s+file\s+or\s+directory|[Pp]ermission\s+denied).{0,80}"
    r"|\S+:\d+:\d*:?\s+error:?.{3,200})\s*$",
    re.MULTILINE,
)
_FAR: Final = 40
"""Messages after which an open symptom is forgotten."""


@dataclass(slots=True, kw_only=True)
class _Case:
    """One trouble while the session works on it."""

    at: int
    symptom: Point | None = None
    error: Point | None = None
    cause: Point | None = None
    strong: bool = False
    fix: Point | None = None
    proof: Point | None = None
    first: str = ""  # the text of the cause or the fix, whichever came first: the key rests on it


@dataclass(slots=True, kw_only=True)
class Casebook:
    """Follows the troubles of one session; `done` gives those that are understood."""

    lowered: bool = False
    case: _Case | None = None
    done: list[Draft] = field(default_factory=list)

    def trouble(self, message: Message, sentence: Sentence, at: int) -> bool:
        """A person's sentence that reports a symptom opens a case; whether it did."""
        if sentence.kind is QUOTE or not reports_trouble(sentence.plain) or "[redacted:" in sentence.plain:
            return False
        if _PROOF.search(sentence.plain) or len(sentence.plain.split()) < 3:
            return False
        if self.case is not None and self.case.symptom is not None and not self._understood() and at - self.case.at < 2:
            return True
        self._open(at).symptom = _point(message, sentence, SYMPTOM, Role.USER, ClaimType.FACT)
        return True

    def failure(self, message: Message, at: int) -> None:
        """A failing tool result adds its error line to the open case, or opens one."""
        found = list(_ERROR_LINE.finditer(message.text))
        if not found or "[redacted:" in found[-1].group("line"):
            return
        case = self.case
        if case is None or self._understood() or at - case.at > _FAR:
            case = self._open(at)
        if case.error is None:
            here = quote(message, found[-1].start("line"), found[-1].end("line"))
            case.error = Point(
                attribute=SYMPTOM,
                type=ClaimType.EXTERNAL,
                text=here.quote,
                role=Role.TOOL,
                said_at=message.created_at,
                quotes=(here,),
            )
            case.at = at

    def explains(self, message: Message, sentence: Sentence, role: Role, at: int) -> bool:
        """A sentence that gives the cause or the fix goes into the open case; whether it did."""
        plain, case = sentence.plain, self.case
        if sentence.kind is QUOTE or "[redacted:" in plain or stance.asks(plain) or len(plain.split()) < 4:
            return False
        if EXPLAINING.isdisjoint(words_of(plain)):
            return False
        strong = _CAUSE.search(plain) is not None
        fixes = _FIX.search(plain) is not None
        if not (strong or fixes or (case is not None and at - case.at <= 6 and _BECAUSE.search(plain))):
            return False
        if stance.tentative(plain) or (role is Role.ASSISTANT and stance.plans(plain)) or _NOT_YET.search(plain):
            return False
        if case is None or at - case.at > _FAR:
            case = self._open(at)
        if fixes and not (strong and case.cause is None):
            case.fix = case.fix or _point(message, sentence, FIX, role, ClaimType.FACT)
        elif case.cause is None or (strong and not case.strong):
            case.cause = _point(message, sentence, CAUSE, role, ClaimType.FACT)
            case.strong = strong
        else:
            return False
        case.first = case.first or stated(message.text, sentence)
        case.at = at
        return True

    def proves(self, message: Message, sentence: Sentence, at: int) -> bool:
        """A person's word that it works now closes the case; whether it did."""
        case = self.case
        if case is None or not self._understood() or at - case.at > _FAR:
            return False
        if not _PROOF.search(sentence.plain) or _NOT_YET.search(sentence.plain) or stance.asks(sentence.plain):
            return False
        case.proof = case.proof or _point(message, sentence, PROOF, Role.USER, ClaimType.FACT)
        return True

    def passed(self, message: Message, start: int, stop: int) -> None:
        """The command that had failed succeeds: the open case's fix is proved by ``message``."""
        case = self.case
        if case is not None and self._understood() and case.proof is None:
            here = quote(message, start, stop)
            case.proof = Point(
                attribute=PROOF,
                type=ClaimType.EXTERNAL,
                text=here.quote,
                role=Role.TOOL,
                said_at=message.created_at,
                quotes=(here,),
            )

    def finish(self) -> list[Draft]:
        """Every case that is understood, in order."""
        self._close()
        return self.done

    def _understood(self) -> bool:
        return self.case is not None and (self.case.cause is not None or self.case.fix is not None)

    def _open(self, at: int) -> _Case:
        self._close()
        self.case = _Case(at=at)
        return self.case

    def _close(self) -> None:
        if self.case is not None:
            self.done.extend(_draft(self.case, lowered=self.lowered))
        self.case = None


def reports_trouble(plain: str) -> bool:
    """Whether a sentence speaks of something that does not work."""
    may = not _TROUBLE.isdisjoint(words_of(plain)) or "4" in plain or "5" in plain
    return may and _SYMPTOM.search(plain) is not None


def _point(message: Message, sentence: Sentence, attribute: str, role: Role, type_: ClaimType) -> Point:
    return Point(
        attribute=attribute,
        type=type_,
        text=stated(message.text, sentence),
        role=role,
        said_at=message.created_at,
        quotes=(quote(message, sentence.start, sentence.stop),),
    )


def _draft(case: _Case, *, lowered: bool) -> Iterator[Draft]:
    """The draft of a case whose cause or fix is known; nothing when too little is."""
    main = case.cause or case.fix
    if main is None:
        return
    sure = case.proof is not None or main.role is Role.USER
    type_ = ClaimType.FACT if sure else ClaimType.HYPOTHESIS
    parts = [part for part in (case.cause, case.fix, case.symptom, case.error, case.proof) if part is not None]
    points = tuple(_typed(part, type_) if part.attribute in (CAUSE, FIX) else part for part in parts)
    known = case.symptom or case.error
    signals = _signals(case, main, lowered=lowered)
    signature = _signature(known)
    yield Draft(
        type=type_,
        category=Category.DEBUGGING,
        title=title_of(known.text if known is not None else main.text),
        summary=shorten(main.text),
        subject=subject_of(known.text if known is not None else main.text),
        tags=("bug", *(("fixed",) if case.proof is not None and case.fix is not None else ())),
        links=merge_links(*(links_of(part.text, part.text) for part in parts if part.attribute != PROOF)),
        points=points,
        score=total(signals),
        signals=signals,
        key=evidence_id("bug", signature, key_of(Category.DEBUGGING, case.first)),
    )


def _typed(point: Point, type_: ClaimType) -> Point:
    return Point(
        attribute=point.attribute,
        type=type_,
        text=point.text,
        role=point.role,
        said_at=point.said_at,
        quotes=point.quotes,
    )


def _signals(case: _Case, main: Point, *, lowered: bool) -> dict[str, float]:
    signals: dict[str, float] = {}
    if case.symptom is not None:
        signals["symptom told by user"] = 0.2
    elif case.error is not None:
        signals["symptom seen"] = 0.1
    if case.cause is not None:
        signals["cause"] = 0.3 if case.strong else 0.05
    if case.fix is not None:
        signals["fix"] = 0.2
    if case.proof is not None:
        signals["works now"] = 0.2
    if main.role is Role.USER:
        signals["said by user"] = 0.2
    if links_of(main.text, main.text) or re.search(r"\d", main.text) or DATE.search(main.text):
        signals["specific"] = 0.1
    if len(main.text.split()) < 6:
        signals["short"] = -0.15
    if lowered:
        signals["subagent"] = -0.15
    return signals


def _signature(symptom: Point | None) -> str:
    """What stays of a symptom when numbers and places differ."""
    return " ".join(stems(re.sub(r"\d+|0x[0-9a-f]+", " ", symptom.text))[:12]) if symptom is not None else ""


def is_error(message: Message) -> bool:
    """Whether a tool's result reports a failure."""
    status = message.meta.get("exit")
    return message.kind is MessageKind.TOOL_RESULT and (message.is_error or (isinstance(status, int) and status != 0))
