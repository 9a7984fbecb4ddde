import pytest

from lib.deployment import Deployment, build_images


@pytest.fixture(scope="session")
def images():
    build_images()


@pytest.fixture(scope="session")
def deployment(images, tmp_path_factory):
    """The product as compose runs it, one replica of each process."""
    made = Deployment(tmp_path_factory.mktemp("deployment"))
    try:
        made.up()
        yield made
    finally:
        made.down()
