"""Waiting for an event. Tests never sleep: they say what they wait for, and for how long at most."""

import time

PAUSE_SECONDS = 0.02


class TimedOut(AssertionError):
    pass


def wait_for(predicate, timeout=10, what=None):
    """Call `predicate` until it gives something true, and return that; TimedOut after `timeout` seconds.

    An AssertionError inside the predicate counts as "not yet"; the last one is the reason given.
    """
    deadline = time.monotonic() + timeout
    reason = None
    while True:
        try:
            value = predicate()
            if value:
                return value
            reason = f"last value {value!r}"
        except AssertionError as error:
            reason = str(error)
        if time.monotonic() > deadline:
            raise TimedOut(f"{what or predicate} did not happen within {timeout} s: {reason}")
        time.sleep(PAUSE_SECONDS)
