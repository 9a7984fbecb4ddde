"""deploy/backup and deploy/restore: a restore to a time between two writes, whatever Redis holds by then, and what they refuse."""

import fcntl
import gzip
import json
import os
import secrets
import shutil
import signal
import subprocess

import psycopg
import pytest
import yaml

from lib.check.walk import blocks
from lib.system.backup import Archive
from lib.system.cluster import Cluster
from lib.system.postgres_image import PostgresImage
from lib.system.servers import OWNER, ROOT, SERVERS_SH, Postgres
from lib.tables import interests as interests_tables
from lib.tables import roles
from lib.wait import PATIENCE_SECONDS, wait_for


class ArchivedCluster(Cluster):
    def __init__(self):
        super().__init__()
        self.archive = Archive(self.servers)


@pytest.fixture(scope="module")
def archived():
    with ArchivedCluster() as made:
        yield made
        for process in made.all():
            process.stop()
        faults = made.check()
    assert faults == []


@pytest.fixture(scope="module")
def account(archived):
    """A user who has an experiment that is in the base backup."""
    made = archived.user()
    archived.archive.take_base()
    return made


def make(api, name):
    return api.post("/experiments", {"name": name}, headers={"Idempotency-Key": name}, expect=201).json()["id"]


def copy_of(redis):
    return {key: redis.dump(key) for key in redis.scan_iter(count=1000)}


# What Redis holds when the services start on the restored database.
REDIS = {
    "emptied": lambda client, before: client.flushall(),
    "ahead": lambda client, before: None,
    "behind": lambda client, before: (client.flushall(), [client.restore(key, 0, value) for key, value in before.items()]),
}


def uncompress(archive):
    """Leave every second segment as an earlier version has archived it."""
    compressed = sorted(path for path in archive.segments().values() if path.suffix == ".gz")
    for path in compressed[::2]:
        subprocess.run([SERVERS_SH, "as_user", "postgres", "gunzip", path], cwd="/", check=True)


@pytest.mark.parametrize("state", REDIS)
def test_restored_to_a_time_between_two_writes(archived, account, state):
    cluster, api, name = archived, account.api, secrets.token_hex(6)
    redis = cluster.redis.client_of_bytes()
    before = copy_of(redis)
    first = make(api, f"{name}-first")
    started = api.post("/interests", {"name": name, "context": "sparse attention", "is_active": False}, expect=201).json()["id"]
    time = cluster.archive.now()
    second = make(api, f"{name}-second")
    cluster.archive.mark(name)
    for process in cluster.all():
        process.kill9()
    cluster.postgres.kill9()

    uncompress(cluster.archive)
    cluster.archive.restore(time=time)
    REDIS[state](redis, before)
    for process in cluster.all():
        process.start()
    cluster.wait_ready()

    assert api.get(f"/experiments/{first}", expect=200).json()["name"] == f"{name}-first"
    assert api.get(f"/interests/{started}", expect=200).json()["name"] == name
    api.get(f"/experiments/{second}", expect=404)
    assert make(api, f"{name}-first") == first, "an answer that was given is repeated"
    third = make(api, f"{name}-second")
    assert third != second, "what is lost can be done again"
    with cluster.postgres.connect("interests") as db:
        wait_for(lambda: interests_tables.knows_experiment(db, first), "the other service is told what was promised")
        wait_for(lambda: interests_tables.knows_experiment(db, third), "and what is new")
        assert state == "ahead" or not interests_tables.knows_experiment(db, second)
    cluster.archive.take_base()


