"""Waiting for a condition. Tests never sleep for a fixed time."""

import time

# Between two calls of a predicate, from the first on. A longer wait asks less often: each question takes processor time from what is
# waited for.
PAUSE_SECONDS = (0.01, 0.1)
PAUSE_GROWTH = 1.2

# Long, because machines are shared; a test that waits longer has failed.
PATIENCE_SECONDS = 240


class TimedOut(AssertionError):
    pass


def wait_for(predicate, what=None, patience=PATIENCE_SECONDS):
    """Call `predicate` until its result is true, and return the result; raises TimedOut.

    An AssertionError in the predicate means false; TimedOut quotes the last one.
    """
    deadline = time.monotonic() + patience
    pause, longest = PAUSE_SECONDS
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
            raise TimedOut(f"{what or predicate} did not happen within {patience} s: {reason}")
        time.sleep(pause)
        pause = min(pause * PAUSE_GROWTH, longest)


def after(progress, count, then):
    """Wait until progress() has reached `count`, then call `then`."""
    wait_for(lambda: progress() >= count, f"{count} are done")
    then()
