"""Every secret is replaced, as deploy/OPERATIONS.md says, while requests and webhooks arrive; none fails."""

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest
import redis

from lib.system.cluster import Cluster
from lib.wait import wait_for
from lib.outside.webhooks import Hook

ROTATED = ["gateway", "svc-experiments", "svc-integrations"]  # replicas of these are restarted, one after the other
READS = ["/account/api-keys", "/experiments", "/integrations/connections", "/search/stats"]
STEPS = ["accept", "use", "forget"]
LOADS = 6
KEYS = {"svc-integrations": "test"}  # names of their SEAL_KEYS


@pytest.fixture(scope="module")
def replicas():
    with Cluster(2) as made:
        yield made
        for process in made.all():
            process.stop()
        faults = made.check()
    assert faults == []


class Load:
    """Reads, writes and webhooks in a loop; what failed."""

    def __init__(self, cluster):
        self.cluster, self.user = cluster, cluster.user()
        self.webhook_secret = cluster.code_host.webhook_secret
        self.count, self.failed, self.is_over = 0, [], threading.Event()
        self.threads = [threading.Thread(target=self._repeat) for _ in range(LOADS)]
        for thread in self.threads:
            thread.start()

    def _repeat(self):
        api, hook = self.user.api.as_key(self.user.key), Hook(self.cluster)
        while not self.is_over.is_set():
            for path in READS:
                self._check(path, 200, lambda path=path: api.get(path))
            name = secrets.token_hex(8)
            self._check("POST /experiments", 201, lambda: api.post("/experiments", {"name": name}, headers={"Idempotency-Key": name}))
            body = {"action": "created", "repository": {"full_name": f"acme/{name}"}}
            self._check("webhook", 202, lambda: hook.deliver("star", body, secret=self.webhook_secret))

    def _check(self, what, status, act):
        try:
            answer = act()
            fault = None if answer.status_code == status else answer.text
        except (httpx.TransportError, AssertionError) as error:
            fault = repr(error)
        self.count += 1
        if fault:
            self.failed.append((what, fault))

    def wait_more(self, count=100):
        enough = self.count + count
        wait_for(lambda: self.count >= enough, "the load goes on")

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()


class Rotation:
    """The settings of each process in each step, from those that it has and new secrets."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.former = {name: dict(cluster[name][0].env) for name in ROTATED}
        self.new = {name: secrets.token_hex(24) for name in ["database", "redis", "identity", "seal", "webhook"]}
        self.keys = {name: (cluster.seal_key(key), cluster.seal_key("new")) for name, key in KEYS.items()}

    @staticmethod
    def both(step, old, new):
        """As SEAL_SECRETS, SEAL_KEYS and CODE_HOST_WEBHOOK_SECRETS have them: the first one is used, all are accepted."""
        return {"accept": f"{old},{new}", "use": f"{new},{old}", "forget": new}[step]

    def identity(self, step, name):
        """The gateway calls the others with a new secret."""
        former, others = self.former[name], [other for other in ROTATED if other != "gateway"]
        sign, verify = former["IDENTITY_SIGN_SECRETS"], former["IDENTITY_VERIFY_SECRETS"]
        for other in others:
            old = self.cluster.pair_secret("gateway", other)
            new = self.new["identity"] + other
            if step != "accept":
                sign = sign.replace(f"{other}={old}", f"{other}={new}") if name == "gateway" else sign
            verify = verify.replace(f"gateway={old}", f"gateway={new}" if step == "forget" else f"gateway={old},{new}")
        return {"IDENTITY_SIGN_SECRETS": sign, "IDENTITY_VERIFY_SECRETS": verify}

    def database(self, step, name):
        old = self.former[name]["DATABASE_URL"]
        role = "expops_" + name.removeprefix("svc-")
        new = old.replace(self.cluster.postgres.role_password(role), self.new["database"])
        return {"DATABASE_URL": new if step == "forget" else f"{new} {old}"}

    def message_store(self, step, name):
        url = self.former[name]["REDIS_URL"]
        new = url.replace(self.cluster.redis.user_password(name), self.new["redis"])
        return {"REDIS_URL": url if step == "accept" else new}

    def settings(self, step, name):
        former = self.former[name]
        made = {**self.identity(step, name), **self.database(step, name), **self.message_store(step, name)}
        made["SEAL_SECRETS"] = self.both(step, former["SEAL_SECRETS"], self.new["seal"])
        if name in self.keys:
            made["SEAL_KEYS"] = self.both(step, *self.keys[name])
        if name == "svc-integrations":
            made["CODE_HOST_WEBHOOK_SECRETS"] = self.both(step, former["CODE_HOST_WEBHOOK_SECRETS"], self.new["webhook"])
        return {**made, "DRAIN_DELAY": "1s"}

    def roll(self, step):
        """One replica after the other, of all processes at the same time: which of them comes first does not matter."""
        with ThreadPoolExecutor(len(ROTATED)) as threads:
            list(threads.map(lambda name: self.roll_replicas(step, name), ROTATED))

    def roll_replicas(self, step, name):
        for process in self.cluster[name]:
            process.env.update(self.settings(step, name))
            process.restart()
            process.wait_ready()

    def set_redis_passwords(self, step):
        """Redis accepts several passwords of a user. ACL SETUSER changes them without closing connections."""
        client = self.cluster.redis.client()
        for name in ROTATED:
            rule = {"accept": f">{self.new['redis']}", "forget": f"<{self.cluster.redis.user_password(name)}"}[step]
            client.execute_command("ACL", "SETUSER", name, rule)

    def set_database_passwords(self):
        with self.cluster.postgres.connect() as connection:
            for name in ROTATED:
                connection.execute(f"ALTER ROLE expops_{name.removeprefix('svc-')} PASSWORD '{self.new['database']}'")


def sealed_with(cluster):
    """The ids of the keys that have sealed what the connections keep."""
    with cluster.postgres.connect("integrations") as connection:
        rows = connection.execute("SELECT DISTINCT substr(sealed, 2, get_byte(sealed, 0)) FROM connection").fetchall()
    return {bytes(key).decode() for key, in rows}


def check_old_ones_are_refused(cluster, rotation):
    for name in ROTATED:
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(rotation.former[name]["DATABASE_URL"])
        with pytest.raises((redis.ResponseError, redis.AuthenticationError), match="invalid username-password pair"):
            cluster.redis.client(name).ping()
    Hook(cluster).deliver("star", {"action": "created"}, secret=cluster.code_host.webhook_secret, expect=401)


def test_all_secrets_are_replaced_under_load(replicas):
    cluster = replicas
    rotation, load = Rotation(cluster), Load(cluster)
    try:
        load.user.api.post("/integrations/anthropic/connect", {"api_key": f"good-{secrets.token_hex(16)}"}, expect=200)
        assert sealed_with(cluster) == {"test"}
        load.wait_more()
        rotation.set_redis_passwords("accept")
        rotation.roll("accept")
        load.wait_more()
        rotation.set_database_passwords()
        load.webhook_secret = rotation.new["webhook"]
        rotation.roll("use")
        cluster.run("svc-integrations", "reseal", **rotation.settings("use", "svc-integrations"))
        load.wait_more()
        rotation.roll("forget")
        rotation.set_redis_passwords("forget")
        load.wait_more()
    finally:
        load.end()
    assert load.failed == [], f"{len(load.failed)} of {load.count} failed"
    assert sealed_with(cluster) == {"new"}
    check_old_ones_are_refused(cluster, rotation)