def test_a_second_restore_from_a_backup_passes_what_was_written_after_the_first(archived, account):
    cluster, api, name = archived, account.api, secrets.token_hex(6)
    cluster.archive.take_base()
    cluster.archive.mark(f"{name}-early")
    wanted = make(api, f"{name}-wanted")
    cluster.archive.mark(f"{name}-late")

    def restore(**target):
        for process in cluster.all():
            process.kill9()
        cluster.postgres.kill9()
        cluster.archive.restore(**target)
        cluster.redis.client_of_bytes().flushall()
        for process in cluster.all():
            process.start()
        cluster.wait_ready()

    restore(name=f"{name}-early")
    api.get(f"/experiments/{wanted}", expect=404)
    unwanted = make(api, f"{name}-unwanted")
    timeline = cluster.archive.timeline()
    cluster.archive.mark(f"{name}-after")
    restore(name=f"{name}-late")
    api.get(f"/experiments/{wanted}", expect=200)
    api.get(f"/experiments/{unwanted}", expect=404)
    restore(name=f"{name}-after", timeline=timeline)
    api.get(f"/experiments/{unwanted}", expect=200)
    cluster.archive.take_base()


def test_old_backups_and_what_they_needed_of_the_log_go(archived, account):
    archive = archived.archive
    archive.take_base()
    make(account.api, secrets.token_hex(6))
    newest = archive.take_base("--archive", archive.log, "--keep", "1")
    assert [str(path) for path in archive.backups.glob("[0-9]*Z")] == [newest]
    label = (archive.backups / newest / "backup_label").read_text()
    segment = label.partition("(file ")[2].partition(")")[0]
    assert min(archive.segments()) == segment


def run_functions(script, commands, *arguments):
    """Commands that call functions of a script of deploy/, without its main program."""
    code = f"source <(sed '$d' {ROOT / 'deploy' / script})\n{commands}"
    return subprocess.run(["bash", "-c", code, script, *map(str, arguments)], capture_output=True, text=True, check=False)


# The first segments of backups, the oldest first: the log's position goes back with a restore, and with another server.
POSITIONS = {
    "forward": ["000000010000000000000014", "00000001000000000000001E", "000000010000000100000002"],
    "restored": ["000000010000000000000014", "00000001000000000000001E", "000000010000000000000028", "00000002000000000000000C"],
    "restored twice": ["000000010000000000000028", "00000002000000000000000C", "000000030000000000000014"],
    "another server": ["000000010000000300000028", "000000010000000000000002"],
}


@pytest.mark.parametrize("kept", [1, 2, 9])
@pytest.mark.parametrize("firsts", POSITIONS.values(), ids=POSITIONS)
def test_no_kept_backup_loses_its_log(tmp_path, firsts, kept):
    backups, log = tmp_path / "backups", tmp_path / "log"
    log.mkdir()
    for day, first in enumerate(firsts):
        backup = backups / f"2026010{day + 1}T000000Z"
        backup.mkdir(parents=True)
        (backup / "backup_label").write_text(f"START WAL LOCATION: 0/1 (file {first})\nCHECKPOINT LOCATION: 0/1\n")
        for number in range(-1, 3):
            (log / f"{first[:16]}{int(first[16:], 16) + number:08X}.gz").touch()
    done = run_functions("backup", 'find_programs; keep "$@"', backups, kept, log)
    assert done.returncode == 0, done.stderr
    assert len(list(backups.iterdir())) == min(kept, len(firsts))
    left = {path.name.removesuffix(".gz") for path in log.iterdir()}
    for first in firsts[-kept:]:
        assert {first[:16] + f"{int(first[16:], 16) + number:08X}" for number in range(3)} <= left
    lowest = min(first[8:] for first in firsts[-kept:])
    assert min(name[8:] for name in left) == lowest, "what no backup needs goes"


NO_SEGMENT = "0" * 24


