"""The command line of `deploy/dev build` and `test`, in a small tree of its own, with meson and pytest but nothing to compile."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

FILES = {
    "meson.build": """
        project('expops')
        subdir('deploy')
        pass = find_program('true')
        foreach name : ['libcommon/pg/pool', 'libcommon/pg/pool_size', 'libcommon/task/job', 'svc-a/pg/pool']
          test(name, pass, suite: ['unit', name.split('/')[0]])
        endforeach
        test('tools', find_program('false'), suite: ['unit', 'tools'])
        test('lint', pass, suite: 'lint')
    """,
    "deploy/meson.build": """
        foreach name : ['svc-a', 'svc-b']
          custom_target(name, output: name, command: ['touch', '@OUTPUT@'], build_by_default: true)
        endforeach
    """,
    "meson_options.txt": "option('tests', type: 'feature')",
    "deploy/processes": "svc-a a A_URL\nsvc-b b B_URL\n",
    "tests/unit/libcommon/pg/pool_test.c": "",
    "tests/unit/libcommon/pg/pool_size_test.c": "",
    "tests/unit/libcommon/task/job_test.c": "",
    "tests/unit/svc-a/pg/pool_test.c": "",
    "tests/unit/tools/test_dev.py": "",
    "tests/unit/empty/fixture.h": "",
    "tests/pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n",
    "tests/api/svc-a/test_report.py": "def test_report(): pass\ndef test_other(): pass\n",
    "tests/api/svc-b/test_lists.py": "import time\ndef test_lists(): time.sleep(0.2)\n",
    "tests/fault/test_redis.py": "def test_redis(): pass\n",
    "tests/deploy/test_image.py": "def test_image(): pass\ndef test_label(): pass\n",
    "tests/k8s/test_played.py": "def test_played(): pass\n",
    "tests/upgrade/test_upgrade.py": "def test_upgrade(): pass\n",
    "tests/agents/test_pinned_agents.py": "def test_pinned(): pass\n",
}

# What would change the machine, or build the previous version: its tests are made here.
STUBS = """
packages_ensure() { :; }
promtool_ensure() { :; }
engine_start() { :; }
engine_stop() { :; }
engine_base() { :; }
podman_check() { :; }
debian_version() { echo "${DEBIAN_VERSION:-13}"; }
previous_wrap() { :; }
previous_build() {
	local part
	for part in "${PREVIOUS_TESTS[@]}"; do
		mkdir -p "$PREVIOUS/source/tests/$part"
		echo 'def test_previous(): pass' >"$PREVIOUS/source/tests/$part/test_previous.py"
	done
	cp "$ROOT/tests/pytest.ini" "$PREVIOUS/source/tests"
}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(ROOT / "deploy/dev", root / "deploy")
    shutil.copytree(ROOT / "deploy/dev.d", root / "deploy/dev.d")
    (root / "tests/upgrade").mkdir(parents=True, exist_ok=True)
    (root / "tests/upgrade/previous_reader.py").write_text("")
    with (root / "deploy/dev.d/demo.sh").open("a") as last:  # of those that deploy/dev reads
        last.write(STUBS)
    return root


SETTINGS = {"BUILD", "CC", "EXPOPS_BUILD_DIR", "ISOLATE", "RETRY", "TEST_JOBS", "TEST_TIMES"}  # of deploy/dev, which the run that runs this test may have


def dev(tree, *arguments, **settings):
    env = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    env |= {"BUILD": "debug", "TEST_JOBS": "1", **settings}
    return subprocess.run([tree / "deploy/dev", *arguments], env=env, capture_output=True, text=True, check=False)


def ran(done):
    """The tests in the list at the end, which has at most ten."""
    listed = re.search(r"^The slowest of \d+ tests, .*:\n((?: +[0-9.]+ s  .+\n)+)", done.stdout, re.MULTILINE)
    return sorted(re.findall(r" s  (\S+)\n", listed.group(1))) if listed else []


