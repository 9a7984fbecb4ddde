"""`svc-evalenv worker` with commands of the test's, and `svc-evalenv watch`."""

import json
import os
import re
import shutil
import subprocess
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from lib.outside.stub_server import StubServer
from lib.scenario.evalenv import SECRET, SPEC, worker
from lib.tables import evalenv as evalenv_tables
from lib.wait import wait_for

BUILDS, RUNS = "/eval-env/builds", "/eval-env/runs"
METRIC = """echo '{"metrics": {"recall": 0.5}}' >work/result.json\n"""


@pytest.fixture
def work(cluster, user, tmp_path):
    """work(**settings): a worker of the account, which is running. It gets the descriptors `pass_fds`."""
    programs = []

    def start(pass_fds=(), **settings):
        folder = tmp_path / str(len(programs))
        program = worker(cluster, user.key, folder, **{"BUILD_COMMAND": "true", "RUN_COMMAND": METRIC, **settings})
        programs.append(program)
        program.start(pass_fds=pass_fds)
        return program

    yield start
    for program in programs:
        program.stop()
        assert not program.check()
        assert not list(Path(program.env["WORK_DIR"]).iterdir()), "no folder is left"


@pytest.fixture
def build(api):
    """build(**members): the id of a new build."""

    def make(**members):
        return api.post(BUILDS, {"containerfile": "FROM scratch\n", "no_cache": True, **members}, expect=201).json()["build_id"]

    return make


@pytest.fixture
def run(api, template):
    """run(): the id of a new run."""

    def make(**members):
        return api.post(RUNS, {"template_id": template(**members)["template_id"]}, expect=201).json()["run_id"]

    return make


def ended(api, path, id):
    def read():
        it = api.get(f"{path}/{id}", expect=200).json()
        return it if it["finished_at"] else None

    return wait_for(read, f"{id} has ended")


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def test_a_build(api, work, build):
    one = build(containerfile="FROM scratch\n# é\n", build_args={"A": "1 2", "B": "$(x)'", "C": "1\n2\r\n\n"})
    script = 'cat Containerfile; printf "<%s>" "$@"; printf "sha256:1\\n" >digest; echo " $IMAGE"'
    work(BUILD_COMMAND=script, IMAGE_NAME="registry.example.com/x")
    it = ended(api, BUILDS, one)
    image = f"registry.example.com/x:{one}"
    assert (it["status"], it["image"], it["digest"]) == ("succeeded", image, "sha256:1")
    log = f"FROM scratch\n# é\n<--build-arg><A=1 2><--build-arg><B=$(x)'><--build-arg><C=1\n2\r\n\n> {image}\n"
    assert (it["log_tail"], it["log_length"]) == (log, len(log))


def test_a_command_gets_nothing_of_the_workers_environment(api, work, build):
    work(BUILD_COMMAND="env; ulimit -c; cat /proc/self/fdinfo/* | wc -l; ls /proc/self/fd", MARK="worker")
    log = ended(api, BUILDS, build())["log_tail"]
    names = {line.partition("=")[0] for line in log.splitlines() if "=" in line}
    own = {"BUILD_ID", "IMAGE", "REPO", "REF", "GIT_ALLOW_PROTOCOL", "GIT_TERMINAL_PROMPT"}
    assert names <= own | {"PATH", "HOME", "TMPDIR", "LANG", "PWD", "OLDPWD", "_", "SHLVL"}
    assert "EXPOPS_KEY" not in log and "usr_" not in log


