"""What the worker starts: which engine, with which limits, and what code of an account can reach from inside."""

import os
import re
import shutil
import subprocess
import tarfile
import uuid
from pathlib import Path

import pytest

from lib.scenario.evalenv import worker
from lib.wait import wait_for

BUILDS, RUNS, TEMPLATES = "/eval-env/builds", "/eval-env/runs", "/eval-env/templates"
ENGINES = ("podman", "docker", "buildah")
SECRET = "whsec_" + "QUJD" * 10
ZERO = (1, 5)  # the numbers of /dev/zero

# Prints what is asked for, a line each.
PROBE = r"""
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[1 << 20];

static size_t read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file)
		fclose(file);
	text[length] = 0;
	return length;
}

static void show(const char *path)
{
	read_file(path);
	printf("%s", text);
}

static void processes(const char *secret)
{
	DIR *proc = opendir("/proc");
	int count = 0, told = 0;
	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		static const char *const FILES[] = {"environ", "cmdline"};
		char path[300];
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		count++;
		for (int i = 0; i < 2; i++) {
			snprintf(path, sizeof(path), "/proc/%s/%s", entry->d_name, FILES[i]);
			told += memmem(text, read_file(path), secret, strlen(secret)) != NULL;
		}
	}
	printf("processes %d told %d\n", count, told);
}

/* The secret, which is in no command line so. */
static char *reversed(char *from)
{
	size_t length = strlen(from);
	char *to = calloc(1, length + 1);
	for (size_t i = 0; i < length; i++)
		to[i] = from[length - 1 - i];
	return to;
}

static int show_device(const char *path, const struct stat *is, int kind, struct FTW *at)
{
	if (S_ISBLK(is->st_mode) || S_ISCHR(is->st_mode))
		printf("%s %s\n", S_ISBLK(is->st_mode) ? "block" : "character", path);
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '/') {
			show(argv[i]);
		} else if (strcmp(argv[i], "fork") == 0) {
			int made = 0;
			while (made < 2000 && (argc = fork()) >= 0) {
				if (argc == 0)
					return pause();
				made++;
			}
			printf("made %d processes\n", made);
			return 0;
		} else if (strcmp(argv[i], "exit") == 0) {
			return atoi(argv[i + 1]);
		} else if (strcmp(argv[i], "devices") == 0) {
			nftw("/dev", show_device, 20, FTW_PHYS);
		} else if (strcmp(argv[i], "read") == 0) {
			int file = open(argv[++i], O_RDONLY);
			printf("read %d\n", file >= 0 && read(file, text, 1) >= 0);
		} else if (strcmp(argv[i], "make") == 0) {
			printf("made %d\n", open(argv[++i], O_RDWR | O_CREAT | O_EXCL, 0600) >= 0);
		} else if (strcmp(argv[i], "segment") == 0) {
			printf("made %d\n", shmget(atoi(argv[++i]), 4096, IPC_CREAT | IPC_EXCL | 0600) >= 0);
		} else if (strcmp(argv[i], "leave") == 0) {
			/* A chroot in a chroot: the working directory is outside of it. */
			printf("chroot %d\n", mkdir("/inner", 0700) == 0 && chroot("/inner") == 0);
			for (int up = 0; up < 20; up++)
				(void)!chdir("..");
			printf("again %d\n", chroot(".") == 0);
		} else if (strcmp(argv[i], "memory") == 0) {
			for (int mb = 0; mb < 1000; mb++)
				*(void *volatile *)text = memset(malloc(1 << 20), 1, 1 << 20);
			printf("has a gigabyte\n");
		} else if (argv[i][0] == '$') {
			char *value = getenv(argv[i] + 1);
			printf("[%s]\n", value ? value : "");
		} else {
			processes(reversed(argv[i]));
		}
	}
	return 0;
}
"""


@pytest.fixture
def work(cluster, user, tmp_path):
    """work(**settings): a worker of the account, which is running."""
    programs = []

    def start(**settings):
        program = worker(cluster, user.key, tmp_path / f"worker-{len(programs)}", **settings)
        programs.append(program)
        program.start()
        return program

    yield start
    for program in programs:
        if program.popen.poll() != 2:
            program.stop()
            assert not program.check()


