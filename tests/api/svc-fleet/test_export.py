"""`svc-fleet export`: runs as files in a folder or an S3-compatible store."""

import gzip
import itertools
import json
import os
import secrets
import signal
import subprocess
from contextlib import ExitStack
from datetime import datetime, timedelta, timezone

import pytest

from lib.outside.s3 import BUCKET, ID, S3, Moody, settings
from lib.tables import common
from lib.tables import fleet as fleet_tables
from lib.wait import PATIENCE_SECONDS, wait_for

AGES = itertools.count(60, 3)  # in days: a test may take the day after its own, and go on after midnight


@pytest.fixture
def day():
    """A day of which no other test has runs, at noon."""
    noon = datetime.now(timezone.utc).replace(hour=12, minute=0, second=0, microsecond=0)
    return noon - timedelta(days=next(AGES))


@pytest.fixture
def run(db, user, agent):
    """run(number, at, **members): a run that was first heard of, and last changed, at that time."""
    repo = f"acme/{secrets.token_hex(4)}"
    key = agent(repo, of=user.api)

    def report(number, at, pull=None, **members):
        if pull:
            members["artifact_url"] = f"https://github.com/{repo}/pull/{pull}"
        key.post("/fleet/runs", {"run_id": number, "repo": repo, **members}, expect=201)
        fleet_tables.age_run(db, user.account, repo, number, at)
        fleet_tables.set_changed(db, user.account, repo, number, at)
        return repo

    return report


@pytest.fixture
def s3(tmp_path):
    server = S3(tmp_path / "s3")
    yield server
    server.close()


@pytest.fixture
def moody():
    made = []

    def make(*answers):
        made.append(Moody(*answers))
        return made[-1]

    yield make
    for one in made:
        one.close()


def export(cluster, to, before=None, **changes):
    before = before or datetime.now(timezone.utc).date()
    return cluster.run("svc-fleet", "export", "--before", before, "--to", to, **changes)


class Killed:
    """`svc-fleet export` in a process that a test kills."""

    def __init__(self, cluster, to, **changes):
        command = [cluster.binary("svc-fleet"), "export", "--before", str(datetime.now(timezone.utc).date()), "--to", str(to)]
        self.popen = subprocess.Popen(command, env={**os.environ, **cluster.settings("svc-fleet", "command", **changes)},
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self):
        self.popen.kill()
        assert self.popen.wait(PATIENCE_SECONDS) == -signal.SIGKILL


def name_of(day, part=1):
    return f"runs-{day.date()}.{part}.jsonl.gz"


def lines_of(content, account):
    rows = [json.loads(line) for line in content.splitlines()]
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    return [row for row in rows if row["account_id"] == account]


def lines_in(path, account):
    return lines_of(gzip.decompress(path.read_bytes()), account)


def test_runs_are_lines_of_a_file_a_day(cluster, user, run, day, tmp_path):
    repo = run(1, day, pull=7, status="pr_opened", cost_usd=1.5, refine_queries=["a query"], agent="agent_one")
    url = f"https://github.com/{repo}/pull/7"
    run("two", day + timedelta(days=1, hours=11, minutes=59), status="failed", error="line one\nline two \u00e9")
    printed = export(cluster, tmp_path)
    (first,) = lines_in(tmp_path / name_of(day), user.account)
    (second,) = lines_in(tmp_path / name_of(day + timedelta(days=1)), user.account)
    shown = user.api.get("/fleet/runs?include=selection").json()
    assert [first["run"], second["run"]] == [next(one for one in shown if one["run_id"] == id) for id in (1, "two")]
    assert first["run"]["refine_queries"] == ["a query"] and first["run"]["spend_usd"] == 1.5
    assert (first["first_at"], first["run"]["repo"]) == (day.strftime("%Y-%m-%dT12:00:00.000Z"), repo)
    assert (first["deliverable"]["url"], first["deliverable"]["kind"], second["deliverable"]) == (url, "pull_request", None)
    assert f"{name_of(day)}: 1 runs, " in printed
    assert (tmp_path / name_of(day)).stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob(".*"))


def test_a_day_is_written_again_only_when_a_run_has_changed(cluster, db, user, run, day, tmp_path):
    repo = run(1, day, status="running")
    export(cluster, tmp_path)
    written = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert export(cluster, tmp_path).endswith("0 files, 0 runs\n")
    fleet_tables.set_changed(db, user.account, repo, 1, datetime.now(timezone.utc))
    assert f"{name_of(day, 2)}: 1 runs" in export(cluster, tmp_path)
    assert len(lines_in(tmp_path / name_of(day, 2), user.account)) == 1
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in written} == written
    other = tmp_path / "other"
    other.mkdir()
    export(cluster, other)
    assert (other / name_of(day)).exists()


