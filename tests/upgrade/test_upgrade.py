"""The version that deploy/previous names still runs while this one takes its place: its statements fit the schema that this one makes, and
each of its processes can be replaced, one replica at a time, while clients use the product. `deploy/dev test upgrade` builds it, and
also runs its own tests on this version's schema."""

import pytest

from lib.fixtures import run_cluster
from lib.http.load import Load
from lib.system.named_cluster import NamedCluster
from lib.system.servers import read_processes
from lib.system.statements import reader, statement_files, statements_of

REQUESTS_BETWEEN = 100

# Settings whose values the previous version refuses: it takes its defaults.
CHANGED = {"AGENT_COMMANDS"}

SCHEMAS = {name: schema for name, schema, _ in read_processes()}


class PreviousCluster(NamedCluster):
    """Starts with processes of the previous version, with the settings of this one but for those that changed their form."""

    def __init__(self, previous_build):
        self.previous_build, self.replaced = previous_build, set(SCHEMAS)
        super().__init__(DRAIN_DELAY="1s")
        self.replaced.clear()

    def binary(self, name):
        previous = self.previous_build / "deploy" / name
        return super().binary(name) if name in self.replaced or not previous.exists() else previous

    def settings(self, name, *args, **changes):
        made = super().settings(name, *args, **changes)
        return made if name in self.replaced else {setting: value for setting, value in made.items() if setting not in CHANGED}

    def insert_person(self, account):
        """The previous version has none: its keys are the owner's."""

    def changed_settings(self, name):
        """Those of this version that a process of the previous one did without."""
        return {setting: value for setting, value in self.secrets_of(name).items() if setting in CHANGED}

    def replace(self, name):
        """Replace the replicas of a process one after the other."""
        self.replaced.add(name)
        for process in self[name]:
            process.stop()
            process.binary = self.binary(name)
            process.env = {**process.env, **self.changed_settings(name)}
            process.start()
            process.wait_ready()


@pytest.mark.parametrize("name", SCHEMAS)
def test_statements_of_the_previous_version_fit(cluster, previous_source, name):
    folders, read = [folder for folder in (previous_source / name, previous_source / "libcommon") if folder.exists()], reader(previous_source)
    with cluster.postgres.connect(SCHEMAS[name]) as connection:
        faults = []
        for folder in folders:
            for path in statement_files(folder):
                for statement, text in statements_of(path, read).items():
                    message = connection.pgconn.prepare(b"", text.encode()).error_message
                    if message:
                        faults.append(f"{path.name} {statement}: {message.decode().splitlines()[0]}")
    assert faults == []


def test_the_previous_version_is_replaced_under_load(previous_build):
    """Both orders of caller and callee occur: the gateway is replaced in the middle. Once no process of the previous version is left, the
    gateway names persons, which that version would refuse."""
    with run_cluster(PreviousCluster(previous_build)) as cluster:
        names = [name for name in SCHEMAS if name != "gateway"]
        order = [*names[:3], "gateway", *names[3:]]
        with Load(cluster.user(), cluster["gateway"]) as load:
            cluster.postgres.prepare()  # deploy/init.sql, as an operator runs it before an upgrade
            for name in order:
                load.go_on(REQUESTS_BETWEEN)
                cluster.replace(name)
            load.go_on(REQUESTS_BETWEEN)
            for process in cluster["gateway"]:
                process.env = {**process.env, "IDENTITY_PERSON": "true"}
            cluster.replace("gateway")
            load.go_on(REQUESTS_BETWEEN)
        assert load.failures == [], f"{len(load.failures)} of {load.total} requests"
        assert list(load.broken()) == []