@pytest.fixture
def run(api):
    """run(spec, **members): a run as it has ended."""

    def make(spec, **members):
        template = api.post(TEMPLATES, {"name": str(uuid.uuid4()), "spec": {"image": "i:1", **spec}}, expect=201).json()
        one = api.post(RUNS, {"template_id": template["template_id"], **members}, expect=201).json()["run_id"]
        read = lambda: (it := api.get(f"{RUNS}/{one}", expect=200).json())["finished_at"] and it  # noqa: E731
        return wait_for(read, f"{one} has ended")

    return make


# ---- the words that engines get ----


@pytest.fixture
def fakes(tmp_path):
    """fakes(**programs): a PATH that begins with programs, each a script."""

    def make(**programs):
        folder = tmp_path / "bin"
        folder.mkdir()
        for name, script in programs.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    return make


INFO = "case $3 in *Driver*) echo overlay;; *Root*) pwd;; esac"
WORKS = f'case $1 in version) exit 0;; info) {INFO};; from) echo container;; rm);; ' '*) printf "<%s>" "${0##*/}" "$@"; echo;; esac'
FAILS = "exit 1"


def words(printed):
    return re.findall(r"<([^>]*)>", printed)


@pytest.mark.parametrize(
    ("working", "expected"),
    [(ENGINES, "podman"), (("docker", "buildah"), "docker"), (("buildah",), "buildah"), (("podman", "buildah"), "podman")],
)
def test_the_first_engine_that_works(work, run, fakes, working, expected):
    work(PATH=fakes(**{name: WORKS if name in working else FAILS for name in ENGINES}))
    assert words(run({"command": ["x"]})["log_tail"])[0] == expected


def test_an_engine_that_is_named(work, run, fakes):
    path = fakes(**dict.fromkeys(ENGINES, WORKS))
    work(PATH=path, CONTAINER_ENGINE="docker")
    assert words(run({"command": ["x"]})["log_tail"])[0] == "docker"


@pytest.mark.parametrize(("settings", "message"), [({}, "neither podman, docker nor buildah works here"),
                                                   ({"CONTAINER_ENGINE": "podman"}, 'CONTAINER_ENGINE: "podman" does not work'),
                                                   ({"CONTAINER_ENGINE": "x; true"}, "is none of podman, docker and buildah")])  # fmt: skip
def test_no_engine_works(work, fakes, settings, message):
    program = work(PATH=fakes(**dict.fromkeys(ENGINES, FAILS)), **settings)
    assert program.popen.wait(60) == 2 and message in program.log()


RESOURCES = {
    "defaults": ({}, ("512", "1", "2048m"), True),
    "all": ({"cpus": 2.5, "memory_mb": 300, "pids": 7, "network": True}, ("7", "2.5", "300m"), False),
    "whole numbers": ({"cpus": 2, "memory_mb": 1024.0, "pids": 1e2, "network": False}, ("100", "2", "1024m"), True),
}


@pytest.mark.parametrize("engine", ["podman", "docker"])
@pytest.mark.parametrize("case", RESOURCES)
def test_a_run_of_an_engine(work, run, fakes, engine, case):
    resources, (pids, cpus, memory), is_alone = RESOURCES[case]
    work(PATH=fakes(**{name: WORKS if name == engine else FAILS for name in ENGINES}))
    it = run({"command": ["a b", "--net"], "resources": resources, "env": {"ONE": "1 2", "TWO": "1\n2\n\n"}})
    assert it["status"] == "succeeded", it
    started, *options = words(it["log_tail"])
    assert started == engine and options[:3] == ["run", "--name", f"expops-{it['run_id']}-1"]
    assert options[3:6:2] == ["--env-file", "--volume"] and options[6].endswith("/work:/work")
    assert options[7:10] == ["--security-opt", "no-new-privileges", "--cap-drop"]
    limits = ["ALL", "--pids-limit", pids, "--cpus", cpus, "--memory", memory, "--memory-swap", memory]
    network = ["--network", "none"] if is_alone else []
    assert options[10:] == [*limits, *network, "--env", "TWO=1\n2\n\n", "i:1", "a b", "--net"]


ENDS = 'case $1 in version|kill|rm) ;; container) printf "%s" "{}";; *) exit {};; esac'


@pytest.mark.parametrize("engine", ["podman", "docker"])
@pytest.mark.parametrize(("status", "started", "kind"), [
    (125, "", "environment"), (125, "0001-01-01 00:00:00 +0000 UTC", "environment"), (125, "0001-01-01T00:00:00Z", "environment"),
    (125, "2026-01-02T03:04:05Z", "task"), (137, "2026-01-02T03:04:05Z", "task"), (127, "", "task")])
