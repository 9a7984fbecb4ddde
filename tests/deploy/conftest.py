import pytest

from lib.system.deployment import Deployment, build_images, free_address


@pytest.fixture(scope="session")
def images():
    build_images()


@pytest.fixture(scope="module")
def deploy(images, tmp_path_factory):
    """deploy(listen=None, **scale): the product as compose runs it, with so many replicas of the named processes."""
    made = []

    def start(listen=None, **scale):
        made.append(Deployment(tmp_path_factory.mktemp("deployment"), listen or free_address()))
        made[-1].up(**scale)
        return made[-1]

    yield start
    for one in made:
        one.down()


@pytest.fixture(scope="module")
def deployment(deploy):
    """One replica of each process."""
    return deploy()
