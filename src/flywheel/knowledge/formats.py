"""Files as text: Markdown as it is; mail, captions, HTML and JSON as the lines that a person would read. Pure.

What is understood of each: the text, where its body begins (behind front matter or a mail's head), and what its head
says of its date and title.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from typing import Any, Final

from flywheel.errors import BadInput

EXTENSIONS: Final = (
    ".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".adoc", ".org", ".log", ".eml", ".vtt", ".srt", ".html",
    ".htm", ".json", "",
)  # fmt: skip
"""What is read; "" is a name without one, as README."""

LONGEST: Final = 1 << 20
"""Bytes of a file, and characters of its text."""

_FRONT: Final = re.compile(r"\ufeff?---[ \t]*\n(?P<inside>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD: Final = re.compile(r"^(?P<key>[A-Za-z][\w -]*?)[ \t]*:[ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE)
_CUE: Final = re.compile(r"(?:\d+:)?\d\d:\d\d[.,]\d{3}\s+-->\s+(?:\d+:)?\d\d:\d\d[.,]\d{3}.*")
_VOICE: Final = re.compile(r"<v(?:\.[\w.]+)?\s+(?P<name>[^>]{1,60})>")
_TAG: Final = re.compile(r"</?[a-z][^>]{0,80}>")
_TEXTS: Final = ("text", "content", "body", "message", "msg", "value")
_NAMES: Final = ("user", "author", "name", "from", "sender", "speaker", "username", "user_name", "real_name", "role")
_TIMES: Final = ("ts", "timestamp", "date", "time", "created_at", "createdAt", "sent_at", "datetime")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """A file's text, and what its head says. ``begins`` is where statements are looked for from."""

    text: str
    begins: int = 0
    head: Mapping[str, str] = field(default_factory=dict)  # lower-case keys
    talk: bool = False  # lines begin with who speaks


def readable(name: str, data: bytes) -> Readable:
    """The text of a file by its name's extension. Raises BadInput for what is no text, or of another sort."""
    extension = extension_of(name)
    if extension not in EXTENSIONS:
        known = ", ".join(one for one in EXTENSIONS if one)
        raise BadInput(f"{name} is no document that is read; those are {known}", field="path")
    if len(data) > LONGEST:
        raise BadInput(f"{name} is larger than {LONGEST >> 20} MB; add its parts", field="path")
    if extension == ".eml":
        return _mail(data)
    text = _decoded(name, data)
    if extension in (".vtt", ".srt"):
        return Readable(text=_captions(text), talk=True)
    if extension in (".html", ".htm"):
        return _page(text)
    if extension == ".json":
        return _json(name, text)
    return front_matter(text)


def extension_of(name: str) -> str:
    """The lower-case extension of a path's last part, with its dot; "" when it has none."""
    last = name.rpartition("/")[2]
    stem, dot, extension = last.rpartition(".")
    return f".{extension.lower()}" if dot and stem else ""


def front_matter(text: str) -> Readable:
    """Text that may begin with a block of ``key: value`` lines between two ``---``."""
    found = _FRONT.match(text)
    if found is None:
        return Readable(text=text)
    head = {one["key"].strip().lower(): one["value"].strip("\"'") for one in _FIELD.finditer(found["inside"])}
    return Readable(text=text, begins=found.end(), head=head)


def _decoded(name: str, data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16").replace("\r\n", "\n")
        except UnicodeDecodeError:
            pass
    try:
        if b"\0" in data:
            raise ValueError
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except ValueError as error:
        raise BadInput(f"{name} is no text in UTF-8; save it as text and add it again", field="path") from error


def _mail(data: bytes) -> Readable:
    mail = message_from_bytes(data, policy=policy.default)
    subject, sender, sent = (str(mail.get(key) or "").strip() for key in ("subject", "from", "date"))
    if not (subject or sender or sent):
        raise BadInput("this file is no mail: it has no head", field="path")
    head = {"title": subject}
    with contextlib.suppress(ValueError, TypeError):
        head["date"] = parsedate_to_datetime(sent).astimezone(UTC).isoformat()
    top = f"# {subject}\n\nFrom: {sender}\nDate: {sent}\n\n"
    return Readable(text=top + _body(mail), begins=len(top), head=head)


def _body(mail: EmailMessage) -> str:
    part = mail.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, ValueError):
        return ""
    return _page(text).text if part.get_content_type() == "text/html" else text.replace("\r\n", "\n")


def _captions(text: str) -> str:
    """Who says what, a line for each speaker's turn."""
    lines: list[str] = []
    speaker = ""
    for block in re.split(r"\n\s*\n", text):
        rows = [row for row in block.strip().splitlines() if row.strip()]
        if not rows or rows[0].startswith(("WEBVTT", "NOTE", "STYLE", "REGION")):
            continue
        cue = next((number for number, row in enumerate(rows) if _CUE.match(row.strip())), None)
        if cue is None:
            continue
        said = " ".join(row.strip() for row in rows[cue + 1 :])
        voice = _VOICE.search(said)
        words = " ".join(_TAG.sub("", said).split())
        if voice is not None:
            words = f"{voice['name'].strip()}: {words}"
        named = re.match(r"[A-Z][\w .'-]{0,40}:\s", words)
        who = named.group() if named is not None else ""
        if lines and (not who or who == speaker):
            lines[-1] += " " + words[len(who) :]
        else:
            lines.append(words)
        speaker = who or speaker
    return "\n\n".join(lines) + "\n"