@pytest.mark.parametrize("way", ["environment", "file", "descriptor"])
def test_the_workers_secrets_are_in_no_environment(api, user, work, run, tmp_path, way):
    """Neither in that of a command nor in that of the worker, which a command of the same user can read."""
    looks = "tr '\\0' '\\n' </proc/$PPID/environ; cat /proc/$PPID/cmdline; env; for it in /proc/self/fd/*; do readlink $it; done; " + METRIC
    settings = {"EXPOPS_KEY": user.key, "WEBHOOK_SECRETS": SECRET}
    if way != "environment":
        for name, secret in list(settings.items()):
            (tmp_path / name).write_text(secret)
            settings |= {name: "", f"{name}_FILE": str(tmp_path / name)}
    descriptors = []
    if way == "descriptor":
        descriptors = [os.open(tmp_path / "EXPOPS_KEY", os.O_RDONLY)]
        settings["EXPOPS_KEY_FILE"] = f"/dev/fd/{descriptors[0]}"
    program = work(RUN_COMMAND=looks, DATABASE_URL="postgres://of-the-cluster", pass_fds=descriptors, **settings)
    it = ended(api, RUNS, run(webhook_secret=SECRET))
    assert it["status"] == "succeeded", it
    shown = Path(f"/proc/{program.popen.pid}/environ").read_bytes().decode()
    for printed in (it["log_tail"], shown):
        assert "WORK_DIR=" in shown and "PATH=" in printed
        for secret in (user.key, SECRET, "of-the-cluster"):
            assert secret not in printed
    assert str(tmp_path / "EXPOPS_KEY") not in it["log_tail"].splitlines(), "a descriptor is left"
    for descriptor in descriptors:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"BUILD_COMMAND": "exit 3"}, "The build ended with exit status 3."),
        ({"BUILD_COMMAND": "kill -KILL $$"}, "The build was killed, probably because memory ran out."),
        ({"BUILD_COMMAND": "yes", "OUTPUT_MAX": "100KiB"}, "It printed more than 102400 bytes."),
        (
            {"BUILD_COMMAND": "for i in 1 2 3; do head -c 900000 /dev/zero >$i; done; sleep 60", "DISK_MAX": "2MiB"},
            "It wrote more than 2097152 bytes.",
        ),
        ({"BUILD_COMMAND": "head -c 3000000 /dev/zero >one", "DISK_MAX": "2MiB"}, "It wrote more than 2097152 bytes."),
    ],
)
def test_a_build_that_fails(api, work, build, settings, message):
    work(**settings)
    it = ended(api, BUILDS, build())
    assert (it["status"], it["error"], it["image"]) == ("failed", {"kind": "environment", "message": message}, None)


def test_a_command_that_cannot_be_started(api, work, build, tmp_path):
    """As one with more arguments than the kernel takes: here the programs that start it are gone."""
    programs = [tmp_path / "bin" / name for name in ("setpriv", "timeout", "true")]
    programs[0].parent.mkdir()
    for program in programs:
        program.symlink_to(shutil.which(program.name))
    started = work(PATH=str(tmp_path / "bin"))
    wait_for(lambda: '"working"' in started.log(), "it works")
    for program in programs:
        program.unlink()
    it = ended(api, BUILDS, build())
    message = "The command was not started: no such file or directory."
    assert (it["status"], it["error"], it["attempts"]) == ("failed", {"kind": "environment", "message": message}, 1)


@pytest.fixture
def processes_of():
    """processes_of(pid): a file that limits how many threads the process has with its children; 'max': no limit."""
    root = Path("/sys/fs/cgroup/pids")
    folder = (root if root.exists() else root.parent) / f"expops-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("there may be no control groups")
    if not (folder / "pids.max").exists():
        folder.rmdir()
        pytest.skip("control groups limit no processes here")

    def limit(pid):
        (folder / "cgroup.procs").write_text(str(pid))
        return folder / "pids.max"

    yield limit
    wait_for(lambda: not (folder / "cgroup.procs").read_text(), "the processes have ended")
    folder.rmdir()


def test_a_machine_that_starts_no_more_processes(api, work, build, db, processes_of, request):
    program = work(RUN_SLOTS="0")
    assert ended(api, BUILDS, build())["status"] == "succeeded"
    limit = processes_of(program.popen.pid)
    request.addfinalizer(program.stop)
    limit.write_text((limit.parent / "pids.current").read_text())
    one = build()
    wait_for(lambda: evalenv_tables.releases(db, one), "it is given back")
    limit.write_text("max")
    assert ended(api, BUILDS, one)["status"] == "succeeded"


def test_a_worker_without_a_folder_fails_nothing(api, db, work, build, run):
    """A claim that waits for work meanwhile gets some, which is given back."""
    program = work()
    folder = Path(program.env["WORK_DIR"])
    assert ended(api, BUILDS, build())["status"] == "succeeded"
    wait_for(lambda: not list(folder.iterdir()), "its folder is removed")
    folder.rename(folder.parent / "away")
    waiting = {build(): BUILDS, run(): RUNS}
    wait_for(lambda: program.log().count("nothing is claimed") >= 6, "it goes on to pause")
    for one, path in waiting.items():
        it = api.get(f"{path}/{one}", expect=200).json()
        assert (it["status"], it["attempts"]) == ("queued", evalenv_tables.releases(db, one))
    (folder.parent / "away").rename(folder)
    assert [ended(api, path, one)["status"] for one, path in waiting.items()] == ["succeeded"] * 2


