"""What only the exchange says: a yes that makes a proposal a decision, and words that take a decision back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flywheel.harvest.rules.cue_table import PHRASE
from flywheel.harvest.rules.cues import words_of
from flywheel.harvest.rules.score import total
from flywheel.harvest.rules.topic import (
    clause,
    key_of,
    links_of,
    merge_links,
    pair_title,
    subject_of,
    title_of,
    value_of,
)
from flywheel.harvest.rules.values import Draft, Link, Point, Quote, quote
from flywheel.harvest.rules.wording import shorten
from flywheel.knowledge.parts import DETAIL, STATES
from flywheel.model import Category, ClaimType, Clean, Message, Role
from flywheel.text.compose import fixed, join, span, squeeze
from flywheel.text.prose import HEADING, QUOTE, Sentence, sentences

_YES: Final = re.compile(
    r"""\s*(?:(?:ok(?:ay)?|great|perfect|good|nice|cool|fine|alright|thanks)[,.!]*\s+)*(?:
      yes|yep|yeah|yup|sure|agreed|go\s+ahead|go\s+for\s+(?:it|that)|do\s+(?:it|that|this|so)|let's\s+do\s+(?:it|that|this)|please\s+do|sounds\s+good|approved|exactly|absolutely|definitely
      |i\s+agree|good\s+(?:idea|plan|call)|that\s+(?:works|sounds\s+(?:good|right))|makes\s+sense,\s+(?:do|go)|ship\s+it|i\s+like\s+(?:it|that)|let's\s+go|works\s+for\s+me|👍|\+1
    )(?![\w'])""",
    re.VERBOSE | re.IGNORECASE,
)
_SHORT_OK: Final = re.compile(r"\s*(?:ok(?:ay)?|perfect|great|fine|good)\s*[.!]*\s*$", re.IGNORECASE)
_BUT: Final = re.compile(
    r"\b(?:but|instead|except|however|wait|though|rather|not\s+quite|almost|actually|hold\s+on|no\b|don't)\b",
    re.IGNORECASE,
)
_PICK: Final = re.compile(
    r"(?:\b(?:option|approach|alternative|choice|plan|variant|number|solution)\s*\#?\s*(?P<label>[A-Ea-e]|[1-9])\b"
    r"|\bgo(?:ing)?\s+(?:with|for)\s+(?P<bare>[A-E]|\#?[1-9])(?![\w.])"
    r"|^\s*(?P<alone>[A-Ea-e]|[1-9])\s*[.!)]*(?:\s*$|,|\s+(?:please|it\s+is|looks))|\bthe\s+(?P<order>first|second"
    r"|third|fourth|last|former|latter)\b(?:\s+(?:one|option|approach|idea|solution))?)",
    re.IGNORECASE,
)
_PROPOSES: Final = re.compile(
    r"\b(?:i(?:'d|\s+would)\s+(?:recommend|suggest|propose|go\s+with|prefer|lean\s+towards?|start\s+with)?\s*"
    r"|my\s+(?:recommendation|suggestion|proposal|advice)\s*(?:is|would\s+be|:)?\s*(?:to\s+)?"
    r"|i\s+(?:recommend|suggest|propose)\s+(?:that\s+)?(?:we\s+)?|we\s+(?:could|should|can|might)\s+|(?:should|shall"
    r"|could|can)\s+(?:i|we)\s+|(?:would\s+you\s+like|do\s+you\s+want|want)\s+(?:me\s+)?to\s+"
    r"|(?:how|what)\s+about\s+|the\s+(?:best|simplest|cleanest|safest|right)\s+(?:option|approach|way|solution"
    r"|fix)\s+(?:is|would\s+be)\s+(?:to\s+)?|proposal:\s*|recommendation:\s*)",
    re.IGNORECASE,
)
_DURABLE: Final = re.compile(
    r"^(?:to\s+|then\s+|just\s+|instead\s+|also\s+|we\s+)*(?:us(?:e|ing)|mov(?:e|ing)|switch(?:ing)?|stor(?:e|ing)"
    r"|adopt(?:ing)?|keep(?:ing)?|introduc(?:e|ing)|replac(?:e|ing)|go(?:ing)?\s+with|split(?:ting)?|nam(?:e|ing)"
    r"|structur(?:e|ing)|merg(?:e|ing)|separat(?:e|ing)|cach(?:e|ing)|drop(?:ping)?|remov(?:e|ing)|migrat(?:e|ing)"
    r"|mak(?:e|ing)|limit(?:ing)?|requir(?:e|ing)|enforc(?:e|ing)|rely(?:ing)?|put(?:ting)?|expos(?:e|ing)"
    r"|model(?:l?ing)?|return(?:ing)?|host(?:ing)?|deploy(?:ing)?|pin(?:ning)?|default(?:ing)?|treat(?:ing)?"
    r"|validat(?:e|ing)|encrypt(?:ing)?|send(?:ing)?|lock(?:ing)?|retry(?:ing)?|queue|queuing|batch(?:ing)?"
    r"|paginat(?:e|ing)"
    r"|extract(?:ing)?|standardi[sz](?:e|ing)|the\s+\w+|an?\s+\w+|[A-Z`]\w+)\b"
)
_CHOICE: Final = re.compile(
    rf"^(?:to\s+)?(?:us(?:e|ing)|adopt(?:ing)?|keep(?:ing)?|go(?:ing)?\s+with"
    rf"|switch(?:ing)?(?:\s+[\w`]+){{0,3}}?\s+to|mov(?:e"
    rf"|ing)(?:\s+[\w`]+){{0,4}}?\s+(?:in)?to)\s+(?P<new>{PHRASE})(?:\s+(?:for|as|in)\s+(?P<aim>{PHRASE}))?",
    re.IGNORECASE,
)
_OPTION: Final = re.compile(
    r"(?:^|\n)[ \t]*(?:[-*+][ \t]+)?(?:\*\*|\#+[ \t]+)?(?:(?:option|approach|alternative|variant"
    r"|plan)[ \t]+)?(?P<label>[A-E]|[1-9])(?:\*\*)?[ \t]*(?:[.):]|[—-][ \t])(?:\*\*)?[ \t]*(?P<body>[^\n]{8,400})",
    re.IGNORECASE,
)
_TAKES_BACK: Final = re.compile(
    r"\b(?:scrap|forget|drop|ignore|cancel|undo|revert)\s+(?:that|this|it|the\s+(?:idea|plan|approach|decision"
    r"|change)|what\s+i\s+(?:said|wrote)|all\s+(?:of\s+)?that)\b|\bnever\s?mind(?:\s+(?:that|the|about)\b|[,.!]|$)"
    r"|\b(?:changed\s+my\s+mind|on\s+second\s+thoughts?|i\s+was\s+wrong\s+about|i\s+take\s+(?:that|it)\s+back"
    r"|let's\s+not\s+(?:do|use)\s+(?:that|this|it))\b",
    re.IGNORECASE,
)
_BACK: Final = frozenset(
    {
        "scrap",
        "forget",
        "drop",
        "ignore",
        "cancel",
        "undo",
        "revert",
        "never",
        "nevermind",
        "changed",
        "second",
        "wrong",
    }
    | {"take", "let's"}
)
_ORDER: Final = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1}
_AGREED: Final = fixed("Agreed:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What an assistant put up for decision."""

    message: Message
    text: Clean  # without "should we" and its like
    quote: Quote


def takes_back(plain: str) -> bool:
    """Whether a person takes back what was settled just before."""
    return not _BACK.isdisjoint(words_of(plain)) and _TAKES_BACK.search(plain) is not None


def proposals(message: Message) -> list[Proposal]:
    """What a reply proposes, in order; only what would last, not "shall I run the tests"."""
    found: list[Proposal] = []
    for sentence in sentences(message.text, lambda block: _PROPOSES.search(block) is not None):
        cue = _PROPOSES.search(sentence.plain)
        if cue is None or sentence.kind in (HEADING, QUOTE) or len(sentence.plain) > 400:
            continue
        rest = sentence.plain[cue.end() :]
        if _DURABLE.match(rest) and len(rest.split()) >= 3 and "[redacted:" not in sentence.plain:
            found.append(_proposal(message, sentence.start + cue.end(), sentence.stop, sentence.start))
    return found


def options(message: Message) -> list[tuple[str, Proposal]]:
    """The lettered or numbered options of a reply; empty unless there are at least two, in order from the first."""
    found: list[tuple[str, Proposal]] = []
    for match in _OPTION.finditer(message.text):
        label = match.group("label").upper()
        expected = ("A", "1") if not found else (chr(ord(found[-1][0]) + 1),)
        if label in expected and "[redacted:" not in match.group():
            stop = match.end("body")
            found.append((label, _proposal(message, match.start("body"), stop, match.start("body"))))
    return found if len(found) > 1 else []


def _proposal(message: Message, start: int, stop: int, cited: int) -> Proposal:
    text = squeeze(span(message.text, start, stop))
    return Proposal(message=message, text=span(text, 0, len(text.rstrip(" ?.*"))), quote=quote(message, cited, stop))


def picked(plain: str, reply: Message) -> Proposal | None:
    """The option of a reply that a person's sentence names; None when it names none or one that is not there."""
    match = _PICK.search(plain)
    if match is None or "?" in plain:
        return None
    choices = options(reply)
    if not choices:
        return None
    order = match.group("order")
    if order is not None:
        at = _ORDER[order.lower()]
        return choices[at][1] if at < len(choices) else None
    label = (match.group("label") or match.group("bare") or match.group("alone") or "").lstrip("#").upper()
    return next((proposal for name, proposal in choices if name == label), None)


def says_yes(plain: str) -> bool:
    """Whether a person's first sentence agrees without reservation."""
    if "?" in plain:
        return False
    yes = _YES.match(plain)
    return (yes is not None and _BUT.search(plain, yes.end()) is None) or _SHORT_OK.match(plain) is not None


def agreement(proposal: Proposal, answer: Message, sentence: Sentence, *, named: bool) -> Draft:
    """The decision that a person made by agreeing; both spans are cited. ``named`` when an option was named."""
    here = quote(answer, sentence.start, sentence.stop)
    text = join((_AGREED, proposal.text))
    value, aim = _choice(proposal.text)
    links = links_of(proposal.text, proposal.text)
    signals = {"proposal agreed to": 0.4 if named else 0.35, "said by user": 0.2}
    if links or value:
        signals["specific"] = 0.1
    if len(proposal.text.split()) < 4:
        signals["short"] = -0.2
    subjects = [Link(kind="subject", name=name) for name in (value, aim) if name]
    return Draft(
        type=ClaimType.DECISION,
        category=Category.DECISIONS,
        title=pair_title(value, aim) if value and aim else title_of(proposal.text),
        summary=shorten(text),
        subject=aim or value or subject_of(clause(proposal.text)),
        tags=("agreed",),
        links=merge_links(links, subjects),
        points=(
            Point(
                attribute=STATES,
                type=ClaimType.DECISION,
                text=text,
                role=Role.USER,
                said_at=answer.created_at,
                quotes=(here, proposal.quote),
                value=value,
            ),
        ),
        score=total(signals),
        signals=signals,
        key=key_of(Category.DECISIONS, proposal.text),
    )


def detail_of(proposal: Proposal) -> Point:
    """A proposal as a detail of the decision that its answer states in full."""
    return Point(
        attribute=DETAIL,
        type=ClaimType.DECISION,
        text=proposal.text,
        role=Role.ASSISTANT,
        said_at=proposal.message.created_at,
        quotes=(proposal.quote,),
    )


def _choice(text: Clean) -> tuple[Clean, Clean]:
    match = _CHOICE.match(text)
    if match is None:
        return span(text, 0, 0), span(text, 0, 0)
    aim = value_of(text, match.start("aim"), match.end("aim")) if match.group("aim") else span(text, 0, 0)
    return value_of(text, match.start("new"), match.end("new")), aim


def opening(message: Message) -> Iterator[Sentence]:
    """The first sentences of a prompt: where an answer to a proposal stands."""
    for number, sentence in enumerate(sentences(message.text)):
        if number == 3:
            return
        yield sentence