def test_a_day_is_written_again_when_only_details_have_changed(cluster, db, user, run, day, tmp_path):
    repo = run(1, day, refine_queries=["a"])
    export(cluster, tmp_path)
    fleet_tables.store_together(db, [{"account": user.account, "repo": repo, "run_id": 1, "report": {}, "detail": {"refine_queries": ["b"]}}])
    export(cluster, tmp_path)
    (line,) = lines_in(tmp_path / name_of(day, 2), user.account)
    assert line["run"]["refine_queries"] == ["b"]


def test_a_day_is_written_again_when_a_repository_is_renamed(cluster, db, user, run, day, tmp_path):
    repo = run(1, day)
    export(cluster, tmp_path)
    fleet_tables.rename(db, user.account, repo, f"{repo}-new")
    export(cluster, tmp_path)
    (line,) = lines_in(tmp_path / name_of(day, 2), user.account)
    assert line["run"]["repo"] == f"{repo}-new"


def test_a_killed_export_makes_the_half_file_again(cluster, db, user, run, day, tmp_path):
    run(1, day)
    with common.locked(db, "deliverable"):  # which the export reads when it has begun the file
        killed = Killed(cluster, tmp_path)
        wait_for(lambda: list(tmp_path.glob(".*.partial")), "a file is begun")
        killed.kill()
    assert not (tmp_path / name_of(day)).exists()
    export(cluster, tmp_path)
    assert len(lines_in(tmp_path / name_of(day), user.account)) == 1
    assert not list(tmp_path.glob(".*"))


def test_an_export_that_has_lost_its_lease_leaves_the_file_of_the_next_alone(cluster, db, user, run, day, tmp_path):
    run(1, day)
    with common.locked(db, "deliverable"):
        first = Killed(cluster, tmp_path)
        wait_for(lambda: list(tmp_path.glob(".*.partial")), "a file is begun")
        first.popen.send_signal(signal.SIGSTOP)
    run(2, day)
    try:
        assert f"{name_of(day)}: 2 runs" in export(cluster, tmp_path)
    finally:
        first.popen.send_signal(signal.SIGCONT)
    noted = fleet_tables.exports(db, str(tmp_path))
    assert first.popen.wait(PATIENCE_SECONDS) != 0
    assert len(lines_in(tmp_path / name_of(day), user.account)) == 2
    assert fleet_tables.exports(db, str(tmp_path)) == noted
    assert not list(tmp_path.glob(".*"))


def test_a_finished_file_is_never_written_again(cluster, db, user, run, day, tmp_path):
    """Killed when the file is there, and before this was noted."""
    run(1, day)
    with ExitStack() as stack:
        other = stack.enter_context(cluster.postgres.connect("fleet"))
        with common.locked(db, "deliverable"):
            killed = Killed(cluster, tmp_path)
            wait_for(lambda: list(tmp_path.glob(".*.partial")), "a file is begun")
            stack.enter_context(common.locked(other, "run_export"))
        try:
            wait_for(lambda: list(tmp_path.glob("runs-*")), "the file is there")
        finally:
            killed.kill()
        wait_for(lambda: common.waiting_for_locks(db) == 0, "the server has noticed")
    (first,) = tmp_path.glob("runs-*")
    before = (first.stat().st_ino, first.stat().st_mtime_ns)
    assert f"{first.name} is there already\n" in export(cluster, tmp_path)
    assert (first.stat().st_ino, first.stat().st_mtime_ns) == before
    assert len(lines_in(tmp_path / name_of(day), user.account)) == 1


def test_objects_of_s3(cluster, user, run, day, s3):
    run(1, day, status="failed")
    target = f"s3://{BUCKET}/of the year"
    with pytest.raises(RuntimeError, match="--to: must be s3://BUCKET or s3://BUCKET/PREFIX"):
        export(cluster, target, **settings(s3.url))
    target = f"s3://{BUCKET}/fleet/2026"
    export(cluster, target, **settings(s3.url))
    written = s3.objects()
    assert len(lines_of(gzip.decompress(written[f"fleet/2026/{name_of(day)}"]), user.account)) == 1
    assert export(cluster, target, **settings(s3.url)).endswith("0 files, 0 runs\n")
    assert s3.objects() == written