_BLOCKS: Final = frozenset(
    {
        *(
            "p",
            "div",
            "section",
            "article",
            "header",
            "footer",
            "main",
            "ul",
            "ol",
            "table",
            "tbody",
            "thead",
            "tr",
            "dl",
        ),
        *("blockquote", "br", "hr", "dt", "dd", "figure", "figcaption", "address"),
    }
)
_HIDDEN: Final = frozenset({"script", "style", "noscript", "template", "svg", "nav", "head"})


class _Page(HTMLParser):
    """HTML as Markdown, near enough: headings, items, rows, code."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self.date = ""
        self._hidden = 0
        self._titled = False
        self._kept = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "title":
            self._titled = True
        elif tag == "meta" and (given.get("name") or given.get("property") or "").lower() in (
            "date", "dcterms.date", "article:published_time", "article:modified_time", "last-modified",
        ):  # fmt: skip
            self.date = given.get("content") or self.date
        elif tag == "time" and not self.date:
            self.date = given.get("datetime") or ""
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.parts.append("\n\n" + "#" * int(tag[1]) + " ")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in ("td", "th"):
            self.parts.append("| ")
        elif tag == "pre":
            self._kept += 1
            self.parts.append("\n\n```\n")
        elif tag in _BLOCKS:
            self.parts.append("\n" if tag in ("tr", "br") else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._titled = False
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in ("td", "th"):
            self.parts.append(" ")
        elif tag == "tr":
            self.parts.append("|")
        elif tag == "pre":
            self._kept = max(0, self._kept - 1)
            self.parts.append("\n```\n\n")
        elif tag in _BLOCKS or tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.parts.append("\n\n" if tag not in ("li", "br") else "")

    def handle_data(self, data: str) -> None:
        if self._titled:
            self.title += data
        elif not self._hidden:
            self.parts.append(data if self._kept else re.sub(r"\s+", " ", data))


def _page(text: str) -> Readable:
    page = _Page()
    page.feed(text)
    page.close()
    lines = [line.strip() for line in "".join(page.parts).split("\n")]
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
    head = {"title": " ".join(page.title.split())} if page.title.strip() else {}
    return Readable(text=body, head=head | ({"date": page.date} if page.date else {}))


def _json(name: str, text: str) -> Readable:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadInput(f"{name} is no JSON: {error}", field="path") from error
    messages = _messages_in(value)
    if messages:
        return Readable(text="\n\n".join(messages) + "\n", talk=True, head=_head_of(value))
    return Readable(text="\n".join(_flat(value, "")) + "\n", head=_head_of(value))


def _head_of(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict):
        return {}
    return {key: value[key] for key in ("title", "date", "kind") if isinstance(value.get(key), str)}


def _messages_in(value: Any) -> list[str]:
    """The messages of a chat export, as "[2026-05-01 10:02] Name: text"."""
    if isinstance(value, dict):
        held = next((value[key] for key in ("messages", "conversation", "items", "events") if key in value), None)
        value = held if isinstance(held, list) else None
    if not isinstance(value, list) or not value:
        return []
    found = [_message(one) for one in value if isinstance(one, dict)]
    return [line for line in found if line] if sum(map(bool, found)) * 2 > len(value) else []


def _message(one: Mapping[str, Any]) -> str:
    said = next((one[key] for key in _TEXTS if isinstance(one.get(key), str) and one[key].strip()), "")
    who: Any = next((one[key] for key in _NAMES if one.get(key)), "")
    if isinstance(who, dict):
        who = next((who[key] for key in ("name", "real_name", "username", "id") if isinstance(who.get(key), str)), "")
    if not said or not isinstance(who, str) or not who:
        return ""
    at = next((moment for key in _TIMES if (moment := _moment(one.get(key)))), "")
    return f"{f'[{at}] ' if at else ''}{who}: {' '.join(said.split())}"


def _moment(value: Any) -> str:
    """A time of a chat export as "2026-05-01 10:02"."""
    try:
        if isinstance(value, str) and not re.fullmatch(r"\d{9,}(?:\.\d+)?", value):
            return datetime.fromisoformat(value).strftime("%Y-%m-%d %H:%M")
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            seconds = float(value)
            seconds = seconds / 1000 if seconds > 1e11 else seconds
            return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M") if seconds > 1e8 else ""
    except (ValueError, OverflowError, OSError):
        pass
    return ""


def _flat(value: Any, path: str) -> Iterator[str]:
    """A JSON value as "path: value" lines."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(inner, path)
    elif value is not None and value != "":
        shown = "true" if value is True else "false" if value is False else str(value)
        yield f"{path}: {' '.join(shown.split())}" if path else shown
