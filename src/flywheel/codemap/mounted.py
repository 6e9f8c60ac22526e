"""Under which paths routers are that another file mounts: told surely from what all files say, or not at all. Pure.

"Surely": the router is mounted in one place of the checkout, every path on the way is spelled out, and the way ends at
what is mounted nowhere (an application, or Django's ``ROOT_URLCONF``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from flywheel.codemap.mounting import INSTEAD
from flywheel.codemap.routing import URLS

Router = tuple[str, str]
"""The file that makes it, and its name there."""

Given = tuple[str, str, str]
"""What a parser is told of a router of its file: its name there, the path above it, the call that says so."""

Lead = Callable[[str, str, str], str]
"""(File, module, name in it) → the file that this import leads to, or "" for none of the checkout."""

APPLICATION: Final = "app"
"""What a function calls the application that it is handed."""

_TESTS: Final = re.compile(r"(?:^|/)(?:(?:tests?|__tests__|spec)/|test_[^/]*$|conftest\.py$)|[._](?:test|spec)\.\w+$")
"""Files of tests: what they mount is not where clients find it."""

_DEEP: Final = 20
_NOTHING: Final[Mapping[str, Any]] = {"makes": {}}


def mounts_of(said: Mapping[str, Mapping[str, Any]], lead: Lead) -> dict[str, Sequence[Given]]:
    """Path of a file → what is to be put before the routes of its routers. ``said``: path → `routing.Routing`."""
    house = _House(said, lead)
    found: dict[str, list[Given]] = defaultdict(list)
    for path, name in sorted(house.mounted):
        given = house.above((path, name))
        if given is not None and given[0] and not house.is_plain((path, name)):
            found[path].append((name, given[0], given[1]))
    return dict(found)


class _House:
    """All routers of a checkout, and where each is mounted."""

    def __init__(self, said: Mapping[str, Mapping[str, Any]], lead: Lead) -> None:
        self._said, self._lead = said, lead
        self._doubtful: set[str] = set()  # names under which something is mounted that was not found
        self.mounted: dict[Router, list[tuple[str, Sequence[Any]]]] = defaultdict(list)
        for path, one in said.items():
            for joint in one["joints"]:
                router = self._find(path, joint[2])
                self._find(path, joint[0])
                if router is not None and not (_TESTS.search(path) and not _TESTS.search(router[0])):
                    self.mounted[router].append((path, joint))
        self._roots = {(lead(path, module, ""), URLS) for path, one in said.items() for module in one["roots"]}

    def is_plain(self, router: Router) -> bool:
        """Whether the file itself says all: mounted there, on what is mounted nowhere."""
        path, joint = self.mounted[router][0]
        return path == router[0] and self._find(path, joint[0]) not in self.mounted and joint[3] != "include"

    def above(self, router: Router, depth: int = 0) -> tuple[str, str] | None:
        """The path above a router, and the call that says so; None where that is not sure."""
        places = self.mounted.get(router, ())
        made = self._said[router[0]]["makes"].get(router[1])
        if len(places) != 1 or made is None or made[1] is None or router[1] in self._doubtful or depth > _DEEP:
            return None
        path, (on, at, _, by) = places[0]
        if at is None:
            return None
        upper = self._upper(path, on, depth)
        if upper is None:
            return None
        whole = upper + at if by == "include" else upper.rstrip("/") + at.rstrip("/")
        return whole, by if at or by not in INSTEAD else "include_router"

    def _upper(self, path: str, on: str, depth: int) -> str | None:
        """The full path of what a router is mounted on; None where that is not sure."""
        base = self._find(path, on)
        if base is None:
            return "" if on == APPLICATION and on not in self._said[path]["binds"] else None
        made = self._said[base[0]]["makes"].get(base[1])
        if made is None or made[1] is None or base[1] in self._doubtful:
            return None
        if base in self._roots and base not in self.mounted:
            return ""
        if base not in self.mounted:
            return made[1] if made[0] else None
        given = self.above(base, depth + 1)
        if given is None:
            return None
        return given[0] if given[1] in INSTEAD else given[0] + made[1].rstrip("/")

    def _find(self, path: str, child: str) -> Router | None:
        """The router that an expression of a file names; None for what is no router of the checkout."""
        if child.startswith("include:"):
            file = self._lead(path, child.removeprefix("include:"), "")
            return (file, URLS) if URLS in self._said.get(file, _NOTHING)["makes"] else None
        if child.startswith("require:"):
            module, _, taken = child.removeprefix("require:").partition("\0")
            return self._within(self._lead(path, module, ""), taken or "default")
        if child in self._said[path]["makes"]:
            return path, child
        head, _, rest = child.partition(".")
        binds = self._said[path]["binds"]
        bound, tail = (binds.get(child), "") if child in binds else (binds.get(head), rest)
        for longest in sorted(binds, key=len, reverse=True) if bound is None and rest else ():
            if child.startswith(longest + "."):  # import app.users; app.users.router
                bound, tail = binds[longest], child[len(longest) + 1 :]
                break
        if bound is None:
            if rest == "" and head in binds:
                self._doubtful.add(head)
            return None
        return self._bound(path, bound, tail)

    def _bound(self, path: str, bound: Sequence[str], tail: str) -> Router | None:
        module, taken = bound
        inner = self._lead(path, module, taken if taken != "default" else "")
        if not inner:
            return None
        plain = self._lead(path, module, "")
        if taken and inner == plain and not (tail and taken == "default"):  # a name in the module, no module below it
            return None if tail else self._within(inner, taken)
        if "." in tail or not tail:
            return None
        return self._within(inner, tail)

    def _within(self, file: str, name: str) -> Router | None:
        """A router by the name that others know it by; one that is only passed on is doubtful wherever it is made."""
        if not file:
            return None
        one = self._said.get(file)
        gives = one["gives"] if one else {}
        local = gives.get(name, name)
        if one and local in one["makes"]:
            return file, str(local)
        self._doubtful.add(name)
        if name == "default" and one:
            self._doubtful.update(one["makes"])
        return None
