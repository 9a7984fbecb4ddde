import pytest

from lib.fixtures import *  # noqa: F401,F403
from lib.system.cluster import build_dir
from lib.system.command_line import CommandLine


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def bare(home):
    """The command line of somebody who has no address and no key."""
    return CommandLine(build_dir(), home)


@pytest.fixture
def cli(home, cluster, user):
    """That of `user`."""
    return CommandLine(build_dir(), home, cluster.gateway_url, user.key)


@pytest.fixture
def against(home):
    """The command line with the address of a server that a test starts."""
    return lambda url: CommandLine(build_dir(), home, url, "usr_" + "0" * 38)
