"""The version that deploy/former names still runs while this one takes its place: its statements fit the schema that this one makes, and
each of its processes can be replaced, one replica at a time, while clients use the product. `deploy/dev test upgrade` builds it, and
also runs its own tests on this version's schema."""

import hashlib
import re

import psycopg
import pytest

from lib.fixtures import run_cluster
from lib.http.load import Load
from lib.system.named_cluster import NamedCluster
from lib.system.servers import ROOT, read_processes

REQUESTS_BETWEEN = 100

# What the version in deploy/former lacks, or cannot do without a fault: it has no svc-evalenv, and migrations drop and make again the
# functions by which it reads runs. A statement that runs at that moment fails.
LEFT_OUT = ("/eval-env/", "/fleet/")
SCHEMAS = {name: schema for name, schema, _ in read_processes()}


def make_former_schema(url, name, source):
    """Migrate as the former version does, but with the text that a migration has today: the server may be newer than that version,
    and refuse its first text (libcommon/pg/migrate.h)."""
    with psycopg.connect(url, autocommit=True, options=f"-c search_path={SCHEMAS[name]}") as connection:
        connection.execute(
            "CREATE TABLE migration (name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())")
        for prefix, folder in (("common_", "libcommon/pg/migrations"), ("", f"{name}/migrations")):
            for path in sorted((source / folder).glob("*.sql")):
                connection.execute((ROOT / folder / path.name).read_text())
                connection.execute("INSERT INTO migration (name, sha256) VALUES (%s, %s)",
                                   (prefix + path.stem, hashlib.sha256(path.read_bytes()).hexdigest()))


class FormerCluster(NamedCluster):
    """Starts with processes of the former version, with the settings of this one."""

    def __init__(self, former_build, former_source):
        self.former_build, self.former_source, self.replaced = former_build, former_source, set(SCHEMAS)
        super().__init__(DRAIN_DELAY="1s")
        self.replaced.clear()

    def binary(self, name):
        former = self.former_build / "deploy" / name
        return super().binary(name) if name in self.replaced or not former.exists() else former

    def start(self, name, replicas=1):
        if (self.former_source / name / "migrations").exists():
            make_former_schema(self.postgres.url("expops_" + name.removeprefix("svc-")), name, self.former_source)
        super().start(name, replicas)

    def replace(self, name):
        """Replace the replicas of a process one after the other."""
        self.replaced.add(name)
        for process in self[name]:
            process.stop()
            process.binary = self.binary(name)
            process.start()
            process.wait_ready()


def statements(folder):
    """[(file, name, text)] of the statements below a folder."""
    for path in folder.rglob("*.sql"):
        if path.parent.name != "migrations":
            for text in re.split(r"^-- name: ", path.read_text(), flags=re.MULTILINE)[1:]:
                name, _, body = text.partition("\n")
                yield path.name, name, body


@pytest.mark.parametrize("name", SCHEMAS)
def test_statements_of_the_former_version_fit(cluster, former_source, name):
    folders = [folder for folder in (former_source / name, former_source / "libcommon") if folder.exists()]
    with cluster.postgres.connect(SCHEMAS[name]) as connection:
        faults = []
        for folder in folders:
            for file, statement, text in statements(folder):
                message = connection.pgconn.prepare(b"", text.encode()).error_message
                if message:
                    faults.append(f"{file} {statement}: {message.decode().splitlines()[0]}")
    assert faults == []


def test_the_former_version_is_replaced_under_load(former_build, former_source):
    """Both orders of caller and callee occur: the gateway is replaced in the middle."""
    with run_cluster(FormerCluster(former_build, former_source)) as cluster:
        names = [name for name in SCHEMAS if name != "gateway"]
        order = [*names[:3], "gateway", *names[3:]]
        with Load(cluster.user(), cluster["gateway"], left_out=LEFT_OUT) as load:
            for name in order:
                load.go_on(REQUESTS_BETWEEN)
                cluster.replace(name)
            load.go_on(REQUESTS_BETWEEN)
        assert load.failures == [], f"{len(load.failures)} of {load.total} requests"
        assert list(load.broken()) == []
