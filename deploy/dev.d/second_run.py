#!/usr/bin/python3
"""Which failed tests of a run of black-box tests are run once more, alone (RETRY of `deploy/dev test`).

usage: second_run.py RESULTS MAX      with the JUnit file of pytest; prints the tests, or says on standard error why there are none

A test that fails by chance is a fault too, but it need not cost the whole run. A fault of a process is none by chance: nothing is run
again when the harness has found one, when a fixture has failed, as those that start processes do, or when a failure shows a crash.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

from slowest import part_of

# What a failure shows of a process that has crashed. The harness looks for the reports too, in every log (lib.system.process).
CRASH = re.compile(r"Sanitizer|runtime error:|requirement failed|stack smashing detected|ended with -?[1-9]")


def choose(cases, most):
    """The tests that are run again; raises ValueError with the reason why none is."""
    broken = [part_of(case) for case in cases if case.find("error") is not None]
    failed = {part_of(case): case.find("failure") for case in cases if case.find("failure") is not None}
    crashed = [name for name, failure in failed.items() if CRASH.search(failure.get("message", "") + (failure.text or ""))]
    if broken:
        raise ValueError("a fixture failed, or a process has a fault: " + ", ".join(broken))
    if crashed:
        raise ValueError("a process has crashed: " + ", ".join(crashed))
    if len(failed) > most:
        raise ValueError(f"{len(failed)} tests failed, more than {most}")
    return list(failed)


def main(results, most):
    try:
        print("\n".join(choose(list(ElementTree.parse(results).iter("testcase")), int(most))))
    except ValueError as error:
        sys.exit(f"no test is run again: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