@pytest.mark.parametrize("target, changes, message", [
    (f"s3://{BUCKET}", {"key_id": "AKIAOTHER"}, "the store refuses EXPORT_S3_KEY_ID and EXPORT_S3_SECRET (403)"),
    (f"s3://{BUCKET}", {"secret": "wrong"}, "the store refuses EXPORT_S3_KEY_ID and EXPORT_S3_SECRET (403)"),
    ("s3://absent/a", {}, "s3://absent/a/: there is no such bucket"),
    (f"s3://{BUCKET}", {"secret": ""}, "EXPORT_S3_SECRET: must be set"),
    (f"s3://{BUCKET}", {"url": ""}, "EXPORT_S3_URL: must be set"),
    (f"s3://{BUCKET}", {"url": "s3.example.org"}, "EXPORT_S3_URL: must be https://HOST or http://HOST"),
])
def test_what_is_wrong_with_s3_is_said(cluster, s3, target, changes, message):
    failed = pytest.raises(RuntimeError, export, cluster, target, **settings(**{"url": s3.url, **changes})).value
    assert message in str(failed)
    assert s3.objects() == {}


def test_a_secret_from_a_file(cluster, run, day, s3, tmp_path):
    run(1, day)
    (tmp_path / "secret").write_text(settings("")["EXPORT_S3_SECRET"] + "\n")
    given = {"EXPORT_S3_URL": s3.url, "EXPORT_S3_KEY_ID": ID, "EXPORT_S3_SECRET_FILE": str(tmp_path / "secret")}
    export(cluster, f"s3://{BUCKET}", **given)
    assert name_of(day) in s3.objects()


def test_a_store_that_fails_is_asked_again(cluster, user, run, day, moody):
    run(1, day)
    store = moody(500, 503, None)
    export(cluster, f"s3://{BUCKET}", **settings(store.url))
    assert len(lines_of(store.objects[f"/{BUCKET}/{name_of(day)}"], user.account)) == 1
    assert store.puts == 3 + len(store.objects)


def test_a_store_that_keeps_failing_ends_the_export_and_the_next_goes_on(cluster, user, run, day, moody):
    run(1, day)
    store = moody(*[500] * 5)
    with pytest.raises(RuntimeError, match="the store answered 500 InternalError We are sorry"):
        export(cluster, f"s3://{BUCKET}/a", **settings(store.url))
    assert (store.puts, store.objects) == (5, {})
    export(cluster, f"s3://{BUCKET}/a", **settings(store.url))
    assert len(lines_of(store.objects[f"/{BUCKET}/a/{name_of(day)}"], user.account)) == 1


@pytest.mark.parametrize("arguments", [[], ["--before", "yesterday"], ["--before", "2999-01-01"], ["--before", "2026-01-01", "--all"],
                                       ["--before", "2026-01-01", "--to", ""], ["--before", "2026-01-01", "x"]])
def test_wrong_arguments_are_refused(cluster, arguments):
    with pytest.raises(RuntimeError, match=r": 2\n(?s:.*)usage: svc-fleet export --before DATE"):
        cluster.run("svc-fleet", "export", *arguments)


def test_a_folder_that_lacks_is_named(cluster, tmp_path):
    with pytest.raises(RuntimeError, match=f"{tmp_path}/none: no such file or directory"):
        export(cluster, tmp_path / "none")


def test_a_file_of_another_database_is_not_overwritten(cluster, run, day, tmp_path):
    run(1, day)
    (tmp_path / name_of(day)).write_text("mine")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="this database has not written it"):
            export(cluster, tmp_path)
    assert (tmp_path / name_of(day)).read_text() == "mine"


def test_runs_wait_for_their_export(cluster, db, user, run, tmp_path):
    """With EXPORT_REQUIRED: runs and details that were not exported, or have changed since, stay."""
    old = datetime.now(timezone.utc) - timedelta(days=1300)
    repo = run(1, old, refine_queries=["a"])
    run(2, old)
    keeper = cluster.separate("svc-fleet", "keeper", EXPORT_REQUIRED="true")
    fleet_tables.add_old_facts(db, user.account, days=1300)
    keeper.start()
    try:
        wait_for(lambda: set(fleet_tables.old_facts(db, user.account).values()) == {0}, "the pass is over")
        assert len(user.api.get("/fleet/runs").json()) == 2
        export(cluster, tmp_path)
        fleet_tables.set_changed(db, user.account, repo, 2, datetime.now(timezone.utc))
        keeper.popen.send_signal(signal.SIGHUP)
        wait_for(lambda: [one["run_id"] for one in user.api.get("/fleet/runs").json()] == [2], "the exported run is gone")
        export(cluster, tmp_path)
        keeper.popen.send_signal(signal.SIGHUP)
        wait_for(lambda: user.api.get("/fleet/runs").json() == [], "the other one is gone")
    finally:
        keeper.stop()