@pytest.mark.parametrize("state, status", [("compressed", 0), ("as it is", 0), ("damaged", 126), ("missing", 1)])
def test_what_the_restored_server_reads_of_the_log(archived, account, tmp_path, state, status):
    """More than 125 ends the server. Any other failure is the end of the log, after which it takes writes."""
    archive, segment = archived.archive, tmp_path / NO_SEGMENT
    segment.write_bytes(secrets.token_bytes(100_000))
    done = archive.run("restore", archive.base, archive.log, archive.backups / "made")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in (archive.backups / "made" / "postgresql.auto.conf").read_text().splitlines() if "restore_command" in line]
    subprocess.run(["rm", "-r", archive.backups / "made"], check=True)
    command = line.partition("'")[2].removesuffix("'").replace(str(archive.log), str(tmp_path))
    if state in ("compressed", "damaged"):
        subprocess.run(["gzip", segment], check=True)
    if state == "damaged":
        compressed = tmp_path / f"{NO_SEGMENT}.gz"
        compressed.write_bytes(compressed.read_bytes()[:50_000])
    if state == "missing":
        segment.unlink()
    command = command.replace("%f", NO_SEGMENT).replace("%p", str(tmp_path / "read"))
    assert subprocess.run(["sh", "-c", command], check=False).returncode == status


@pytest.mark.parametrize("compressed", [True, False])
def test_an_archived_segment_is_not_overwritten(tmp_path, compressed):
    archive, segment = tmp_path / "archive", tmp_path / NO_SEGMENT
    archive.mkdir()
    segment.write_bytes(bytes(100_000))
    log = lambda: subprocess.run([ROOT / "deploy" / "archive-log", segment, archive], capture_output=True, text=True, check=False)  # noqa: E731
    assert log().returncode == 0
    (made,) = archive.iterdir()
    assert made.name == f"{NO_SEGMENT}.gz" and made.stat().st_size < 1000
    if not compressed:
        subprocess.run(["gunzip", made], check=True)
    before = {path: path.read_bytes() for path in archive.iterdir()}
    assert log().returncode == 0, "the same again"
    segment.write_bytes(b"other")
    done = log()
    assert done.returncode == 1 and "is another file" in done.stderr
    assert {path: path.read_bytes() for path in archive.iterdir()} == before


def test_a_segment_is_archived_after_a_crash_in_the_middle(tmp_path):
    archive, segment = tmp_path / "archive", tmp_path / NO_SEGMENT
    archive.mkdir()
    segment.write_bytes(bytes(100_000))
    (archive / f".part-{NO_SEGMENT}").write_bytes(b"half")
    subprocess.run([ROOT / "deploy" / "archive-log", segment, archive], check=True)
    (made,) = archive.iterdir()
    assert made.name == f"{NO_SEGMENT}.gz" and gzip.decompress(made.read_bytes()) == segment.read_bytes()


def test_an_archive_that_hangs_is_a_failure(tmp_path):
    """The FIFO that nobody reads is what a network mount is whose server is away."""
    archive, segment = tmp_path / "archive", tmp_path / NO_SEGMENT
    archive.mkdir()
    segment.write_bytes(bytes(1000))
    part = archive / f".part-{NO_SEGMENT}"
    os.mkfifo(part)
    log = lambda: subprocess.run([ROOT / "deploy" / "archive-log", segment, archive], env={**os.environ, "ARCHIVE_SECONDS": "1"},  # noqa: E731
                                 capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)  # fmt: skip
    done = log()
    assert (done.returncode, done.stderr) == (1, f"archive-log: {segment} is not in {archive} after 1 s: is {archive} away?\n")
    part.unlink()
    assert log().returncode == 0


