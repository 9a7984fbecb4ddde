"""deploy/dev.d/second_run.py: a few tests that failed by chance run again, and no fault of a process is passed over."""

import importlib.util
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from lib.system.process import REPORTS

FOLDER = Path(__file__).resolve().parents[3] / "deploy/dev.d"


@pytest.fixture(scope="module")
def choose():
    sys.path.append(str(FOLDER))  # of slowest.py
    spec = importlib.util.spec_from_file_location("second_run", FOLDER / "second_run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(FOLDER))
    return module.choose


def case(name, inner=""):
    return ElementTree.fromstring(f'<testcase classname="api.svc-a.test_x" name="{name}" time="1">{inner}</testcase>')


def failure(text="assert 1 == 2", message="AssertionError"):
    return f'<failure message="{message}">{text}</failure>'


PASSED = case("test_passed")


def test_those_that_failed_are_run_again(choose):
    assert choose([PASSED, case("test_a[1-x]", failure()), case("test_b", failure())], 2) == [
        "api/svc-a/test_x.py::test_a[1-x]", "api/svc-a/test_x.py::test_b"]


def test_more_than_that_are_not(choose):
    with pytest.raises(ValueError, match="3 tests failed, more than 2"):
        choose([case(name, failure()) for name in "abc"], 2)


@pytest.mark.parametrize("phase", ["setup", "teardown"])
def test_an_error_of_a_fixture_stays(choose, phase):
    error = f'<error message="failed on {phase} with &quot;AssertionError: faults of processes&quot;">text</error>'
    with pytest.raises(ValueError, match="or a process has a fault: api/svc-a/test_x.py::test_a"):
        choose([case("test_a", failure()), case("test_a", error)], 2)


@pytest.mark.parametrize("text", [*REPORTS, "RuntimeError: svc-search ended with -6:"])
@pytest.mark.parametrize("where", ["text", "message"])
def test_a_crash_stays(choose, where, text):
    with pytest.raises(ValueError, match="a process has crashed: api/svc-a/test_x.py::test_a"):
        choose([case("test_a", failure(**{where: text})), case("test_b", failure())], 2)
