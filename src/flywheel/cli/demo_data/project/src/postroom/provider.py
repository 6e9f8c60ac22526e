"""The mail provider's HTTP interface."""

from __future__ import annotations

from collections.abc import Callable

from postroom.outbox import Mail


class ProviderBusy(Exception):
    """The provider asks us to come back later."""


class Provider:
    """Sends one mail; the idempotency key is the mail's id, so that a second try cannot send twice."""

    def __init__(self, post: Callable[[str, dict], int]):
        self.post = post

    def send(self, mail: Mail, keep_alive: Callable[[], None]) -> None:
        """Hand the mail over. Raises ProviderBusy on 429 and 503."""
        keep_alive()
        status = self.post("/v1/mail", {"to": mail.recipient, "template": mail.template, "key": f"mail-{mail.id}"})
        if status in (429, 503):
            raise ProviderBusy