def test_whose_fault_a_status_is(work, run, fakes, engine, status, started, kind):
    work(PATH=fakes(**{name: ENDS.format(started, status) if name == engine else FAILS for name in ENGINES}))
    it = run({"command": ["x"]})
    assert (it["status"], it["error"]["kind"]) == ("failed", kind), it


@pytest.mark.parametrize("engine", ["podman", "docker"])
def test_a_build_of_an_engine(api, work, fakes, engine):
    work(PATH=fakes(**{name: WORKS if name == engine else FAILS for name in ENGINES}))
    one = api.post(BUILDS, {"containerfile": "FROM x\n", "no_cache": True, "build_args": {"A": "1\n2"}}, expect=201).json()["build_id"]
    it = wait_for(lambda: (it := api.get(f"{BUILDS}/{one}", expect=200).json())["finished_at"] and it, "it has ended")
    options = ["build", "--iidfile", "digest", "--tag", f"localhost/expops:{one}", "--file", "Containerfile"]
    assert words(it["log_tail"]) == [engine, *options, "--build-arg", "A=1\n2", "context"]


OF_ENGINES = "env | sed -n -E 's/^((XDG|CONTAINER|DOCKER).*)/<\\1>/p'"
IN_HOME = {"XDG_DATA_HOME": ".local/share", "XDG_CONFIG_HOME": ".config", "DOCKER_CONFIG": ".docker"}
NOT_IN_HOME = ("XDG_RUNTIME_DIR", "CONTAINERS_STORAGE_CONF", "CONTAINER_HOST", "DOCKER_HOST")


@pytest.mark.parametrize("engine", ["podman", "docker"])
@pytest.mark.parametrize("given", [{}, dict.fromkeys((*IN_HOME, *NOT_IN_HOME), "/x $y")], ids=["none", "all"])
def test_an_engine_finds_its_images(api, work, run, fakes, tmp_path, monkeypatch, engine, given):
    """They are in the worker's home, which is not that of a script, with its settings and logins. It is probed with the same."""
    home = tmp_path / "h o'me"
    values = {**{name: f"{home}/{folder}" for name, folder in IN_HOME.items()}, **given}
    expected = sorted(f"{name}={value}" for name, value in values.items())
    (home / ".docker").mkdir(parents=True)
    (home / ".docker" / "config.json").write_text("{}")
    for name in (*IN_HOME, *NOT_IN_HOME):
        monkeypatch.delenv(name, raising=False)
    fake = f'[ "$XDG_DATA_HOME" ] && [ "$HOME" != "{home}" ] || exit 1; {OF_ENGINES}'
    work(PATH=fakes(**{**dict.fromkeys(ENGINES, FAILS), engine: fake}, git=f"{OF_ENGINES}; mkdir -p context"), HOME=str(home), **given)
    it = run({"command": ["x"]})
    assert it["status"] == "succeeded" and sorted(words(it["log_tail"])) == expected, it
    one = api.post(BUILDS, {"repo": "a/b", "containerfile": "FROM x", "no_cache": True}, expect=201).json()["build_id"]
    made = wait_for(lambda: (it := api.get(f"{BUILDS}/{one}", expect=200).json())["finished_at"] and it, "it has ended")
    assert sorted(words(made["log_tail"])) == expected, "once: git has none of them"


def test_a_template_that_asks_for_too_much(work, run, fakes):
    work(PATH=fakes(podman=WORKS), RUN_CPUS_MAX="2", RUN_MEMORY_MAX="1GiB", RUN_MEMORY="1GiB", RUN_PIDS_MAX="600")
    for resources, what in (({"cpus": 2.1}, "processors"), ({"memory_mb": 1025}, "memory"), ({"pids": 601}, "processes")):
        message = f"The template asks for more {what} than this worker gives."
        assert run({"resources": resources})["error"] == {"kind": "environment", "message": message}
    assert run({"resources": {"cpus": 2, "memory_mb": 1024, "pids": 600}})["status"] == "succeeded"


