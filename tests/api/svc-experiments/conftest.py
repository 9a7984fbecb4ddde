"""Fixtures of the tests of svc-experiments: the schema, the account of a user, experiments and projects."""

import copy
import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.scenario.evidence import Steps, new_paper

WRITABLE = {
    "name": "IO-aware attention in the encoder",
    "status": "running",
    "hypothesis": "Tiles that stay in on-chip memory halve the step time.",
    "outcome": "iterate",
    "decision": "Once more, with longer sequences.",
    "observed_delta": -0.41,
    "delta_confidence": "significant",
    "target_metric": "encoder_step_ms",
    "tags": ["attention", "Größe"],
    "pr_url": "https://github.com/acme/ranker/pull/412",
    "pr_status": "open",
    "external_ticket_id": "RANK-118",
    "ticket_source": "tracker_a",
    "ticket_url": "https://tracker.example.com/browse/RANK-118",
    "launch_context": {
        "resource": {"arxiv_id": "2205.14135", "title": "FlashAttention", "url": "https://arxiv.org/abs/2205.14135"},
        "code_repository": "https://github.com/Dao-AILab/flash-attention",
        "container_image": None,
        "key_methods": [{"name": "tiling", "description": "block by block"}],
        "implementation_plan": "1. Swap the kernel.\n2. Measure.",
        "task_description": "Use an IO-aware exact attention kernel.",
        "target_repo": "acme/ranker",
        "base_branch": "main",
        "ours": {"kept": [1, 2.5, None, True]},
    },
    "ab_test_config": {"split": 0.5, "minimum_days": 7},
    "ab_test_results": {"winner": None},
    "linked_resources": [{"type": "dataset", "id": "d-1", "title": "Clicks", "url": "https://example.com/d-1"}],
}
FIXED = {"source_type": "arxiv_paper", "source_ref": "2205.14135v2", "created_via": "mcp"}


@pytest.fixture
def db(cluster):
    """A connection to the schema, as the owner of the database."""
    with cluster.postgres.connect("experiments") as connection:
        yield connection


@pytest.fixture
def make(api):
    """make(member=value, ...): create an experiment of `user`; returns the reply."""

    def create(**members):
        return api.post("/experiments", {"name": f"Experiment {secrets.token_hex(4)}", **members}, expect=201).json()

    return create


@pytest.fixture
def make_project(api):
    """make_project(member=value, ...): create a project of `user`; returns the reply."""

    def create(**members):
        return api.post("/projects", {"name": f"Project {secrets.token_hex(4)}", **members}, expect=201).json()

    return create


@pytest.fixture
def writable():
    """Every member that can be changed, with a value that is not its default."""
    return copy.deepcopy(WRITABLE)


@pytest.fixture
def fixed():
    """The members that can be set at creation only."""
    return dict(FIXED)


@pytest.fixture
def at_once():
    """at_once(count, call): run call(0) to call(count - 1), each in its own thread; returns their results in order."""

    def run(count, call):
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(call, range(count)))

    return run


@pytest.fixture
def paper(operator):
    id = new_paper()
    operator.api.put(f"/search/assets/{id}", {"title": f"Paper {id}"}, expect=200)
    return id


@pytest.fixture
def steps(cluster, user, paper):
    return Steps(cluster, user, [paper])


@pytest.fixture
def disturbed(cluster):
    """Services are stopped. Each worker leaves one that failed alone for seconds, so it forgets that afterwards, by a restart."""
    yield cluster
    cluster.recover()
    cluster.restart("svc-experiments")
    cluster.wait_ready("svc-experiments")
