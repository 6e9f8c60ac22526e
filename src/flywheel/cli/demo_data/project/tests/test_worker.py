from postroom.outbox import Mail
from postroom.provider import Provider
from postroom.worker import Worker


class FakeOutbox:
    def __init__(self):
        self.waiting = [Mail(1, "a@example.org", "welcome", 1)]
        self.settled = []

    def claim(self):
        return self.waiting.pop() if self.waiting else None

    def renew(self, mail):
        pass

    def settle(self, mail):
        self.settled.append(mail.id)


def test_a_busy_provider_leaves_the_mail_for_later():
    outbox = FakeOutbox()
    assert Worker(outbox, Provider(lambda path, body: 429)).step()
    assert outbox.settled == []


def test_a_sent_mail_is_settled():
    outbox = FakeOutbox()
    assert Worker(outbox, Provider(lambda path, body: 202)).step()
    assert outbox.settled == [1]
