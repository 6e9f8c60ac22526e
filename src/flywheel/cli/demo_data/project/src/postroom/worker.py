"""Takes mail from the outbox and hands it to the provider."""

from __future__ import annotations

import time

from postroom.outbox import Mail, Outbox
from postroom.provider import Provider, ProviderBusy

RENEW_EVERY = 30


class Worker:
    """One loop: claim, send, settle."""

    def __init__(self, outbox: Outbox, provider: Provider):
        self.outbox = outbox
        self.provider = provider

    def step(self) -> bool:
        """Send one mail; whether there was one."""
        mail = self.outbox.claim()
        if mail is None:
            return False
        self._send(mail)
        return True

    def _send(self, mail: Mail) -> None:
        try:
            self.provider.send(mail, keep_alive=lambda: self.outbox.renew(mail))
        except ProviderBusy:
            return
        self.outbox.settle(mail)


def run(worker: Worker) -> None:
    """Until the process ends."""
    while True:
        if not worker.step():
            time.sleep(1)
