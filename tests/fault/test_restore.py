"""The rehearsal of deploy/OPERATIONS.md: everything is lost under load; Postgres is restored to an earlier point, Redis is empty,
and the disks of svc-search are newer than both."""

import json
import secrets
import threading
from collections import Counter

import httpx
import pytest

from lib.system.backup import Archive
from lib.system.cluster import Cluster
from lib.scenario.evalenv import SECRET, SPEC
from lib.fixtures import run_counterpart
from lib.system.servers import ROOT
from lib.wait import wait_for
from lib.scenario.words import new_word

POINT = "rehearsal"
SAMPLE = ROOT / "deploy" / "sample" / "papers.jsonl"
PAPERS = 2500  # enough for svc-search to save its index
CONTEXT = "Retrieval augmented generation: which passages a language model should be given."
UNFINISHED = "SELECT count(*) FROM task WHERE status IN ('pending', 'running')"
SCHEMAS = ["account", "search", "interests", "experiments", "integrations", "fleet", "evalenv"]


class ArchivedCluster(Cluster):
    """With an archive of the log, and a svc-integrations that asks the code host every second for what it lacks."""

    def __init__(self):
        super().__init__()
        self.archive = Archive(self.servers)

    def integrations_settings(self):
        return {**super().integrations_settings(), "REDELIVERY_INTERVAL": "1s"}

    def lose(self):
        """Kill everything at once, the gateway first, and delete what Redis has."""
        for process in self.all():
            process.kill9()
        self.postgres.kill9()
        self.redis.client().flushall()
        self.redis.kill9()

    def recover_by_supervisor(self):
        """Start all processes, and those that end by themselves again."""
        for name in self.processes:
            self.start(name)

        def all_ready():
            for process in self.all():
                if not process.is_running:
                    process.start()
            try:
                return all(process.is_ready() for process in self.all())
            except RuntimeError:  # one has ended meanwhile
                return False

        wait_for(all_ready, "all are ready")


INTERESTS_OF_ACCOUNT = 500