@pytest.fixture
def disk(tmp_path):
    """The folder of the first worker of work(), as a disk of 64 KiB."""
    folder = tmp_path / "0" / "work"
    folder.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "expops-test", folder], check=False).returncode:
        pytest.skip("nothing may be mounted")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_fails_nothing(api, disk, work, build):
    with pytest.raises(OSError):
        (disk / "full").write_bytes(bytes(1 << 20))
    program = work(RUN_SLOTS="0")
    one = build()
    wait_for(lambda: program.log().count("no space left on device") >= 2, "it pauses")
    it = api.get(f"{BUILDS}/{one}", expect=200).json()
    assert (it["status"], it["attempts"]) == ("queued", 0)
    (disk / "full").unlink()
    assert ended(api, BUILDS, one)["status"] == "succeeded"


LARGE = "x" * 30000


@pytest.mark.parametrize("kind", ["build", "run"])
def test_work_for_which_the_disk_has_no_room_is_given_back(api, db, disk, work, build, run, kind):
    (disk / "large").write_bytes(bytes(40 << 10))
    program = work()
    if kind == "build":
        path, one = BUILDS, build(containerfile=f"FROM scratch\n# {LARGE}\n")
    else:
        path, one = RUNS, run(spec={**SPEC, "env": {"LARGE": LARGE}})
    wait_for(lambda: evalenv_tables.releases(db, one) >= 2, "it is given back")
    assert "no space left on device" in program.log()
    (disk / "large").unlink()
    assert ended(api, path, one)["status"] == "succeeded"


@pytest.mark.parametrize("repo", ["/etc", "../../etc", "ext::sh -c x"])
def test_a_repository_that_is_none(api, db, work, repo):
    """It is refused when a build is made, but a paper can have any."""
    api.problem("POST", BUILDS, 400, "invalid_request", {"repo": repo})
    one = api.post(BUILDS, {"repo": "acme/ranker", "no_cache": True}, expect=201).json()["build_id"]
    evalenv_tables.set_repository(db, one, repo)
    work()
    assert ended(api, BUILDS, one)["error"]["message"].startswith("The repository is neither")


def test_a_repository_without_encryption(api, work):
    """Another worker may fetch it, in a network that it trusts."""
    one = api.post(BUILDS, {"repo": "http://127.0.0.1/x", "no_cache": True}, expect=201).json()["build_id"]
    work()
    assert ended(api, BUILDS, one)["error"]["message"].startswith("The repository is neither")


def test_the_scheme_of_a_repository_has_no_case(api, work):
    """git would look for a program of that name."""
    one = api.post(BUILDS, {"repo": "HTTPS://127.0.0.1:1/X", "no_cache": True}, expect=201).json()["build_id"]
    work()
    assert "'https://127.0.0.1:1/X/'" in ended(api, BUILDS, one)["log_tail"]


