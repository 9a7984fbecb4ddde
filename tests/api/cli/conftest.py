import pytest

from lib.fixtures import run_cluster
from lib.scenario.sample import load_sample
from lib.system.cluster import Cluster, build_dir
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


@pytest.fixture(scope="session")
def library():
    """A cluster with the sample papers."""
    with run_cluster(Cluster(1)) as made:
        load_sample(made)
        yield made


@pytest.fixture
def reader(home, library):
    """The command line of a new user of the library, whose one interest has recommendations."""
    user = library.user()
    cli = CommandLine(build_dir(), home, library.gateway_url, user.key)
    cli.api = user.api
    cli.run("interest", "add", "Question answering", "--context", "-",
            input="Retrieval-augmented generation: dense and hybrid retrieval that finds better evidence for answers.")  # fmt: skip
    cli.run("refresh", "-w")
    return cli
