"""One request to an embedding server, over plain HTTP: what it answers, or why there is no answer."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

import orjson

from flywheel.embed import EmbedderDown, ModelMissing
from flywheel.text.waits import wait_of

MOST: Final = 64 << 20
"""Bytes of an answer."""

SAID: Final = 300
"""Characters of a server's words that are repeated."""

AGAIN: Final = 2.0
"""Seconds before the next try where the server names none."""

LONGEST_WAIT: Final = 3600.0
"""Seconds of a wait that is believed."""

_PASSING: Final = (408, 409, 425, 429)
_ADVICE: Final = {
    401: "the key is wrong or missing",
    402: "the account has no credit",
    403: "the key may not use this",
    404: "the model or the address is wrong",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A status that waiting does not change, with the body or the server's reason."""

    status: int
    body: bytes = b""
    reason: str = ""


class Server:
    """An embedding server. Safe to share between threads: a connection lasts for one request."""

    def __init__(self, url: str, *, key: str, seconds: float) -> None:
        """``url`` up to and with ``/v1``; ``key`` "" sends none. Raises ModelMissing for an address that is none."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise ModelMissing(
                f'embed.url must be an address such as "http://127.0.0.1:11434/v1", with the key in the environment; '
                f"it is {parts.scheme}://{parts.hostname or ''}{parts.path}"
            )
        self._parts: SplitResult = parts
        self._key, self._seconds = key, seconds
        self.address = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def post(self, path: str, body: bytes) -> Answered:
        """The answer to a request; redirects are not followed, so that a text goes nowhere else.

        Raises EmbedderDown where it may be another time: no connection, silence, too many requests, a broken answer.
        """
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        with contextlib.closing(self._connection()) as connection:
            sent = False
            try:
                connection.connect()
                sent = True
                connection.request("POST", self._parts.path.rstrip("/") + path, body, headers)
                found = connection.getresponse()
                raw = found.read(MOST + 1)
            except TimeoutError as error:
                told = f"{self.address} did not answer within {self._seconds:g} s"
                raise EmbedderDown(told, after=AGAIN, charged=sent, sent=sent) from error
            except (OSError, http.client.HTTPException) as error:
                told = f"{self.address}: {type(error).__name__}: {error}"[:SAID]
                raise EmbedderDown(told, after=AGAIN, charged=sent, sent=sent) from error
            names = {name.lower(): value for name, value in found.getheaders()}
        if len(raw) > MOST:
            raise EmbedderDown(f"{self.address} answered with more than {MOST >> 20} MB", after=AGAIN, charged=True)
        if found.length:  # what was announced and did not come
            told = f"{self.address} broke off its answer after {len(raw)} bytes"
            raise EmbedderDown(told, after=AGAIN, charged=True)
        if found.status == 200:
            return Answered(status=200, body=raw)
        words = _words(raw)
        words = words.replace(self._key, "[key]") if self._key else words
        reason = f"HTTP {found.status}: {words or 'no reason given'}"
        if found.status >= 500 or found.status in _PASSING:
            raise EmbedderDown(f"{self.address}: {reason}", after=_wait(names))
        advice = _ADVICE.get(found.status)
        return Answered(status=found.status, reason=f"{advice} ({reason})" if advice else reason)

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._seconds, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=self._seconds)


def _wait(headers: Mapping[str, str]) -> float:
    """Seconds that the server asks for; some where it does not."""
    after = wait_of(headers, time.time())
    return AGAIN if after is None else min(after, LONGEST_WAIT)


def _words(raw: bytes) -> str:
    """The server's reason, on one line."""
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return " ".join(raw[:2000].decode("utf-8", "replace").split())[:SAID]
    error = found.get("error", found.get("detail", found)) if isinstance(found, dict) else found
    said = error.get("message", error) if isinstance(error, dict) else error
    return " ".join(str(said).split())[:SAID]