def test_a_repository(api, work, build, tmp_path):
    remote = tmp_path / "acme" / "ranker"
    git = ["git", "-C", remote, "-c", "user.name=t", "-c", "user.email=t@example.org"]
    remote.mkdir(parents=True)
    (remote / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run([*git, *words], check=True)
    work(BUILD_COMMAND="cat Containerfile; ls context", REPOSITORY_URL=f"file://{tmp_path}")
    one = api.post(BUILDS, {"repo": "acme/ranker", "ref": "v1"}, expect=201).json()["build_id"]
    assert ended(api, BUILDS, one)["log_tail"] == "FROM scratch\nCOPY Dockerfile /\nDockerfile\n"
    wrong = api.post(BUILDS, {"repo": "acme/ranker", "ref": "--upload-pack=touch x"}, expect=201).json()["build_id"]
    assert ended(api, BUILDS, wrong)["status"] == "failed"


def test_a_run(api, work, run):
    script = 'cat env; printf "<%s>" "$@" "$IMAGE"; cat work/params.json; echo \'{"metrics": {"recall": 0.5}, "results": {"a": [1]}}\' >work/result.json'
    one = run(spec={**SPEC, "env": {"SEED": "1 2"}, "command": ["a b", "$c"]}, webhook_secret=SECRET)
    work(RUN_COMMAND=script, WEBHOOK_SECRETS="whsec_" + "A" * 32 + " " + SECRET)
    it = ended(api, RUNS, one)
    assert (it["status"], it["metrics"], it["results"]) == ("succeeded", {"recall": 0.5}, {"a": [1]})
    assert it["log_tail"] == f"SEED=1 2\n<a b><$c><{SPEC['image']}>{{}}"


def test_a_result_of_many_megabytes(api, work, run):
    script = """{ printf '{"metrics": {"recall": 1}, "results": {"text": "'; head -c 8000000 /dev/zero | tr '\\0' x; echo '"}}'; } >work/result.json"""
    one = run()
    work(RUN_COMMAND=script)
    it = ended(api, RUNS, one)
    assert (it["status"], it["error"], it["results"]) == ("succeeded", None, {"text": "x" * 8_000_000})


def test_the_id_of_a_result_cannot_be_guessed(api, work, run, db):
    ids = []
    work()
    for _ in range(2):
        one = run()
        ended(api, RUNS, one)
        (id,) = evalenv_tables.delivery_ids(db, one)
        assert one not in id and re.fullmatch(r"[0-9A-Za-z]{32}", id)
        ids.append(id)
    assert ids[0] != ids[1]


@pytest.mark.parametrize(
    ("script", "status", "kind", "message"),
    [
        ("exit 7", "failed", "task", "The command ended with exit status 7."),
        ("exit 125", "failed", "environment", "The image was not started."),
        (": >started; exit 125", "failed", "task", "The command ended with exit status 125."),
        ("kill -KILL $$", "failed", "task", "The command was killed, probably because memory ran out."),
        ("true", "failed", "task", "The metric recall was not reported."),
        ("echo '{\"metrics\": {\"recall\": NaN}}' >work/result.json", "failed", "task", "result.json is not valid JSON"),
        ("echo '{\"metrics\": {\"recall\": \"x\"}}' >work/result.json", "failed", "task", "result.json was refused"),
        ("head -c 8388609 /dev/zero >work/result.json", "failed", "task", "result.json has more than 8 MiB."),
        ("ln -s /etc/passwd work/result.json", "failed", "task", "The metric recall was not reported."),
        ("mkfifo work/result.json", "failed", "task", "The metric recall was not reported."),
        ("sleep 60", "timed_out", "timeout", "It took"),
    ],
)
def test_a_run_that_fails(api, work, template, script, status, kind, message):
    work(RUN_COMMAND=script)
    made = {"template_id": template()["template_id"], "timeout_seconds": 1 if kind == "timeout" else 60}
    it = ended(api, RUNS, api.post(RUNS, made, expect=201).json()["run_id"])
    assert (it["status"], it["error"]["kind"], it["metrics"]) == (status, kind, None)
    assert it["error"]["message"].startswith(message)


def test_an_image_that_a_container_program_would_take_for_an_option(api, work, build, claim_build, db):
    """Reports of builds are checked; this one was stored by a version that did not."""
    one = build()
    claim_build()
    report = {"attempt": 1, "status": "succeeded", "image": "--privileged"}
    api.problem("POST", f"{BUILDS}/{one}/report", 400, "invalid_request", report)
    api.post(f"{BUILDS}/{one}/report", {**report, "image": "r/i:1"}, expect=200)
    evalenv_tables.set_image(db, one, "--privileged")
    work(RUN_COMMAND="exit 3")
    it = ended(api, RUNS, api.post(RUNS, {"build_id": one}, expect=201).json()["run_id"])
    assert it["error"] == {"kind": "environment", "message": "The image has no valid name."}


def test_what_a_command_leaves_behind_is_killed(api, work, build):
    work(BUILD_COMMAND="sleep 600 & echo $!; disown 2>/dev/null; exit 0")
    it = ended(api, BUILDS, build())
    wait_for(lambda: not is_alive(int(it["log_tail"])), "the child is killed")
    assert it["status"] == "succeeded"


def test_cancelling_kills_the_command(api, work, build):
    work(BUILD_COMMAND="echo $$; sleep 600")
    one = build()
    log = wait_for(lambda: api.get(f"{BUILDS}/{one}", expect=200).json()["log_tail"], "the log grows while it builds")
    api.post(f"{BUILDS}/{one}/cancel", expect=200)
    wait_for(lambda: not is_alive(int(log)), "the command is killed")
    assert api.get(f"{BUILDS}/{one}", expect=200).json()["status"] == "cancelled"


def test_a_stopped_worker_gives_its_work_back(api, work, build, db):
    first = work(BUILD_COMMAND="echo $$; sleep 600", STOP_TIMEOUT="0s")
    one = build()
    log = wait_for(lambda: api.get(f"{BUILDS}/{one}", expect=200).json()["log_tail"], "it has begun")
    first.stop()
    assert not is_alive(int(log))
    it = api.get(f"{BUILDS}/{one}", expect=200).json()
    assert (it["status"], it["worker"], it["attempts"]) == ("queued", None, 1)
    work()
    assert ended(api, BUILDS, one)["attempts"] == 2
    assert evalenv_tables.releases(db, one) == 1


def test_a_stopped_worker_finishes(api, work, build):
    program = work(BUILD_COMMAND="echo begun; while [ ! -e go ]; do sleep 0.1; done; echo done")
    one = build()
    wait_for(lambda: api.get(f"{BUILDS}/{one}", expect=200).json()["log_tail"], "it has begun")
    (folder,) = Path(program.env["WORK_DIR"]).iterdir()
    program.popen.terminate()
    (folder / "go").touch()
    assert program.popen.wait(30) == 0
    it = api.get(f"{BUILDS}/{one}", expect=200).json()
    assert (it["status"], it["log_tail"]) == ("succeeded", "begun\ndone\n")


def test_a_lost_lease_kills_the_command(api, work, build, db):
    work(BUILD_COMMAND="echo $$; while :; do sleep 1; echo .; done")
    one = build()
    log = wait_for(lambda: api.get(f"{BUILDS}/{one}", expect=200).json()["log_tail"], "it has begun")
    evalenv_tables.set_attempts(db, one, 9)
    wait_for(lambda: not is_alive(int(log.split()[0])), "the command is killed")
    assert api.get(f"{BUILDS}/{one}", expect=200).json()["status"] == "building"
    api.post(f"{BUILDS}/{one}/cancel", expect=200)


class LateService:
    """A service whose first claim is answered after `wait` seconds, with work that stays `lease` seconds without a heartbeat."""

    def __init__(self, wait, lease):
        self.wait, self.lease, self.reports = wait, lease, []
        self.stub = StubServer(self.answer)

    def until(self):
        return (datetime.now(timezone.utc) + timedelta(seconds=self.lease)).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def answer(self, request):
        if request.path.endswith("/claim") and self.wait:
            time.sleep(self.wait)
            self.wait = 0
            claim = {"build": {"build_id": "one"}, "context": {"containerfile": "FROM scratch\n"}, "attempt": 1, "lease_until": self.until()}
            request.reply(200, json.dumps(claim))
        elif request.path.endswith("/heartbeat"):
            request.reply(200, json.dumps({"lease_until": self.until()}))
        elif request.path.endswith("/report"):
            self.reports.append(json.loads(request.body)["status"])
            request.reply(200, "{}")
        else:
            time.sleep(0.2)
            request.reply(204, "")


def test_work_that_comes_late_is_not_lost(work):
    """Its claim has waited longer than the work stays with a worker that is not heard of."""
    service = LateService(wait=6, lease=4)
    program = work(EXPOPS_URL=service.stub.url, CLAIM_WAIT="10s", RUN_SLOTS="0")
    wait_for(lambda: service.reports or "work ended" in program.log(), "the work has ended")
    assert service.reports == ["succeeded"]
    program.stop()
    service.stub.close()


class AwayService(LateService):
    """One that answers no heartbeat until long after the end of the lease. `then` is called before the first one that it answers."""

    def __init__(self, lease, then):
        super().__init__(wait=0.1, lease=lease)
        self.back_at, self.then = None, then

    def answer(self, request):
        if request.path.endswith("/heartbeat"):
            self.back_at = self.back_at or time.monotonic() + 2 * self.lease
            if time.monotonic() < self.back_at:
                return request.reply(503, "{}")
            self.then()
        return super().answer(request)


@pytest.mark.parametrize(("settings", "reports"), [({}, ["succeeded"]), ({"LEASE_GRACE": "0s"}, [])], ids=["default", "none"])
def test_work_goes_on_while_the_service_is_away(work, tmp_path, settings, reports):
    end = tmp_path / "end"
    service = AwayService(2, end.touch)
    program = work(EXPOPS_URL=service.stub.url, RUN_SLOTS="0", BUILD_COMMAND=f"until [ -e {end} ]; do sleep 0.1; done", **settings)
    wait_for(lambda: "work ended" in program.log(), "the work has ended")
    assert service.reports == reports
    program.stop()
    service.stub.close()


def test_a_log_of_a_gigabyte(api, work, build):
    program = work(BUILD_COMMAND="head -c 1000000000 /dev/zero | tr '\\0' x; echo end", OUTPUT_MAX="2GiB")
    at_rest = wait_for(lambda: program.memory_bytes(), "it runs")
    one = build()
    peak = 0

    def read():
        nonlocal peak
        peak = max(peak, program.memory_bytes())
        it = api.get(f"{BUILDS}/{one}", expect=200).json()
        return it if it["finished_at"] else None

    it = wait_for(read, "it has ended")
    assert it["status"] == "succeeded" and it["log_tail"].endswith("xend\n") and len(it["log_tail"]) <= 16384
    assert "bytes are left out" in it["log_tail"] or it["log_length"] > 16384
    assert peak < at_rest + (64 << 20)


def test_a_key_that_is_refused(cluster, user, tmp_path):
    key = user.api.post("/account/api-keys", {"name": "k", "scopes": ["eval:read"]}, expect=201).json()["key"]
    program = worker(cluster, key, tmp_path, BUILD_COMMAND="true", RUN_COMMAND="true")
    program.start()
    assert program.popen.wait(30) == 1
    assert "EXPOPS_KEY is refused: it needs the scope eval:report" in program.log()


def watch(cluster, key, build):
    env = {**os.environ, "EXPOPS_URL": cluster.gateway_url, "EXPOPS_KEY": key}
    return subprocess.Popen(
        [cluster.binary("svc-evalenv"), "watch", build], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_watch_prints_the_log_as_it_grows(cluster, user, api, build, claim_build):
    one = build()
    seen = watch(cluster, user.key, one)
    claim = claim_build()

    def more(log):
        api.post(f"{BUILDS}/{one}/heartbeat", {"attempt": claim["attempt"], "log": log}, expect=200)

    more("first é\n")
    assert seen.stdout.readline() == "first é\n"
    more("second\n")
    assert seen.stdout.readline() == "second\n"
    more("y" * 20000)
    report = {"attempt": claim["attempt"], "status": "succeeded", "image": "i:1", "log": "\nlast\n"}
    api.post(f"{BUILDS}/{one}/report", report, expect=200)
    out, err = seen.communicate(timeout=30)
    assert seen.returncode == 0 and out.endswith("y\nlast\n") and "characters are left out" in out
    assert "building" in err and err.endswith("succeeded i:1\n")


OBEYED = ["\x1b[31m", "\x1b]0;title\a", "\r", "\x7f", "\u009b2J", "\u202e", "\u2066"]


def test_watch_shows_what_a_terminal_would_obey(cluster, user, build, claim_build, api):
    one = build()
    claim = claim_build()
    text = "é\t" + "".join(OBEYED)
    shown = "é{}" + json.dumps("".join(OBEYED))[1:-1].replace("\x7f", "\\u007f")
    error = {"kind": "environment", "message": text + "\n"}
    api.post(f"{BUILDS}/{one}/heartbeat", {"attempt": claim["attempt"], "log": text + "\n"}, expect=200)
    api.post(f"{BUILDS}/{one}/report", {"attempt": claim["attempt"], "status": "failed", "error": error}, expect=200)
    out, err = watch(cluster, user.key, one).communicate(timeout=30)
    assert out == shown.format("\t") + "\n"
    assert err == "failed\nenvironment: " + shown.format("\\t") + "\\n\n"


def test_watch_tells_what_went_wrong(cluster, user, build, claim_build, api):
    one = build()
    claim = claim_build()
    error = {"kind": "environment", "message": "no such base"}
    api.post(f"{BUILDS}/{one}/report", {"attempt": claim["attempt"], "status": "failed", "error": error}, expect=200)
    out, err = watch(cluster, user.key, one).communicate(timeout=30)
    assert (out, err) == ("", "failed\nenvironment: no such base\n")
    seen = watch(cluster, user.key, "019bb695-8a5a-7951-9d9d-c9f81818e813")
    assert seen.communicate(timeout=30)[1].endswith("no such build\n") and seen.returncode == 1