@pytest.mark.parametrize(("failing", "what"), [("unshare", "PID and network namespaces"), ("mount", "mounts that hide the devices")])
def test_buildah_that_confines_nothing(work, run, fakes, failing, what):
    """As in a container that may make no namespaces, or no mounts."""
    path = fakes(podman=FAILS, docker=FAILS, buildah=WORKS, **{failing: FAILS})
    program = work(PATH=path)
    assert program.popen.wait(60) == 2
    assert f"buildah confines nothing here, because this process may make no {what}" in program.log()
    assert "ALLOW_UNCONFINED" in program.log()
    work(PATH=path, ALLOW_UNCONFINED="true")
    it = run({"command": ["x"]})
    assert it["status"] == "succeeded" and words(it["log_tail"])[:2] == ["buildah", "run"]


# ---- from inside ----


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """Of the probe, for buildah on this machine."""
    if os.environ.get("EXPOPS_TEST_NO_BUILDER") == "1" or not shutil.which("buildah"):
        pytest.skip("there is no buildah")
    folder, name = tmp_path_factory.mktemp("probe"), f"localhost/expops-probe:{uuid.uuid4()}"
    (folder / "probe.c").write_text(PROBE)
    (folder / "Containerfile").write_text("FROM scratch\nCOPY probe /probe\nADD node.tar /\n")
    with tarfile.open(folder / "node.tar", "w") as archive:
        node = tarfile.TarInfo("node")
        node.type, node.mode, (node.devmajor, node.devminor) = tarfile.CHRTYPE, 0o666, ZERO
        archive.addfile(node)
    subprocess.run(["cc", "-static", "-O1", "-w", "-D_GNU_SOURCE", "-o", folder / "probe", folder / "probe.c"], check=True)
    subprocess.run(["buildah", "build", "--isolation", "chroot", "-q", "-t", name, folder], check=True, capture_output=True)
    yield name
    subprocess.run(["buildah", "rmi", "--force", name], check=True, capture_output=True)


@pytest.fixture
def probe(work, run, image):
    """probe(words, **resources): what the probe prints in a run, and the run."""
    work(CONTAINER_ENGINE="buildah", WEBHOOK_SECRETS=SECRET)

    def look(asked, resources=None, **spec):
        it = run({"image": image, "command": ["/probe", *asked], **({} if resources is None else {"resources": resources}), **spec})
        groups = Path("/sys/fs/cgroup").glob(f"**/expops/*{it['run_id']}*")
        assert not list(groups), "its groups are gone"
        return it["log_tail"], it

    return look


@pytest.fixture
def build(api):
    """build(containerfile): a build as it has ended. Its image is removed."""
    images = []

    def make(containerfile):
        one = api.post(BUILDS, {"containerfile": containerfile, "no_cache": True}, expect=201).json()["build_id"]
        it = wait_for(lambda: (it := api.get(f"{BUILDS}/{one}", expect=200).json())["finished_at"] and it, "it has ended")
        images.append(it["image"])
        return it

    yield make
    subprocess.run(["buildah", "rmi", "--force", *filter(None, images)], check=False, capture_output=True)


def test_a_run_reads_no_secret(probe, user):
    printed, _ = probe([user.key[::-1], SECRET[::-1]])
    for line in printed.splitlines():
        count, told = map(int, re.fullmatch(r"processes (\d+) told (\d+)", line).groups())
        assert 1 <= count < 10 and told == 0


DEVICES = {f"character /dev/{name}" for name in ("full", "null", "pts/ptmx", "random", "tty", "urandom", "zero")}


def can_read(path):
    try:
        path.open("rb").close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def disk():
    """A block device of this machine that root may read."""
    disks = [path for path in sorted(Path("/dev").iterdir()) if path.is_block_device() and can_read(path)]
    return disks[0] if disks else pytest.skip("there are no disks")


def test_a_run_has_no_device_of_the_machine(probe, disk):
    printed, _ = probe(["devices", "read", str(disk), *(word for name in ("null", "urandom", "zero") for word in ("read", f"/dev/{name}"))])
    *devices, of_disk, null, urandom, zero = printed.splitlines()
    assert (set(devices), of_disk) == (DEVICES, "read 0")
    assert {null, urandom, zero} == {"read 1"}


def test_a_build_has_no_device_of_the_machine(probe, build, image, disk):
    made = build(f'FROM {image}\nRUN ["/probe", "devices", "read", "{disk}", "read", "/dev/zero"]\n')
    printed = [line for line in made["log_tail"].splitlines() if re.match("block|character|read", line)]
    assert (set(printed[:-2]), printed[-2:]) == (DEVICES, ["read 0", "read 1"]), made


