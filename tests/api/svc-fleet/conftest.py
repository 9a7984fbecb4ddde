"""Fixtures of the tests of svc-fleet: the keys of agents and the reports that their runs send."""

import pytest
from lib.http import plain_http
from lib.scenario.budgets import BUDGET
from lib.scenario.code_host_agent import FILES, Replica
from lib.outside.counterparts import connect
from lib.scenario.fleet import REPO, SCOPES
from lib.http.identity import identity
from lib.outside.language_model import LanguageModel, run_with
from lib.tables import fleet as fleet_tables

SMALL = {"ROLES": "http", "WORKERS": "1"}
UNKNOWN_KEY = "0197a0b1-c2d3-7e4f-8a5b-6c7d8e9f0a1d"


@pytest.fixture
def db(cluster):
    """A connection to the schema, as the owner of the database."""
    with cluster.postgres.connect("fleet") as connection:
        yield connection


@pytest.fixture
def agent(api):
    """agent(repo): a client with the key of the agent on a repository."""

    def make(repo=REPO, of=api, **limits):
        body = {"name": "agent", "kind": "automation", "scopes": SCOPES, "repo": repo, **limits}
        return of.as_key(of.post("/account/api-keys", body, expect=201).json()["key"])

    return make


@pytest.fixture
def put(api):
    """put(**members): a budget of the account that stops runs, as it is stored."""
    return lambda **members: api.put("/fleet/budgets", {**BUDGET, **members}, expect=200).json()


@pytest.fixture
def report(agent):
    """report(run_id, **members): the record after a report of a run on REPO."""
    key = agent()

    def send(run_id, expect=None, **members):
        answer = key.post("/fleet/runs", {"run_id": run_id, "repo": REPO, **members})
        assert answer.status_code == expect if expect else answer.status_code in (200, 201), answer.text
        return answer.json()

    return send


@pytest.fixture
def tell(db, user):
    """tell(repo, number, state, opened, closed): the code host says what became of a pull request of a repository that the
    account of `user` owns."""

    def send(repo, number, state, opened, closed, kind="pull_request"):
        fleet_tables.own_repository(db, user.account, repo)
        fleet_tables.tell_item(db, repo, kind, number, state, opened, closed, at=closed)

    return send


@pytest.fixture
def install(cluster, user):
    """install(repo, key_id): record an agent as provisioning does; returns the installation."""

    def record(repo=REPO, key_id=None, of=user, **members):
        body = {"repo": repo, "agent": "agent_one", "provider": "anthropic", "key_id": key_id or UNKNOWN_KEY, **members}
        answer = plain_http.post(cluster.url("svc-fleet") + "/internal/fleet/installations", json=body,
                            auth=identity(cluster, "svc-fleet", "service", account=of.account))
        assert answer.status_code == 200, answer.text
        return answer.json()

    return record


@pytest.fixture(scope="module")
def model():
    """The language model of `worded`."""
    made = LanguageModel()
    yield made
    made.close()


@pytest.fixture(scope="module")
def worded(cluster, model):
    """A svc-fleet on its own port that uses the model."""
    with run_with(model, cluster, "svc-fleet", "patient", **SMALL) as process:
        yield process


@pytest.fixture
def hurried(cluster, model):
    """One that waits for the model only shortly."""
    with run_with(model, cluster, "svc-fleet", "hurried", LLM_TIMEOUT="100ms", **SMALL) as process:
        yield process


@pytest.fixture
def ask(cluster, worded, user):
    """ask(path, body, of=user, by=worded): a POST to a svc-fleet that uses the model, past the gateway."""

    def send(path, body, expect=200, of=user, by=worded, **claims):
        sender = identity(cluster, "svc-fleet", account=of.account, **claims)
        answer = plain_http.post(f"{by.url}/api/v1.0/fleet/agents/{path}", json=body, auth=sender)
        assert answer.status_code == expect, answer.text
        return answer.json()

    return send


@pytest.fixture
def at_host(user, code_host):
    """The account's user at the code host, with the app installed."""
    made = code_host.user()
    connect(user.api, "code_host", made.login)
    code_host.install(made.login)
    return made


@pytest.fixture
def repo(at_host, code_host, install):
    """A repository of the account's that an agent was provisioned on."""
    made = code_host.repository(at_host.login, files=FILES)
    install(made)
    return made


@pytest.fixture
def replica(cluster, user):
    """replica(**settings): a Replica for the account."""
    return lambda **settings: Replica(cluster, user.account, **settings)