POOLS = ["unit/libcommon/pg/pool", "unit/libcommon/pg/pool_size"]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["unit/libcommon/pg"], POOLS),
        (["tests/unit/libcommon/pg/"], POOLS),
        (["unit/libcommon/pg/pool"], POOLS[:1]),
        (["tests/unit/libcommon/pg/pool_test.c"], POOLS[:1]),
        (["unit/libcommon/task", "unit/svc-a"], ["unit/libcommon/task/job", "unit/svc-a/pg/pool"]),
        (["api/svc-a", "-k", "report"], ["api/svc-a/test_report.py::test_other", "api/svc-a/test_report.py::test_report"]),
        (["api", "--deselect", "api/svc-a"], ["api/svc-b/test_lists.py::test_lists"]),
        (["api/svc-a/test_report.py::test_other"], ["api/svc-a/test_report.py::test_other"]),
        (["-k", "redis or lists"], ["api/svc-b/test_lists.py::test_lists", "fault/test_redis.py::test_redis"]),
        (["unit/svc-a", "api/svc-a", "-k", "test_other"], ["api/svc-a/test_report.py::test_other", "unit/svc-a/pg/pool"]),
    ],
)  # fmt: skip
def test_the_parts_that_run(tree, arguments, expected):
    done = dev(tree, "test", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ran(done) == expected


def test_the_times_of_parts_and_the_slowest_tests_and_files_are_listed(tree):
    done = dev(tree, "test")
    assert done.returncode == 1 and "tests failed (debug: lint unit fault api): lint\n" in done.stderr
    assert re.search(r"^\[ +\d+ s\] unit tests: \d+ s$", done.stdout, re.MULTILINE)
    parts = re.findall(r"^ +\d+ s  (.+)$", done.stdout.partition("\nThe parts:\n")[2], re.MULTILINE)
    assert parts == ["build: debug", "lint", "unit tests", "black-box tests: fault api"]
    assert len(ran(done)) == 10 and "The slowest of 10 tests" in done.stdout
    assert re.search(r"^ +0\.[0-9] s  api/svc-b/test_lists.py::test_lists$", done.stdout, re.MULTILINE)
    assert re.search(r"^ +0\.[0-9] s  api/svc-b/test_lists.py$", done.stdout, re.MULTILINE)


def test_the_units_of_another_build_run_without_the_lint(tree):
    done = dev(tree, "test", "unit")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ran(done) == [*POOLS, "unit/libcommon/task/job", "unit/svc-a/pg/pool"]


def test_the_images(tree):
    done = dev(tree, "test", "deploy", "-k", "label")
    assert done.returncode == 0 and ran(done) == ["deploy/test_image.py::test_label"], done.stdout + done.stderr
    assert re.search(r"\] deployment tests, on debian:trixie-slim: \d+ s$", done.stdout, re.MULTILINE)


def test_the_manifests_of_kubernetes(tree):
    done = dev(tree, "test", "k8s")
    assert done.returncode == 0 and ran(done) == ["k8s/test_played.py::test_played"], done.stdout + done.stderr
    assert re.search(r"\] Kubernetes, played by podman, on docker.io/library/debian:trixie-slim: \d+ s$", done.stdout, re.MULTILINE)
    older = dev(tree, "test", "k8s", DEBIAN_VERSION="12")
    assert older.returncode == 1 and "the podman of Debian 12 cannot play these manifests: run this on Debian 13\n" in older.stderr


def test_the_previous_version(tree):
    done = dev(tree, "test", "upgrade")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"upgrade/test_upgrade.py::test_upgrade", "api/gateway/test_previous.py::test_previous"} <= set(ran(done))
    assert re.search(r"\] upgrade: \d+ s$", done.stdout, re.MULTILINE)
    assert re.search(r"\] tests of the previous version, on the schema of this one: \d+ s$", done.stdout, re.MULTILINE)


