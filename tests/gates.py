"""Long reads of the log that wait until a test releases them."""

import threading

from podium.store import following

TIMEOUT_S = 60.0


class Gate:
    """Reads of more than `few` events wait here until it is `opened`; `count` of them have arrived."""

    def __init__(self, monkeypatch, few=3):
        self.came, self.opened, self.count, self.error = threading.Semaphore(0), threading.Event(), 0, None
        rate = following.rate

        def wait(draft):
            if not following.is_short(draft):
                self.count += 1
                self.came.release()
                assert self.opened.wait(TIMEOUT_S)
                if self.error is not None:
                    raise self.error
            return rate(draft)

        monkeypatch.setattr(following, "SHORT_EVENTS", few)
        monkeypatch.setattr(following, "rate", wait)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.opened.set()

    def has_come(self):
        return self.came.acquire(timeout=TIMEOUT_S)