def test_two_backups_at_once_do_not_share_a_folder(archived, account):
    archive = archived.archive
    before = set(archive.backups.glob("[0-9]*Z"))
    with (archive.backups / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = archive.run("backup", archive.backups)
    assert done.returncode == 1 and "another backup into" in done.stderr, done.stderr
    assert set(archive.backups.glob("[0-9]*Z")) == before
    archive.take_base()


def test_a_backup_that_could_not_be_restored_is_none(archived, account, tmp_path):
    archive, folder = archived.archive, archived.archive.backups / "copy"
    for damage, fault in [("PG_VERSION", "is damaged"), ("backup_manifest", "is no base backup")]:
        subprocess.run(["cp", "-a", archive.base, folder], check=True)
        (folder / damage).write_text("x") if damage == "PG_VERSION" else (folder / damage).unlink()
        done = archive.run("restore", folder, archive.log, archive.backups / "made")
        assert done.returncode == 1 and fault in done.stderr, done.stderr
        subprocess.run(["rm", "-r", folder], check=True)
    empty = archive.backups / "empty"
    subprocess.run(["cp", "-a", archive.log, empty], check=True)
    for path in empty.iterdir():
        path.unlink()
    done = archive.run("restore", archive.base, empty, archive.backups / "made")
    assert done.returncode == 1 and "from which on the backup needs the log" in done.stderr
    empty.rmdir()
    assert not (archive.backups / "made").exists()


def test_a_log_that_is_not_archived_is_reported(archived, account):
    (gateway,) = archived["gateway"]
    folder = archived.archive.log

    def has_measured(is_failing):
        gateway.popen.send_signal(signal.SIGHUP)  # does the recurring work at once
        return (gateway.metric("expops_pg_archive_failing_seconds") > 0) == is_failing

    def end_segment():
        with archived.postgres.connect() as connection:
            connection.execute("SELECT pg_create_restore_point('here')")
            connection.execute("SELECT pg_switch_wal()")

    wait_for(lambda: has_measured(False), "the log is archived")
    away = folder.rename(folder.with_name("away"))
    end_segment()
    wait_for(lambda: has_measured(True), "the failure is reported")
    away.rename(folder)
    end_segment()
    wait_for(lambda: has_measured(False), "the log is archived again")


@pytest.mark.parametrize("options, fault", [
    (["--time", "2026-01-31 09:29:00"], "no time with a zone"),
    (["--time", "2026-02-31 09:29:00Z"], "does not exist"),
    (["--time", "now"], "no time with a zone"),
    (["--name", "a' archive_mode = 'off"], "letters, digits"),
    (["--time", "2026-01-31 09:29Z", "--name", "noon"], "say one of"),
    (["--timeline", "first"], "'current', 'latest' or a number"),
    (["--timeline"], "'current', 'latest' or a number"),
    (["--until", "noon"], "unknown option --until"),
    (["more"], "say which, from where and to where"),
])  # fmt: skip
def test_targets_that_are_refused(archived, account, options, fault):
    archive = archived.archive
    done = archive.run("restore", archive.base, archive.log, archive.backups / "made", *options)
    assert done.returncode == 1 and fault in done.stderr, done.stderr
    assert not (archive.backups / "made").exists()


def test_nothing_is_overwritten(archived, account):
    archive = archived.archive
    done = archive.run("restore", archive.base, archive.log, archive.data)
    assert done.returncode == 1 and f"{archive.data} exists" in done.stderr


def test_a_server_that_does_not_archive_has_no_backup(cluster):
    archive = Archive.__new__(Archive)
    archive.postgres = cluster.postgres
    done = archive.run("backup", "/nowhere")
    assert done.returncode == 1 and "archive_mode of the server is off" in done.stderr


POINT = "2026-01-31T09:29"  # of the page


def test_what_must_not_be_undone_is_repeated(archived, tmp_path):
    """By the commands of the page and the lines of all logs, which are written whatever LOG_LEVEL says."""
    cluster, user = archived, archived.user()
    api = user.api
    key = api.post("/account/api-keys", {"name": "revoked"}, expect=201).json()
    interest = api.post("/interests", {"name": "deleted", "context": "Retrieval."}, expect=201).json()
    feed, of_interest = (api.post("/papers/recommended/feeds", body, expect=201).json() for body in ({}, {"interest_id": interest["id"]}))
    endpoints = [api.post("/webhooks", {"kind": "webhook", "url": "https://hooks.example.org/", "events": ["test.*"]}, expect=201).json()
                 for _ in range(2)]  # fmt: skip
    invitation = api.post("/team/invitations", {"email": "somebody@example.org", "role": "viewer"}, expect=201).json()
    gone, dismissed, back = (cluster.user() for _ in range(3))
    cluster.run("gateway", "disable-person", "--email", back.email)
    cluster.archive.take_base()
    time = cluster.archive.now()
    api.delete(f"/webhooks/{endpoints[0]['id']}", expect=200)
    api.delete(f"/papers/recommended/feeds/{feed['id']}", expect=200)
    api.delete(f"/interests/{interest['id']}", expect=200)
    api.delete(f"/team/invitations/{invitation['id']}", expect=200)
    api.post(f"/account/api-keys/{key['id']}/revoke", expect=200)
    gone.api.post("/account/delete", {"confirm": True, "name": gone.email}, expect=200)
    options = [[dismissed.email], [back.email, "--undo"]]
    of_commands = [json.dumps({"time": "9999", **line}) for one in options for line in cluster.run_logged("gateway", "disable-person", "--email", *one)]
    cluster.archive.mark("told")
    for process in cluster.all():
        process.stop()
    cluster.postgres.kill9()
    cluster.archive.restore(time=time)
    cluster.redis.client_of_bytes().flushall()
    for process in cluster.all():
        process.start()
    cluster.wait_ready()
    other_key = api.as_key(key["key"])
    assert {one["id"] for one in other_key.get("/papers/recommended/feeds", expect=200).json()} == {feed["id"], of_interest["id"]}

    lines = ['revoke-keys: "x" is no id', *of_commands,
             *(line for text in cluster.logs().values() for line in text.splitlines())]  # fmt: skip
    later = f'{{"time":"9999","message":"endpoint unsubscribed","endpoint_id":"{endpoints[1]["id"]}"}}'
    (tmp_path / "kept.log").write_text("\n".join([*lines, later]) + "\n")
    (commands,) = [block for block in blocks((ROOT / "deploy" / "OPERATIONS.md").read_text(), "Restore") if "since()" in block]
    assert POINT in commands
    env = {**os.environ, **cluster.settings("gateway", "command"), "PATH": f"{cluster.binary('gateway').parent}:{os.environ['PATH']}",
           "PGHOST": "127.0.0.1", "PGPORT": str(cluster.postgres.port), "PGUSER": OWNER, "PGPASSWORD": cluster.postgres.password}  # fmt: skip
    script = f"set -eo pipefail\n{commands.replace(POINT, time.replace(' ', 'T'))}"
    subprocess.run(["bash", "-c", script], env=env, cwd=tmp_path, check=True, capture_output=True)

    for dead in (other_key, gone.api, dismissed.api):
        wait_for(lambda dead=dead: dead.get("/account/api-keys").status_code == 401, "the key is refused")
    assert api.get("/papers/recommended/feeds", expect=200).json() == []
    api.problem("GET", f"/interests/{interest['id']}", 404, "not_found")
    assert [one["id"] for one in api.get("/webhooks", expect=200).json()] == [endpoints[1]["id"]]
    assert api.get("/team", expect=200).json()["invitations"] == []
    back.api.get("/account/api-keys", expect=200)
    cluster.archive.take_base()


@pytest.fixture
def other(cluster):
    """Another server, with nothing but the same owner."""
    made = Postgres(cluster.servers.base / "other")
    made.base.mkdir()
    made.base.chmod(0o711)
    made.password = cluster.postgres.password
    made.start()
    yield made
    made.stop()


KEY_CHANGES = "COPY account.key_change "


def told(dump):
    """The lines about names, owners, rights and rows, and those of the rows of account.key_change apart from them: Postgres does not write
    bodies of functions as it has read them."""
    lines = [line for line in dump.splitlines() if line.startswith(("-- Name:", "ALTER ", "GRANT ", "REVOKE ", "COPY ")) or "\t" in line]
    first = next(i for i, line in enumerate(lines) if line.startswith(KEY_CHANGES)) + 1
    end = next(i for i in range(first, len(lines)) if "\t" not in lines[i])
    return lines[:first] + lines[end:], lines[first:end]


def test_a_dump_goes_to_another_server(cluster, other, tmp_path):
    """By the commands of the page: what is there afterwards is what was dumped, with its owners and rights, but for the changes of keys. They
    have numbers of transactions, which the other server has not come to, so that each look of a gateway would find them again."""
    user = cluster.user()
    make(user.api, secrets.token_hex(6))
    cluster.stop_all()
    commands = blocks((ROOT / "deploy" / "OPERATIONS.md").read_text(), "Another server or major version of Postgres")[0]
    for name, value in {"-h OLD": f"-p {cluster.postgres.port}", "-h NEW": f"-p {other.port}", "DIR/postgres": str(tmp_path),
                        "deploy/init.sql": str(ROOT / "deploy" / "init.sql")}.items():
        assert name in commands
        commands = commands.replace(name, value)
    (tmp_path / "SERVICE_PASSWORDS").write_text(cluster.postgres.service_passwords())
    dumped = f"pg_restore -f before expops.dump && pg_dump -p {other.port} -Fc expops | pg_restore -f after"
    env = {**os.environ, "PGHOST": "127.0.0.1", "PGUSER": OWNER, "PGPASSWORD": other.password}
    subprocess.run(["bash", "-c", f"set -e\n{commands}\n{dumped}"], env=env, cwd=tmp_path, check=True, capture_output=True)
    (before, changes), (after, none) = (told((tmp_path / name).read_text()) for name in ("before", "after"))
    assert changes and none == []
    assert any("OWNER TO expops_experiments" in line for line in before) and any(user.email in line for line in before)
    assert after == before


def test_compose_archives_as_the_rehearsal_does():
    """The settings of the image are those of lib/system/backup.py, and what it writes to are volumes."""
    image, compose = (ROOT / "deploy" / "image" / "postgres").read_text(), (ROOT / "deploy" / "compose.yaml").read_text()
    assert """-c archive_mode=on -c archive_command='archive-log "%p" /archive'""" in image
    assert "- archive:/archive" in compose and "- backup:/backup" in compose


def test_compose_waits_for_the_log_of_a_restore():
    """`up --wait` fails when a container is unhealthy, and its replay can take hours."""
    health = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]["postgres"]["healthcheck"]
    assert health["start_period"] == "86400s"


