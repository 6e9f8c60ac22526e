"""From what a parser said about a file to the rows that have to change, and nothing more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from flywheel.codemap.definitions import Definition
from flywheel.codemap.planning import Known
from flywheel.codemap.queries import Mark
from flywheel.model import Clean, FileNames, ModuleEdge, ProjectId, SourceFile, Symbol, evidence_id
from flywheel.text.redact import Redactor
from flywheel.text.shapes import holds_token

_BORDER: Final = "\n\x01\n"


@dataclass(slots=True, kw_only=True)
class Delta:
    """The changes that one file brings: to its own row, its symbols and its edges."""

    path: str
    file: SourceFile | None = None
    names: FileNames | None = None
    removed: Known | None = None
    puts: list[Symbol] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)  # symbols whose text or code differs, not only their lines
    fresh: list[str] = field(default_factory=list)  # of those, the ones that were not there before
    dropped: list[str] = field(default_factory=list)
    edges: list[ModuleEdge] = field(default_factory=list)
    unneeded: list[str] = field(default_factory=list)  # targets whose edge goes
    torn: bool = False  # the rest comes in a later transaction
    rewired: bool = False  # an edge is new, gone, or leads outside instead of inside

    @property
    def weight(self) -> int:
        """How many rows it touches, about."""
        return 1 + len(self.puts) + len(self.changed) + len(self.dropped) + len(self.edges) + len(self.unneeded)


@dataclass(frozen=True, slots=True)
class Place:
    """Where symbols belong."""

    project_id: ProjectId
    checkout: str

    def file_id(self, path: str) -> str:
        """The id of a file's row."""
        return evidence_id("file", self.checkout, path)


def symbols(place: Place, path: str, definitions: Sequence[Definition], redact: Redactor) -> list[Symbol]:
    """Rows for a file's definitions, with signatures and docs redacted; one whose very name is a secret has none."""
    file_id = place.file_id(path)
    definitions = [item for item in definitions if not holds_token(item.qualified)]
    texts = clean_all(redact, [text for item in definitions for text in (item.signature, item.doc)])
    return [
        Symbol(
            id=evidence_id("symbol", place.checkout, path, item.qualified, item.kind, str(item.ordinal)),
            project_id=place.project_id,
            file_id=file_id,
            path=path,
            name=item.name,
            qualified=item.qualified,
            kind=item.kind,
            ordinal=item.ordinal,
            signature=texts[2 * number],
            doc=texts[2 * number + 1],
            start_line=item.start_line,
            stop_line=item.stop_line,
            hash=item.hash,
        )
        for number, item in enumerate(definitions)
    ]


def put_names(place: Place, named: Sequence[tuple[Delta, str]], redact: Redactor) -> None:
    """Give each delta the row for the names that its file uses, redacted."""
    for (delta, _), names in zip(named, clean_all(redact, [names for _, names in named]), strict=True):
        delta.names = FileNames(
            file_id=place.file_id(delta.path), project_id=place.project_id, checkout=place.checkout, names=names
        )


def clean_all(redact: Redactor, texts: Sequence[str]) -> list[Clean]:
    """Every text redacted. One pass over them together tells whether there is anything to take out at all."""
    joined = _BORDER.join(texts)
    if redact.text(joined) == joined and joined.count(_BORDER) == len(texts) - 1:
        return cast(Any, texts)  # type: ignore[no-any-return]  # what redaction leaves as it is, is clean
    return [redact.text(text) for text in texts]


def compare(delta: Delta, now: Iterable[Symbol], before: Mapping[str, Mark]) -> None:
    """Which symbols are new, changed, only moved by some lines, or gone."""
    left = dict(before)
    for symbol in now:
        old = left.pop(symbol.id, None)
        if old == (symbol.hash, symbol.signature, symbol.doc, symbol.start_line, symbol.stop_line):
            continue
        delta.puts.append(symbol)
        if old is None or old[:3] != (symbol.hash, symbol.signature, symbol.doc):
            delta.changed.append(symbol.id)
        if old is None:
            delta.fresh.append(symbol.id)
    delta.dropped.extend(left)


def compare_edges(
    delta: Delta, place: Place, now: Mapping[str, tuple[bool, int]], before: Mapping[str, tuple[bool, int]]
) -> None:
    """Which edges are new or different, and which are gone."""
    delta.edges.extend(
        ModuleEdge(
            project_id=place.project_id, checkout=place.checkout, source=delta.path, target=target,
            external=external, line=line,
        )
        for target, (external, line) in now.items()
        if before.get(target) != (external, line)
    )  # fmt: skip
    delta.unneeded.extend(target for target in before if target not in now)
    delta.rewired = {target: edge[0] for target, edge in now.items()} != {
        target: edge[0] for target, edge in before.items()
    }