def test_the_agents(tree):
    """Nothing is built for them."""
    done = dev(tree, "test", "agents")
    assert done.returncode == 0 and ran(done) == ["agents/test_pinned_agents.py::test_pinned"], done.stdout + done.stderr
    assert re.search(r"^\[ +\d+ s\] agents: \d+ s$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["unit/libcommon/nothing"], "there is no part 'unit/libcommon/nothing'"),
        (["unit/libcommon/po"], "there is no part 'unit/libcommon/po'"),
        (["api/nothing"], "there is no part 'api/nothing'"),
        (["bench"], "there is no part 'bench'"),
        (["deploy", "api"], "there is no part 'deploy'"),
        (["unit/empty"], "there are no unit tests in unit/empty"),
        (["unit/libcommon", "-k", "pool"], "unit tests take no options: -k pool"),
        (["upgrade", "-x"], "upgrade takes no options: -x"),
    ],
)
def test_refused_parts(tree, arguments, message):
    done = dev(tree, "test", *arguments)
    assert done.returncode == 1 and f"deploy/dev: {message}\n" in done.stderr, done.stdout + done.stderr


def test_a_selection_that_is_empty_fails(tree):
    done = dev(tree, "test", "api", "-k", "no_such_test")
    assert done.returncode == 1 and "black-box tests: api" in done.stderr


FAILS_ONCE = """
from pathlib import Path

def test_race():
    mark = Path(__file__).with_name("mark")
    was_there, _ = mark.exists(), mark.touch()
    assert was_there

def test_fault():
    assert {fault}
"""
FAILED_ONCE = "\nFailed once and passed when run again alone: a race in the test or in the product; find it:\n api/svc-c/test_race.py::test_race\n"


@pytest.fixture
def racy(tree):
    """racy(fault="False"): two tests, of which one fails the first time, and the other always does unless `fault` is "True"."""
    folder = tree / "tests/api/svc-c"
    folder.mkdir()
    yield lambda fault: (folder / "test_race.py").write_text(FAILS_ONCE.replace("{fault}", fault))
    shutil.rmtree(folder)


def test_a_test_that_passes_when_run_again_is_listed(tree, racy):
    racy("True")
    done = dev(tree, "test", "api", RETRY="1")
    assert done.returncode == 0 and FAILED_ONCE in done.stdout, done.stdout + done.stderr
    assert "assert was_there" in done.stdout and "Failed tests:" not in done.stderr
    assert re.search(r"^ +\d+ s  failed once and passed alone: api/svc-c/test_race.py::test_race$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("fault, most", [("True", "0"), ("False", "1"), ("False", "2")], ids=["not asked for", "too many", "fails again"])
def test_other_failures_stay(tree, racy, fault, most):
    racy(fault)
    done = dev(tree, "test", "api", RETRY=most)
    assert done.returncode == 1 and FAILED_ONCE not in done.stdout, done.stdout + done.stderr
    assert " FAILED tests/api/svc-c/test_race.py::test_race" in done.stderr


def test_one_process_is_built(tree):
    shutil.rmtree(tree / "build", ignore_errors=True)
    done = dev(tree, "build", "svc-a")
    assert done.returncode == 0 and "built: build/debug/deploy/svc-a\n" in done.stdout, done.stdout + done.stderr
    assert (tree / "build/debug/deploy/svc-a").exists() and not (tree / "build/debug/deploy/svc-b").exists()
    dev(tree, "build")
    assert (tree / "build/debug/deploy/svc-b").exists()
    unknown = dev(tree, "build", "svc-c")
    assert unknown.returncode == 1 and "deploy/dev: there is no process 'svc-c'\n" in unknown.stderr


def test_build_keeps_the_options_of_a_folder_with_tests(tree):
    dev(tree, "test", "unit/svc-a")
    options = tree / "build/debug/.options"
    assert "-Dtests=enabled" in options.read_text()
    assert dev(tree, "build").returncode == 0 and "-Dtests=enabled" in options.read_text()


def test_the_unit_tests_are_built_with_everything(tree):
    shutil.rmtree(tree / "build", ignore_errors=True)
    done = dev(tree, "build", "tests")
    assert done.returncode == 0 and "built: everything, in build/debug\n" in done.stdout, done.stdout + done.stderr
    assert "-Dtests=enabled" in (tree / "build/debug/.options").read_text() and (tree / "build/debug/deploy/svc-b").exists()
