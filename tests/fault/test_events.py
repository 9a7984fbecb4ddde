"""Events between services survive stopped processes, lost Redis data and restored databases."""

import json
import uuid

import pytest

from lib.wait import wait_for

STREAM = "events.experiments"


@pytest.fixture
def experiments(cluster):
    """The schema of svc-experiments."""
    with cluster.postgres.connect("experiments") as connection:
        yield connection


@pytest.fixture
def interests(cluster):
    """The schema of svc-interests."""
    with cluster.postgres.connect("interests") as connection:
        yield connection


def is_known(interests, experiment):
    return interests.execute("SELECT FROM experiment WHERE id = %s", [experiment]).fetchone() is not None


def wait_known(interests, experiment):
    wait_for(lambda: is_known(interests, experiment), "svc-interests knows the experiment")


def wait_sent(experiments):
    unsent = "SELECT count(*) FROM outbox WHERE sent_at IS NULL"
    wait_for(lambda: experiments.execute(unsent).fetchone() == (0,), "all events are sent")


def create(api, name):
    return api.post("/experiments", {"name": name}, expect=201).json()["id"]


@pytest.mark.parametrize("lease", ["outbox", STREAM])
def test_events_flow_while_the_holder_of_a_lease_is_stopped(pair, lease):
    service, schema = ("svc-experiments", "experiments") if lease == "outbox" else ("svc-interests", "interests")
    with pair.postgres.connect("experiments") as writer, pair.postgres.connect("interests") as reader, \
            pair.postgres.connect(schema) as leases:
        held = "SELECT owner FROM lease WHERE name = %s AND until > now()"
        (owner,) = wait_for(lambda: leases.execute(held, [lease]).fetchone(), "a process holds the lease")
        (holder,) = [process for process in pair[service] if f"-{process.popen.pid}-" in owner]
        holder.pause()
        try:
            made = str(uuid.uuid4())
            data = json.dumps({"id": made, "version": 1, "name": "Made meanwhile"})
            writer.execute("SELECT event_emit(%s, 'experiment.created', %s, %s)", [STREAM, str(uuid.uuid4()), data])
            wait_known(reader, made)
        finally:
            holder.resume()


def test_a_reader_that_is_away_misses_nothing_when_redis_is_emptied(cluster, api, experiments, interests):
    redis = cluster.redis.client()
    cluster.stop("svc-interests")
    made = create(api, "Made while the reader is away")
    wait_sent(experiments)
    redis.flushall()

    def is_sent_again():
        return made in [json.loads(fields["data"]).get("id") for _, fields in redis.xrange(STREAM)]

    wait_for(is_sent_again, "the event is sent again")
    cluster.start("svc-interests")
    wait_known(interests, made)


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_readers_database_is_restored_and_redis_kept(cluster, api, experiments, interests, is_cut):
    before = create(api, "Before the dump")
    wait_known(interests, before)
    position = "SELECT entry_id FROM event_position WHERE stream = %s"
    wait_sent(experiments)
    entries = [entry for entry, fields in cluster.redis.client().xrange(STREAM) if before in fields["data"]]  # and its message
    wait_for(lambda: interests.execute(position, [STREAM]).fetchone()[0] in entries, "the position is saved")
    after = create(api, "After the dump")
    wait_known(interests, after)
    wait_sent(experiments)
    cluster.stop("svc-interests")
    interests.execute("DELETE FROM experiment WHERE id = %s", [after])
    interests.execute("UPDATE event_position SET entry_id = %s WHERE stream = %s", [entries[-1], STREAM])
    interests.execute("DELETE FROM event_settled WHERE stream = %s", [STREAM])
    if is_cut:
        cluster.redis.client().xtrim(STREAM, maxlen=0, approximate=False)
    cluster.start("svc-interests")
    wait_known(interests, after)


def test_the_database_of_all_is_restored_and_redis_kept(cluster, api, experiments, interests):
    made = create(api, "Sent before the dump, read after it")
    wait_known(interests, made)
    wait_sent(experiments)
    for name in ("svc-experiments", "svc-interests"):
        cluster.stop(name)
    (batch,) = experiments.execute("SELECT max(sent_batch) FROM outbox").fetchone()
    cluster.redis.client().set("batch.svc-experiments", batch + 100)
    cluster.redis.client().set("fence.svc-experiments", 1_000_000)
    cluster.redis.client().xtrim(STREAM, maxlen=0, approximate=False)
    interests.execute("DELETE FROM experiment WHERE id = %s", [made])
    interests.execute("DELETE FROM event_position WHERE stream = %s", [STREAM])
    interests.execute("DELETE FROM event_settled WHERE stream = %s", [STREAM])
    for name in ("svc-experiments", "svc-interests"):
        cluster.start(name)
    wait_known(interests, made)
    cluster.wait_ready()
    wait_known(interests, create(api, "Made after it"))
