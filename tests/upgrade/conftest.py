import os
from pathlib import Path

import pytest

from lib.fixtures import *  # noqa: F401,F403


@pytest.fixture(scope="session")
def former_source():
    """The tree of the former version."""
    return Path(os.environ["EXPOPS_FORMER"]) / "source"


@pytest.fixture(scope="session")
def former_build():
    """Its build."""
    return Path(os.environ["EXPOPS_FORMER_BUILD"])
