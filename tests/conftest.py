import os

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from lib.schedule import LongestFirst  # here, as unit tests of the tools run where there is no pytest-xdist

    return LongestFirst(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_runtest_logreport(report):
    """Append a failure at once to the file EXPOPS_FAILURES: pytest shows them at the end, which may be an hour later."""
    path = os.environ.get("EXPOPS_FAILURES")
    if report.failed and path and "PYTEST_XDIST_WORKER" not in os.environ:
        with open(path, "a") as file:
            print(f"{report.nodeid}, {report.when}\n{report.longreprtext}\n", file=file)