@pytest.fixture
def image():
    with PostgresImage() as made:
        yield made


def test_the_image_sets_aside_what_a_former_cluster_has_archived(image):
    """A new cluster, as of another major version of Postgres, gives its log the same names from the start."""
    first = f"{1:08X}{0:08X}{1:08X}.gz"
    backup = image.root / "backup" / "20200101T000000Z"
    backup.mkdir()
    shutil.chown(backup, "postgres")
    (backup / "backup_label").write_text("former")
    for name in (first, "00000002.history.gz"):
        (image.root / "archive" / name).write_bytes(gzip.compress(b"former"))
    image.start()
    image.wait_ready()
    segment = image.query("SELECT pg_walfile_name(pg_switch_wal())")
    wait_for(lambda: (image.root / "archive" / f"{segment}.gz").exists(), "the log is archived")
    assert image.query("SELECT failed_count FROM pg_stat_archiver") == 0
    wait_for(lambda: list((image.root / "backup").glob("[0-9]*Z")), "it makes a backup of its own")
    assert image.stop() == 0

    (log,), (backups,) = ((image.root / name).glob("before-*") for name in ("archive", "backup"))
    assert sorted(path.name for path in log.iterdir()) == [first, "00000002.history.gz"]
    assert [path.name for path in backups.iterdir()] == [backup.name] and (backups / backup.name / "backup_label").read_text() == "former"
    assert gzip.decompress((log / first).read_bytes()) == b"former"

    image.start()
    image.wait_ready()
    assert image.stop() == 0
    assert list((image.root / "archive").glob("before-*")) == [log], "a cluster that is there keeps its own"


