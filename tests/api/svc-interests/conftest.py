"""Fixtures of the svc-interests tests: the sample papers, a database connection, and a user's usual steps.

These tests have a cluster of their own, whose index has only the sample papers: the built-in embedder learns from what is in the
index, and so what an interest finds would depend on the papers of other tests.
"""

import json
import secrets
import time
import uuid
from datetime import datetime, timezone

import pytest

from lib.system.cluster import Cluster
from lib.fixtures import run_cluster, run_counterpart
from lib.scenario.sample import load_sample
from lib.wait import wait_for

DAY_SECONDS = 86400
TEST_SECONDS = 120  # no test takes longer

CONTEXT = (
    "We run a question-answering assistant over our own documents and want better evidence for its answers: dense and "
    "hybrid retrieval, re-ranking, query rewriting, retrieval-augmented generation with language models."
)
BROAD_CONTEXT = "Models"  # more than 50 papers of the sample are related to it
OTHER_CONTEXT = (
    "Computer vision on small devices: image classification, object detection and segmentation with networks that are "
    "pruned, quantised or distilled."
)


@pytest.fixture(scope="session")
def cluster():
    with run_cluster(Cluster(1)) as made:
        yield made


@pytest.fixture(scope="session")
def code_host(cluster):
    with run_counterpart(cluster.code_host) as made:
        yield made


@pytest.fixture(scope="session")
def papers(cluster):
    """The sample papers, {arXiv id: paper}. The index has them and no others, and the embedder was trained with them."""
    return load_sample(cluster)


@pytest.fixture
def db(cluster):
    """A connection to the schema of svc-interests, as the owner of the database."""
    with cluster.postgres.connect("interests") as connection:
        yield connection


@pytest.fixture(autouse=True)
def one_day():
    """Make a test begin and end on the same day (UTC), since recommendations are listed by day."""
    wait_for(lambda: DAY_SECONDS - time.time() % DAY_SECONDS > TEST_SECONDS, "enough time before midnight (UTC)")


@pytest.fixture
def second(cluster):
    """A second replica, stopped after the test; it gets jobs and events, too."""
    name = "svc-interests"
    count = len(cluster[name])
    cluster.add(name).wait_ready()
    yield
    cluster.retire(name, count)


class InterestSteps:
    """The steps of a user who works with interests."""

    def __init__(self, api):
        self.api = api

    def create(self, **body):
        """Create an interest with a unique name."""
        body = {"name": f"Interest {secrets.token_hex(4)}", "context": CONTEXT, **body}
        return self.api.post("/interests", body, expect=201).json()

    def get(self, interest):
        return self.api.get(f"/interests/{interest['id']}", expect=200).json()

    def wait_pool(self, interest, status="ready"):
        """Wait until the pool has this status. Returns the interest."""

        def settled():
            now = self.get(interest)
            return now if now["pool_status"] == status else None

        return wait_for(settled, f"pool is {status}")

    def ready(self, is_active=True, **body):
        """An interest that has a pool and no recommendations yet: while an interest is inactive, its pool brings none."""
        made = self.wait_pool(self.create(is_active=False, **body))
        return self.toggle(made) if is_active else made

    def toggle(self, interest):
        self.api.post(f"/interests/{interest['id']}/toggle", expect=200)
        return self.get(interest)

    def ready_broad(self, **body):
        """An interest that more than 50 papers fit: lists of it are as long as asked for."""
        return self.ready(context=BROAD_CONTEXT, **body)

    def start_refresh(self, interest=None, num_results=None):
        """Start to refresh recommendations. Returns the answer."""
        body = {"interest_id": interest and interest["id"], "num_results": num_results}
        return self.api.post("/papers/recommended/refresh", body, expect=202)

    def refresh(self, interest=None, num_results=None):
        """Refresh recommendations and wait for the end. Returns the completed task."""
        task = self.api.wait_task(self.start_refresh(interest, num_results))
        assert task["status"] == "completed", task
        return task

    def recommended(self, interest=None, **params):
        """A page of recommendations."""
        if interest:
            params["interest_id"] = interest["id"]
        return self.api.get("/papers/recommended", params=params, expect=200).json()

    def feedback(self, recommendation, signal):
        path = f"/papers/recommended/{recommendation['recommendation_id']}/feedback"
        return self.api.post(path, {"signal": signal}, expect=200).json()

    def refit(self, interest):
        path = f"/experiment-histories/{interest['experiment_history_id']}/refit-preference-model"
        return self.api.wait_task(self.api.post(path, expect=202))

    def score(self, interest, body=None, **options):
        path = f"/experiment-histories/{interest['experiment_history_id']}/score-candidates"
        return self.api.post(path, body, **options)


@pytest.fixture
def interests(papers, api):
    return InterestSteps(api)


@pytest.fixture
def other_interests(papers, other_user):
    return InterestSteps(other_user.api)


@pytest.fixture
def emit(cluster):
    """Add an event to a stream as its service would. Pass the same `event_id` to deliver an event twice."""

    def put(stream, kind, account, data, event_id=None):
        event_id = event_id or str(uuid.uuid4())
        at = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        cluster.redis.client().xadd(
            stream,
            {"id": event_id, "type": kind, "account": account, "at": at, "data": json.dumps(data), "request_id": ""},
        )
        return event_id

    return put


@pytest.fixture
def account(user):
    return user.account
