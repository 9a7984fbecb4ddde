import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from lib.schedule import LongestFirst  # here, as unit tests of the tools run where there is no pytest-xdist

    return LongestFirst(config, log) if config.getvalue("dist") == "loadfile" else None