def test_the_image_takes_the_passwords_of_its_secrets(image):
    """At each start: what is replaced there is not undone, by whoever has the former ones."""
    image.start()
    image.wait_ready()
    with image.connect() as server:
        assert all(roles.has_password(server, role, "secret") for role in ("expops", "expops_gateway"))
    assert image.stop() == 0
    (image.root / "run" / "secrets" / "password").write_text("owner's new one\n")
    (image.root / "run" / "secrets" / "SERVICE_PASSWORDS").write_text("gateway=new\n")
    image.start()
    image.wait_ready()
    with image.connect() as server:
        for role, password in {"expops": "owner's new one", "expops_gateway": "new"}.items():
            assert roles.has_password(server, role, password) and not roles.has_password(server, role, "secret")
    assert image.stop() == 0


@pytest.mark.parametrize("number", ["0", "seven", "-1", "10000"])
def test_the_image_refuses_a_number_of_backups_that_it_cannot_keep(image, number):
    """Each backup would be made, and nothing deleted."""
    done = image.run("postgres", BACKUPS=number)
    assert done.returncode == 1 and f'BACKUPS is "{number}"' in done.stderr, done
    assert not (image.root / "data" / "pg").exists()


def test_the_image_runs_one_server_on_its_data(image):
    """A second one would take away the lock of the first, by which Postgres itself keeps others out."""
    image.start()
    image.wait_ready()
    lock = image.root / "data" / "pg" / "postmaster.pid"
    before = lock.read_text()
    for words, fault in ((["postgres", "--version"], "it takes no arguments"), (["postgres"], "another container runs a server on /data")):
        done = image.run(*words)
        assert done.returncode == 1 and fault in done.stderr, done
        assert lock.read_text() == before
    assert image.query("SELECT 1") == 1
    image.kill9()
    assert lock.exists()
    image.start()
    image.wait_ready()
    assert image.stop() == 0