def test_a_device_of_an_image_is_not_opened(probe, build, image):
    """It would be that of the machine, whichever the image says."""
    printed, _ = probe(["read", "/node", "read", "/dev/zero"])
    assert printed == "read 0\nread 1\n"
    made = build(f'FROM {image}\nRUN ["/probe", "read", "/node", "read", "/dev/zero"]\n')
    assert "read 0\nread 1\n" in made["log_tail"], made


def test_runs_share_no_memory(probe):
    name = f"/dev/shm/expops-{uuid.uuid4()}"
    for _ in range(2):
        printed, _ = probe(["make", name, "segment", "1702389091"])
        assert printed == "made 1\n" * 2 and not os.path.exists(name)


def test_a_run_has_no_privileges_and_no_network(probe):
    printed, _ = probe(["/proc/self/status", "/proc/net/dev"])
    assert re.findall(r"^Cap(?:Prm|Eff|Bnd|Amb):\s*(\w+)$", printed, re.M) == ["0" * 16] * 4
    assert re.search(r"^NoNewPrivs:\s*1$", printed, re.M)
    assert re.findall(r"^\s*(\w+):\s+\d+\s+\d+\s+\d+\s+\d+\s+\d+\s+\d+\s", printed, re.M) == ["lo"]


def test_a_run_with_a_network(probe):
    printed, _ = probe(["/proc/net/dev"], {"network": True})
    assert set(re.findall(r"^\s*(\w+):", printed, re.M)) == set(os.listdir("/sys/class/net"))


def test_the_processes_of_a_run_are_limited(probe):
    """And end with it. buildah's own count too."""
    printed, it = probe(["fork"], {"pids": 20})
    assert it["status"] == "succeeded" and 20 <= int(re.fullmatch(r"made (\d+) processes\n", printed)[1]) <= 84


def test_the_memory_of_a_run_is_limited(probe):
    printed, it = probe(["memory"], {"memory_mb": 64})
    assert "gigabyte" not in printed and it["error"]["message"].startswith("The command was killed")
    printed, it = probe(["memory"], {"memory_mb": 1500})
    assert it["status"] == "succeeded" and "gigabyte" in printed


def test_a_command_that_ends_as_an_engine_does(probe):
    """Its status would be that of an image that could not be started."""
    for status in (125, 137, 7):
        _, it = probe(["exit", str(status)])
        assert it["error"]["kind"] == "task" and it["status"] == "failed", it
    _, it = probe(["exit", "7"], image="localhost/expops-none:1")
    assert it["error"] == {"kind": "environment", "message": "The image was not started."}


def test_a_build_does_not_leave_its_chroot(probe, build, image, tmp_path):
    (tmp_path / "outside").write_text("told")
    made = build(f'FROM {image}\nRUN ["/probe", "leave", "{tmp_path}/outside", "/proc/self/status"]\n')
    assert made["status"] == "succeeded" and "chroot 0\nagain 0\n" in made["log_tail"] and "told" not in made["log_tail"], made


def test_variables_of_several_lines(probe):
    printed, _ = probe(["$ONE", "$TWO", "$THREE"], env={"ONE": "1 $x '\"", "TWO": "1\n 2\n\n", "THREE": "\r\n"})
    assert printed == "[1 $x '\"]\n[1\n 2\n\n]\n[\r\n]\n"


def test_a_build_argument_of_several_lines(api, probe, image):
    given = {"containerfile": f"FROM {image}\nARG NOTE\nENV NOTE=$NOTE\n", "no_cache": True, "build_args": {"NOTE": "1\nRUN /probe\n 2"}}
    build = api.post(BUILDS, given, expect=201).json()["build_id"]
    template = api.post(TEMPLATES, {"name": "note", "spec": {"image": "i:1", "command": ["/probe", "$NOTE"]}}, expect=201).json()
    body = {"template_id": template["template_id"], "build_id": build}
    one = api.post(RUNS, body, expect=201).json()["run_id"]
    it = wait_for(lambda: (it := api.get(f"{RUNS}/{one}", expect=200).json())["finished_at"] and it, "it has ended")
    made = api.get(f"{BUILDS}/{build}", expect=200).json()
    subprocess.run(["buildah", "rmi", "--force", made["image"]], check=False, capture_output=True)
    assert it["log_tail"] == "[1\nRUN /probe\n 2]\n", made
