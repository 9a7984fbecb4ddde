"""Waiting for an event. Tests never sleep: they say what they wait for."""

import time

PAUSE_SECONDS = 0.02

# The end of hope, not a promise about speed: machines are shared.
PATIENCE_SECONDS = 240


class TimedOut(AssertionError):
    pass


def wait_for(predicate, what=None):
    """Call `predicate` until it gives something true, and return that; TimedOut when it never does.

    An AssertionError inside the predicate counts as "not yet"; the last one is the reason given.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
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
            raise TimedOut(f"{what or predicate} did not happen within {PATIENCE_SECONDS} s: {reason}")
        time.sleep(PAUSE_SECONDS)