HOLD = "case %f in {}) until [ -e /tmp/go ]; do touch /tmp/asked; sleep 0.1; done ;; esac; {}"


def test_the_image_replays_a_restored_log_before_it_prepares_the_database(image):
    """Of a server with more connections than Postgres has by default, and however long the replay takes."""
    image.start()
    image.wait_ready()
    assert image.query("SHOW max_connections") == "300"
    backup = wait_for(lambda: next((image.root / "backup").glob("[0-9]*Z"), None), "it makes a backup when none is there")
    with image.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    segment = image.query("SELECT pg_walfile_name(pg_switch_wal())")
    wait_for(lambda: (image.root / "archive" / f"{segment}.gz").exists(), "the log is archived")
    assert image.stop() == 0

    (image.root / "data" / "pg").rename(image.root / "data" / "pg.before")
    done = image.run("restore", f"/backup/{backup.name}", "/archive", "/data/pg")
    assert done.returncode == 0, done.stderr
    settings = image.root / "data" / "pg" / "postgresql.auto.conf"
    held, command = [], "restore_command = '"
    for line in settings.read_text().splitlines():
        held.append(command + HOLD.format(segment, line.removeprefix(command)) if line.startswith(command) else line)
    settings.write_text("\n".join(held) + "\n")

    image.start()
    wait_for(lambda: (image.root / "tmp" / "asked").exists() or not image.is_running(), "the server replays its log")
    with pytest.raises(psycopg.OperationalError, match="not accepting connections"):
        image.connect()
    (image.root / "tmp" / "go").touch()
    image.wait_ready()
    assert image.query("SELECT number FROM kept") == 7 and not image.query("SELECT pg_is_in_recovery()")
    assert list((image.root / "backup").glob("[0-9]*Z")) == [backup], "one of the day is there"
    assert image.stop() == 0
