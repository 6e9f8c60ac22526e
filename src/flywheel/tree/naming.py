"""How files of the memory tree are called: folders of projects, slugs of pages, places of documents. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from flywheel.model import Category, Project, digest, short_id

LONGEST: Final = 30
"""Characters of a slug: on a line of the cockpit a link to its page leaves room for what to do next and a source,
whatever its type and shelf."""

RAW: Final = "raw"
WIKI: Final = "wiki"
TRANSCRIPTS: Final = "raw/transcripts"
"""Where transcripts are served; no such folder is on the disk."""

AGENTS: Final = "AGENTS.md"
INDEX: Final = "index.md"
LOG: Final = "log.md"
COCKPIT: Final = "cockpit.md"
GLOSSARY: Final = "glossary.md"
DOCUMENTS: Final = "documents.md"

MARKER: Final = "<!-- Flywheel renders this file; what is edited here is put back. -->"
"""The first line of files that are about no single entry, below their front matter: what bears it was rendered once."""

SCRATCH: Final = ".fw-"
"""How the names of files begin that are being written; who watches the folder leaves them out."""

ASIDE: Final = "set-aside"
"""Where refused edits and the originals of dropped files are put; not rendered, not in Git, never served."""

_LETTERS: Final = 12
_UNSAFE: Final = re.compile(r"[^\w .,+@=~()\[\]-]")
_COMPONENT: Final = 120


def folder_name(project: Project) -> str:
    """The folder of a project's tree below ``tree``: its name, and its short id, by which it is found again."""
    return f"{_words(project.name) or 'project'}-{short_id(project.id)}"


def slug_of(title: str, short: str) -> str:
    """What a page about this is called, before numbers: lower-case words of its title with ``-`` in between."""
    slug = _words(title)
    if len(slug) > LONGEST:
        cut = slug[: LONGEST + 1].rpartition("-")[0]
        slug = cut if len(cut) >= LONGEST // 2 else slug[:LONGEST].strip("-")
    return f"page-{slug or short}" if slug in ("", "index") else slug


def numbered(slug: str, number: int) -> str:
    """The slug of the ``number``-th page that would be called so; the first has none."""
    return slug if number < 2 else f"{slug}-{number}"


def page_path(category: Category | str, slug: str) -> str:
    """Where a page lies."""
    return f"{WIKI}/{category}/{slug}.md"


def place_of(path: str) -> tuple[str, str]:
    """The category and the slug of a page, or of a further part of one."""
    _, category, leaf = path.split("/", 2)
    return category, leaf.partition(".")[0]


def part_path(path: str, part: str) -> str:
    """Where a further part of a page lies; slugs have no dots, so that no page is called so."""
    return f"{path.removesuffix('.md')}.{part}.md"


def hub_path(category: Category | str, prefix: str = "") -> str:
    """Where the list of a category's pages whose slugs begin with ``prefix`` lies."""
    return f"{WIKI}/{category}/index.{prefix}.md" if prefix else f"{WIKI}/{category}/{INDEX}"


def transcript_path(agent: str, session_id: str) -> str:
    """Where a session is served."""
    return f"{TRANSCRIPTS}/{agent}-{session_id[:_LETTERS]}.md"


def transcript_session(name: str) -> str:
    """The head of the session's id in a file name of `transcript_path`; "" when it is none."""
    found = re.fullmatch(rf"[\w-]+-([0-9a-f]{{{_LETTERS}}})\.md", name)
    return found[1] if found else ""


def raw_path(path: str) -> str:
    """Where a document lies below ``raw/``; one whose path had to be changed bears a digest of it."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    safe = [_component(part) for part in parts] or ["document"]
    if safe[0] == "transcripts":
        safe[0] = "transcripts_"
    if safe != parts:
        stem, dot, end = safe[-1].rpartition(".")
        mark = digest(path)[:6]
        safe[-1] = f"{stem}~{mark}.{end}" if dot and stem else f"{safe[-1]}~{mark}"
    return "/".join((RAW, *safe))


def crowded_out(path: str, id: str) -> str:
    """Another place for a document, where a folder or somebody's own file is in the way: without folders, marked."""
    head, dot, end = path.removeprefix(f"{RAW}/").replace("/", "~")[-_COMPONENT:].rpartition(".")
    mark = digest(id)[:6]
    return f"{RAW}/{head}~{mark}.{end}" if dot and head else f"{RAW}/{end}~{mark}"


def _component(part: str) -> str:
    cleaned = _UNSAFE.sub("_", part).strip(" ")
    if cleaned.startswith("."):
        cleaned = f"_{cleaned[1:]}"
    while len(cleaned.encode("utf-8", "replace")) > _COMPONENT:
        cleaned = cleaned[:-1]
    return cleaned or "_"


def _words(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain.replace("'", "")))[:200].strip("-")
