"""An upgrade that needs rights in Redis which its user does not have changes nothing, and says what to do."""

import pytest

from lib.tables.common import functions_version, let_functions_be_older
from lib.wait import wait_for

USER = "svc-evalenv"
SENTENCE = "give it what deploy/redis-acl prints"


@pytest.fixture
def rules(cluster):
    """The rules of the process's user, as a list of words; they are those again at the end."""
    with cluster.redis.client() as client:
        line = next(line for line in client.acl_list() if line.split()[1] == USER)
        words = line.split()[2:]
        yield words
        client.execute_command("ACL", "SETUSER", USER, "reset", *words)


@pytest.mark.parametrize("lacking", ["~events.audit.evalenv", "(~events.account "])
def test_the_schema_stays_until_the_user_of_redis_has_its_rights(cluster, rules, lacking):
    process = cluster.separate(USER, "guarded")
    with cluster.postgres.connect("evalenv") as db, cluster.redis.client() as redis:
        current = functions_version(db, USER)
        let_functions_be_older(db, USER)
        redis.execute_command("ACL", "SETUSER", USER, "reset", *" ".join(rules).replace(lacking, lacking.replace("events", "other")).split())
        process.start()
        try:
            wait_for(lambda: SENTENCE in process.log(), "the process says what to do")
            assert not process.is_ready() and functions_version(db, USER) < current
            redis.execute_command("ACL", "SETUSER", USER, "reset", *rules)
            process.wait_ready()
            assert functions_version(db, USER) == current
        finally:
            process.stop()
