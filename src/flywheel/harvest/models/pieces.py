"""Messages as the models see them: prompts whole, of replies what carries, of tools what came from outside. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from flywheel.harvest.models import Piece
from flywheel.harvest.rules import external
from flywheel.harvest.rules.bugs import is_error
from flywheel.harvest.rules.statements import Speaker, Statement, statements
from flywheel.model import Clean, Message, MessageKind, Role
from flywheel.text.compose import fixed, join, neutralise, span, squeeze
from flywheel.text.prose import sentences
from flywheel.text.tokens import clip, count

PROMPT: Final = 260
"""Tokens of a prompt that the router sees; of a longer one, the beginning and the end."""

REPLY: Final = 90
"""Tokens of a reply that the router sees."""

RESULT: Final = 60
"""Tokens of what a tool brought from outside that the router sees; of a failure, a third."""

MARGIN: Final = 0.1
"""How far below the floor of extraction a statement of a reply may score and still be shown."""


def mark_of(message: Message) -> str:
    """A message's place within its session; marks sort as the messages do."""
    return f"{message.ordinal + 1:012d}:{message.id}"


def pieces_of(messages: Iterable[Message], *, floor: float, subagent: bool) -> Iterator[Piece]:
    """Each message that a model may cite, in order. What only the machine says (calls, output) is left out.

    ``subagent``: the prompts were written by the agent that started it.
    """
    for message in messages:
        match message.kind, message.role:
            case MessageKind.PROMPT, Role.USER:
                role = Role.ASSISTANT if subagent else Role.USER
                yield _piece(message, role, _ends(message.text, PROMPT), _weight(message, role))
            case MessageKind.REPLY, Role.ASSISTANT:
                short, weight = _carrying(message, floor)
                yield _piece(message, Role.ASSISTANT, short, weight)
            case MessageKind.TOOL_RESULT, _ if external.is_web(message):
                said = [draft.statement for draft in external.claims(message, Counter())]
                yield _piece(message, Role.TOOL, clipped(join(said), RESULT), 0.2 if said else 0.0)
            case MessageKind.TOOL_RESULT, _ if is_error(message):
                yield _piece(message, Role.TOOL, join([fixed("failed:"), clipped(message.text, RESULT // 3)]), 0.1)
            case _:
                pass


def _weight(message: Message, role: Role) -> float:
    """How much the rules make of the best statement in it."""
    found = statements(message, Speaker(role=role), Counter())
    return max((one.score for one in found if isinstance(one, Statement)), default=0.0)


def _piece(message: Message, role: Role, short: Clean, weight: float) -> Piece:
    return Piece(
        mark=mark_of(message),
        role=role,
        said_at=message.created_at,
        text=message.text,
        short=shown(short),
        tool=message.tool,
        weight=weight,
        message_id=message.id,
    )


def shown(text: Clean) -> Clean:
    """As it stands in a question to a model: inert, on one line, so that no line of it can pass for another's."""
    return squeeze(neutralise(text))


def clipped(text: Clean, budget: int) -> Clean:
    """The head of a text of at most so many tokens, with an ellipsis where it was cut."""
    cut = clip(text, budget)
    return text if cut == text else join([span(text, 0, max(0, len(cut) - 1)), fixed("…")], "")


def _ends(text: Clean, budget: int) -> Clean:
    """A text, or its beginning and its end: what is wanted stands at either."""
    if count(text) <= budget:
        return text
    head = clipped(text, budget * 2 // 3)
    stop = max(len(head), len(text) - budget)  # a token has about three characters and more
    return join([head, span(text, stop, len(text))])


def _carrying(message: Message, floor: float) -> tuple[Clean, float]:
    """Of a reply its first sentence, what the rules take for a statement, and its last one, which may ask."""
    found = list(sentences(message.text))
    if not found:
        return span(message.text, 0, 0), 0.0
    places = {(found[0].start, found[0].stop), (found[-1].start, found[-1].stop)}
    best = 0.0
    for one in statements(message, Speaker(role=Role.ASSISTANT), Counter()):
        if isinstance(one, Statement) and one.score >= floor - MARGIN:
            best = max(best, one.score)
            places.add((one.sentence.start, one.sentence.stop))
    texts = [clipped(span(message.text, start, stop), REPLY // 2) for start, stop in sorted(places)]
    return clipped(join(texts), REPLY), best
