"""The queue of mail, a table in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass

CLAIM = """
UPDATE outbox SET leased_until = now() + %(lease)s * interval '1 second', attempts = attempts + 1
WHERE id = (
  SELECT id FROM outbox WHERE sent_at IS NULL AND (leased_until IS NULL OR leased_until < now())
  ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1
)
RETURNING id, recipient, template, attempts
"""


@dataclass(frozen=True)
class Mail:
    """One mail that waits."""

    id: int
    recipient: str
    template: str
    attempts: int


class Outbox:
    """Claims, renews and settles mail."""

    def __init__(self, connection, lease_seconds: int = 120):
        self.connection = connection
        self.lease_seconds = lease_seconds

    def claim(self) -> Mail | None:
        """The next mail, leased to this worker; None when nothing waits."""
        row = self.connection.execute(CLAIM, {"lease": self.lease_seconds}).fetchone()
        return Mail(*row) if row else None

    def renew(self, mail: Mail) -> None:
        """Extend the lease while a slow provider is still at work."""
        self.connection.execute(
            "UPDATE outbox SET leased_until = now() + %s * interval '1 second' WHERE id = %s",
            (self.lease_seconds, mail.id),
        )

    def settle(self, mail: Mail) -> None:
        """The mail is sent."""
        self.connection.execute("UPDATE outbox SET sent_at = now() WHERE id = %s", (mail.id,))
