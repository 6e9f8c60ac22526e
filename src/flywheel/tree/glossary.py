"""``glossary.md``: drawn from the store; what somebody edits in it waits beside the terms until a person decides."""

from __future__ import annotations

from typing import Final

from flywheel.errors import BadInput, NotFound
from flywheel.knowledge.deciding import Act
from flywheel.knowledge.glossary import keeping, page, proposing
from flywheel.store import Tx
from flywheel.text.compose import fixed
from flywheel.text.redact import Redactor
from flywheel.tree.naming import GLOSSARY
from flywheel.tree.shapes import Rendered
from flywheel.tree.taking import ACTOR
from flywheel.tree.tree import Foreign, Tree

_EDITED: Final = fixed("edited in the memory tree")
_FILED: Final = fixed("edited by an unknown author; the change waits for review")
_UNREAD: Final = fixed("lines that are no part of a glossary")
_TOO_LARGE: Final = fixed("it is too large, or no text")


def put(tree: Tree) -> None:
    """Write the glossary as it is; take in first what somebody wrote into it. Without terms there is no file."""
    for _ in range(3):
        with tree.db.read() as tx:
            text = page.draw(tree.project.name, keeping.terms_of(tx, tree.projects))
            known = tree.known(tx, GLOSSARY)
        if not text and (known is None or tree.disk.read(GLOSSARY) is None):
            return
        if not text and known is not None:
            tree.remove(GLOSSARY)
            return
        try:
            tree.put(Rendered(path=GLOSSARY, text=text), known)
            return
        except Foreign as found:
            take(tree, tree.steady(GLOSSARY, found.data))


def take(tree: Tree, data: bytes) -> None:
    """Take in what somebody wrote into the glossary; the file is known from then on and may be rendered over."""
    with tree.db.read() as tx:
        known = tree.known(tx, GLOSSARY)
        now = page.draw(tree.project.name, keeping.terms_of(tx, tree.projects))
    base = tree.committed(GLOSSARY, known)
    text = _text(data)
    if text is None:
        tree.set_aside(GLOSSARY, data, _TOO_LARGE)
    elif text.strip():
        found = page.asked(text, base if base is not None else now)
        if found.unread:
            tree.set_aside(GLOSSARY, data, _UNREAD)
        with tree.db.write() as tx:
            filed = _file(tx, tree, found, tree.redact)
        if filed:
            tree.say("edited", GLOSSARY, note=_FILED)
    tree.adopt(GLOSSARY, data)


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if len(data) > page.LARGEST or "\0" in text else text


def _file(tx: Tx, tree: Tree, found: page.Asked, redact: Redactor) -> int:
    """Propose what the edit asks for; how much of it is news."""
    act = Act(actor=ACTOR, now=tree.now(), reason=_EDITED)
    filed = 0
    for name, fields in found.worded:
        clean = {key: _clean(value, redact) for key, value in fields.items()}
        filed += proposing.propose(tx, tree.projects, redact.text(name), page.as_wording(clean), act, instead=True)
    for name in found.gone:
        try:
            filed += proposing.propose_removal(tx, keeping.the_term(tx, tree.projects, name), act)
        except (NotFound, BadInput):  # it is gone already, or several are called so, and the edit names none of them
            continue
    return filed


def _clean(value: object, redact: Redactor) -> object:
    return tuple(redact.text(str(one)) for one in value) if isinstance(value, tuple) else redact.text(str(value))