class Load:
    """What an account does all the time, and what has been answered. Each thread ends when the gateway is gone."""

    def __init__(self, cluster, code_host):
        self.user, self.code_host = cluster.user(), code_host
        self.owners = [cluster.user() for _ in range(8)]  # of the interests
        self.host_user = code_host.user()
        self.repo = code_host.repository(self.host_user.login)
        code_host.install(self.host_user.login)
        self.accepted = {"experiments": [], "tasks": [], "interests": []}
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self._repeat, args=[act]) for act in (self._experiment, self._task, self._issue)]
        for thread in self.threads:
            thread.start()

    def _repeat(self, act):
        api = self.user.api.as_key(self.user.key)
        while not self.is_over.is_set():
            try:
                act(api)
            except httpx.TransportError:
                return

    def _experiment(self, api):
        name = secrets.token_hex(8)
        made = api.post("/experiments", {"name": name}, headers={"Idempotency-Key": name}, expect=201).json()
        self.accepted["experiments"].append((made["id"], name))

    def _task(self, api):
        body = {"name": secrets.token_hex(8), "context": CONTEXT, "is_active": False}  # an account may have few active ones
        api = self.owners[len(self.accepted["interests"]) // INTERESTS_OF_ACCOUNT].api
        interest = api.post("/interests", body, expect=201).json()["id"]
        self.accepted["interests"].append(interest)
        started = api.post("/papers/recommended/refresh", {"interest_id": interest, "num_results": 5}, expect=202).json()
        self.accepted["tasks"].append(started["task_id"])

    def _issue(self, api):
        """The code host tells each by a webhook."""
        path = f"/repos/{self.repo}/issues"
        answer = self.code_host.api("POST", path, self.host_user.token, json={"title": secrets.token_hex(4)})
        assert answer.status_code == 201, answer.text

    def counts(self):
        return {kind: len(ids) for kind, ids in self.accepted.items()}

    def wait_more(self, count):
        before = self.counts()
        wait_for(lambda: all(now >= before[kind] + count for kind, now in self.counts().items()), "the load goes on")

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()


@pytest.fixture(scope="module")
def archived():
    with ArchivedCluster() as made, run_counterpart(made.code_host):
        yield made
        for process in made.all():
            process.stop()
        faults = made.check()
    assert faults == []


def rows(cluster, schema, statement, *values):
    with cluster.postgres.connect(schema) as connection:
        return connection.execute(statement, values or None).fetchall()


def tasks(cluster):
    """{id: (status, when it ended, attempts)} of all services."""
    found = [row for schema in SCHEMAS for row in rows(cluster, schema, "SELECT id::text, status, finished_at, attempts FROM task")]
    return {row[0]: row[1:] for row in found}


def put_paper(cluster, operator, word):
    number = f"{secrets.randbelow(9000) + 1000}.{secrets.randbelow(90000) + 10000}"
    body = {"title": f"On {word}", "abstract": "A paper.", "categories": ["cs.LG"]}
    operator.api.put(f"/search/assets/{number}", body, expect=200)
    wait_for(lambda: is_found(operator.api, word), "the paper is found")


def is_found(api, word):
    return word in api.post("/search/assets", {"query": word}, expect=200).text


def grow_index(cluster, word):
    """Let svc-search save its index with papers that the backup will not have."""
    papers = [{"arxiv_id": f"9801.{number:05}", "title": f"{word} {number}", "abstract": "Later."} for number in range(PAPERS)]
    rows(cluster, "search", "INSERT INTO asset (arxiv_id, title, abstract, categories) SELECT arxiv_id, title, abstract, '{cs.LG}' "
         "FROM jsonb_populate_recordset(NULL::asset, %s::jsonb) RETURNING arxiv_id", json.dumps(papers))  # fmt: skip
    (search,) = cluster["svc-search"]

    def is_saved():
        files = (cluster.servers.base / "svc-search-0").glob("index-*.snapshot")
        return any(word.encode() in path.read_bytes() for path in files)

    wait_for(is_saved, "the index is saved")
    return search


def mark_with_unfinished_tasks(cluster, load):
    """Mark the point while tasks run and wait: their writes wait for a lock. Returns what had been answered before."""
    with cluster.postgres.connect("interests") as connection, connection.transaction():
        connection.execute("LOCK TABLE recommendation IN EXCLUSIVE MODE")
        load.wait_more(5)
        accepted = {kind: list(ids) for kind, ids in load.accepted.items()}
        cluster.archive.mark(POINT)
    return accepted


def experiments_of(cluster, schema):
    return {one for one, in rows(cluster, schema, "SELECT id::text FROM experiment")}


def check_tasks(cluster, restored, load):
    """Each task of the backup ends; what had ended did not run again; no interest has a paper twice."""
    wait_for(lambda: all(rows(cluster, schema, UNFINISHED) == [(0,)] for schema in SCHEMAS), "all tasks have ended")
    now = tasks(cluster)
    assert {one: now[one] for one, row in restored.items() if row[1]} == {one: row for one, row in restored.items() if row[1]}
    assert {now[one][0] for one in restored} == {"completed"}
    papers = rows(cluster, "interests", "SELECT interest_id, count(*), count(DISTINCT arxiv_id) FROM recommendation GROUP BY 1")
    assert papers and all(count == distinct <= 5 for _, count, distinct in papers)
    follow = {one for one, in rows(cluster, "interests", "SELECT id::text FROM task WHERE input ? 'is_follow'")}
    assert set(now) - set(restored) <= follow, "no task was started by itself but those that follow a new embedder"


def check_events(cluster):
    """What one service has been told by another is what that one has."""
    wait_for(lambda: experiments_of(cluster, "interests") == experiments_of(cluster, "experiments"), "svc-interests knows them")
    dead = [name for name in cluster.redis.client().keys("*dead*")]
    assert dead == []


def check_webhooks(cluster, code_host):
    """Also what the code host told after the point is there, because it was asked for it; each once."""
    told = {row["guid"] for row in code_host.deliveries()}
    known = "SELECT id FROM delivery_seen WHERE id = ANY (%s)"
    wait_for(lambda: len(rows(cluster, "integrations", known, list(told))) == len(told), "all deliveries are there")
    facts = rows(cluster, "integrations", "SELECT count(*), count(DISTINCT delivery_id) FROM fact WHERE delivery_id = ANY (%s)", list(told))
    events = [(fields["id"], json.loads(fields["data"])) for _, fields in cluster.redis.client().xrange("events.code_host")
              if fields["type"] != "repository_name"]
    stream = [(event, data["delivery_id"]) for event, data in events if "delivery_id" in data]
    assert facts[0][0] == facts[0][1] > 0
    assert max(Counter(delivery for _, delivery in set(stream)).values()) == 1


def test_restored_to_an_earlier_point(archived, tmp_path):
    cluster, code_host = archived, archived.code_host
    cluster.run("svc-search", "import", SAMPLE)
    operator, early, late = cluster.user(operator=True), new_word(), new_word()
    put_paper(cluster, operator, early)
    template = {"name": "sealed", "spec": SPEC, "webhook_secret": SECRET}
    operator.api.post("/eval-env/templates", template, expect=201)
    revoked = operator.api.post("/account/api-keys", {"name": "revoked later"}, expect=201).json()

    load = Load(cluster, code_host)
    load.wait_more(5)
    cluster.archive.take_base()
    load.wait_more(5)
    accepted = mark_with_unfinished_tasks(cluster, load)

    # After the point: what the backup does not have.
    load.wait_more(5)
    operator.api.post(f"/account/api-keys/{revoked['id']}/revoke", expect=200)
    later = operator.api.post("/account/api-keys", {"name": "made later"}, expect=201).json()
    grow_index(cluster, late)
    old, new = cluster.seal_key("evalenv"), cluster.seal_key("new")
    cluster.run("svc-evalenv", "reseal", SEAL_KEYS=f"{new},{old}")
    cluster.lose()
    load.end()

    cluster.archive.restore(name=POINT)
    cluster.redis.start()
    restored = tasks(cluster)
    assert {status for status, _, _ in restored.values()} >= {"completed", "pending"}
    assert set(accepted["tasks"]) <= set(restored), "an accepted task is not in the backup"
    assert {one for one, _ in accepted["experiments"]} <= experiments_of(cluster, "experiments")
    cluster.recover_by_supervisor()

    check_tasks(cluster, restored, load)
    check_events(cluster)
    check_webhooks(cluster, code_host)
    one, name = accepted["experiments"][-1]
    repeated = load.user.api.post("/experiments", {"name": name}, headers={"Idempotency-Key": name}, expect=201)
    assert repeated.json()["id"] == one

    # svc-search has noticed that its index is newer than the database.
    (search,) = cluster["svc-search"]
    assert "the database was replaced or restored from a backup" in search.log()
    wait_for(lambda: is_found(operator.api, early), "the paper of the backup is found")
    assert not is_found(operator.api, late)

    # Keys: the revocation is undone, until it is repeated; a later key is unknown.
    former = operator.api.as_key(revoked["key"])
    former.get("/account/api-keys", expect=200)
    assert cluster.run("gateway", "revoke-keys", revoked["id"], later["id"]).split() == [revoked["id"], "revoked", later["id"], "unknown"]
    wait_for(lambda: former.get("/account/api-keys").status_code == 401, "the key is refused")
    operator.api.as_key(later["key"]).get("/account/api-keys", expect=401)

    # Secrets are sealed with the key of that time.
    with pytest.raises(RuntimeError, match="rows do not open: their keys are missing from SEAL_KEYS"):
        cluster.run("svc-evalenv", "reseal", SEAL_KEYS=new)
    assert cluster.run("svc-evalenv", "reseal", SEAL_KEYS=f"{new},{old}").startswith("sealed 1 rows")

    # It goes on.
    made = load.user.api.post("/interests", {"name": "after", "context": CONTEXT}, expect=201).json()["id"]
    started = load.user.api.post("/papers/recommended/refresh", {"interest_id": made}, expect=202)
    assert load.user.api.wait_task(started)["status"] == "completed"
