"""What became of something that a page is tied to, and how that is said. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Clean
from flywheel.text.compose import dated, fixed, join, reworded, span

KEPT: Final = 4000
"""Characters of a definition's text that are kept for showing what has changed."""

CUT: Final = fixed("\n…")
"""Ends a text that is longer."""

CONTAINERS: Final = frozenset({"class", "struct", "enum", "trait", "interface"})
"""Kinds of definition that hold others: what these do is theirs."""

_JOINTS: Final = re.compile(r"::|->|#|:")
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A definition as the code map has it now; several of one name in one file are taken together."""

    checkout: str
    path: Clean
    qualified: Clean
    kind: str
    signature: Clean
    hash: str  # `told_hash`
    start: int  # lines, 1-based and inclusive, of the first of them
    stop: int
    sha256: str  # of the file


def told_hash(own: Iterable[str], members: Sequence[tuple[str, str, str]] = ()) -> str:
    """Of the hashes of a definition's code and its members' (name, signature, hash): three parts, told apart by ":".

    What a member does is not what its class is: the parts tell a member's body from all else (`difference`).
    """
    whole = _digest(own)
    if not members:
        return whole
    faces, bodies = _digest(f"{name}\1{said}" for name, said, _ in members), _digest(hash for _, _, hash in members)
    return f"{whole}:{faces}:{bodies}"


def _digest(parts: Iterable[str]) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def difference(then_hash: str, then_signature: str, now_hash: str, now_signature: str) -> str:
    """``signature``, ``members``, ``body``, or "" where what a page says of it is as true as it was.

    Hashes and signatures know neither layout nor comments. Of something with members that are called as before, and of
    which some do something else, nothing is said: pages that speak of those members are tied to them.
    """
    if then_hash == now_hash:
        return ""
    if then_signature != now_signature:
        return "signature"
    _, faces, bodies = _parts(then_hash)
    _, faces_now, bodies_now = _parts(now_hash)
    if faces != faces_now:
        return "members"
    return "body" if bodies == bodies_now else ""


def _parts(hash: str) -> tuple[str, str, str]:
    own, _, rest = hash.partition(":")
    faces, _, bodies = rest.partition(":")
    return own, faces, bodies


def own_part(hash: str) -> str:
    """The part of a hash that is the definition's own code."""
    return _parts(hash)[0]


def fits(name: str, path: str, qualified: str) -> bool:
    """Whether a page that says ``name`` may mean this definition: by its qualified name, with its file or module.

    ``allow`` alone is no name of ``RateLimiter.allow``; ``limits.RateLimiter.allow`` is, of ``src/limits.py``.
    """
    file, sep, rest = _divided(name)
    if sep:
        return _ends(path, file) and (qualified == rest or qualified.endswith(f".{rest}"))
    plain = _JOINTS.sub(".", name).strip(".")
    if qualified == plain or ("." in plain and qualified.endswith(f".{plain}")):
        return True
    if not plain.endswith(f".{qualified}"):
        return False
    module = plain[: -len(qualified) - 1].replace(".", "/")
    stem = path.rpartition(".")[0] or path
    return _ends(stem, module) or _ends(stem.removesuffix("/__init__"), module)


def _divided(name: str) -> tuple[str, str, str]:
    """File and definition of ``src/a.py:b``; of other names none."""
    head, sep, rest = name.partition(":")
    if not sep or "." not in head.rpartition("/")[2]:
        return "", "", name
    return head.removeprefix("./"), sep, _JOINTS.sub(".", rest.lstrip(":"))


def _ends(path: str, tail: str) -> bool:
    return path == tail or path.endswith(f"/{tail}")


def endings(name: str) -> list[str]:
    """The qualified names that a definition called so may have, besides longer ones that end in the longest."""
    plain = _divided(name)[2]
    words = _JOINTS.sub(".", plain).strip(".").split(".")
    return [".".join(words[at:]) for at in range(len(words))]


def target_of(path: Clean, qualified: Clean) -> Clean:
    """How an anchor names a definition."""
    return join([path, qualified], "::")


def parted(target: Clean) -> tuple[Clean, Clean]:
    """Path and qualified name of a definition that an anchor names."""
    at = target.rfind("::")
    return span(target, 0, at), span(target, at + 2, len(target))


def nameless(text: str, name: str) -> str:
    """A definition's text without its own name and without white space: equal for one that was only renamed."""
    return _SPACE.sub("", re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "\0", text))


def same_but_name(then: str, then_name: str, now: str, now_name: str) -> bool:
    """Whether two texts are one definition under two names; ``then`` may be cut."""
    whole = not then.endswith(CUT)
    old, new = nameless(then.removesuffix(CUT), then_name), nameless(now, now_name)
    return bool(old) and (old == new if whole else new.startswith(old))


def kept_text(text: Clean) -> Clean:
    """As much of a definition's text as is kept."""
    return text if len(text) <= KEPT else join([span(text, 0, KEPT), CUT], "")


def told(what: str, target: Clean, now: int, *, to: Clean = Clean("")) -> Clean:
    """The change in a sentence: ``src/auth/mw.py:require_user changed its signature on 2026-03-02``."""
    verb, after = _VERBS[what]
    parts = [_shown(target), verb]
    parts += [_shown(to)] if to else []
    parts += [after] if after else []
    return join([*parts, fixed("on"), dated(now)])


_VERBS: Final = {
    "signature": (fixed("changed its signature"), None),
    "members": (fixed("changed its members"), None),
    "body": (fixed("changed its body"), None),
    "renamed": (fixed("was renamed to"), None),
    "moved": (fixed("moved to"), None),
    "deleted": (fixed("was deleted"), None),
    "unsaid": (fixed("no longer says"), None),
    "undefined": (fixed("no longer defines"), None),
    "document": (fixed("changed"), None),
    "gone": (fixed("is gone at its source, as was seen"), None),
}


def _shown(target: Clean) -> Clean:
    return reworded(target.replace("::", ":", 1), target)
