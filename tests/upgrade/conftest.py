import os
from pathlib import Path

import pytest

from lib import fixtures


def pytest_configure(config):
    fixtures.register(config)


@pytest.fixture(scope="session")
def previous_source():
    """The tree of the previous version."""
    return Path(os.environ["EXPOPS_PREVIOUS"]) / "source"


@pytest.fixture(scope="session")
def previous_build():
    """Its build."""
    return Path(os.environ["EXPOPS_PREVIOUS_BUILD"])
