"""start_run asks the user first: by elicitation where the client can show a form, else by an argument; any replica takes the answer."""

import base64
import json
import time

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.http.mcp import Mcp
from lib.outside.counterparts import connect
from lib.outside.mcp_clients import OfficialClient, node_version
from lib.scenario.code_host_agent import FILES
from lib.fixtures import run_cluster, run_counterpart
from lib.system.cluster import Cluster

ABSENT = "01970000-0000-7000-8000-0000000000aa"
CAN_ASK = {"elicitation": {}}
ACCEPT = {"action": "accept", "content": {"confirm": True}}
needs_node_20 = pytest.mark.skipif(node_version() < 20, reason="the package wants Node 20")


@pytest.fixture(scope="module")
def pair():
    """Two replicas of every process behind one address."""
    with run_cluster(Cluster(2)) as made:
        yield made


@pytest.fixture(scope="module")
def code_host(pair):
    with run_counterpart(pair.code_host) as made:
        yield made


@pytest.fixture
def user(pair):
    return pair.user()


@pytest.fixture
def repo(pair, user, code_host):
    """A repository of the account's that an agent was provisioned on."""
    at_host = code_host.user()
    connect(user.api, "code_host", at_host.login)
    code_host.install(at_host.login)
    made = code_host.repository(at_host.login, files=FILES)
    body = {"repo": made, "agent": "agent_one", "provider": "anthropic", "key_id": ABSENT}
    signed = identity(pair, "svc-fleet", "service", account=user.account)
    answer = plain_http.post(pair.url("svc-fleet") + "/internal/fleet/installations", json=body, auth=signed)
    assert answer.status_code == 200, answer.text
    return made


@pytest.fixture
def asking(pair, user):
    return Mcp(pair.gateway_url, user.key, capabilities=CAN_ASK)


def answered(mcp, question, response, **arguments):
    """Call again with the user's answer."""
    params = {"name": "start_run", "arguments": arguments, "requestState": question["requestState"]}
    return mcp.answer("tools/call", {**params, "inputResponses": {"confirm": response}}).json()


def content(message):
    assert not message["result"].get("isError"), message
    return message["result"]["structuredContent"]


def test_a_form_is_shown_and_its_answer_starts_one_run(asking, code_host, repo):
    question = asking.tool("start_run", repo=repo, agent="agent_one")
    assert question["resultType"] == "input_required" and "content" not in question
    asked = question["inputRequests"]["confirm"]
    assert (asked["method"], asked["params"]["mode"]) == ("elicitation/create", "form")
    assert asked["params"]["message"] == f"Start agent_one on {repo}? It runs with your model key."
    assert asked["params"]["requestedSchema"]["required"] == ["confirm"]
    assert code_host.runs(repo) == []
    first = content(answered(asking, question, ACCEPT, repo=repo, agent="agent_one"))
    again = content(answered(asking, question, ACCEPT, repo=repo, agent="agent_one"))
    assert first["started"] is True and again == first and first["run_id"] == code_host.runs(repo)[0]["id"]
    assert len(code_host.runs(repo)) == 1


@pytest.mark.parametrize(("response", "reason"), [
    ({"action": "decline"}, "declined"), ({"action": "cancel"}, "cancelled"),
    ({"action": "accept", "content": {"confirm": False}}, "declined"), ({"action": "accept"}, "declined"),
])
def test_a_refusal_starts_nothing(asking, code_host, repo, response, reason):
    question = asking.tool("start_run", repo=repo)
    assert content(answered(asking, question, response, repo=repo)) == {"started": False, "reason": reason}
    assert code_host.runs(repo) == []


def test_an_answer_is_for_its_question_only(pair, asking, user, code_host, repo):
    question = asking.tool("start_run", repo=repo)
    other_key = user.api.post("/account/api-keys", {"name": "other"}, expect=201).json()["key"]
    other = Mcp(pair.gateway_url, other_key, capabilities=CAN_ASK)
    state = question["requestState"]
    forged = {"requestState": ("B" if state[0] == "A" else "A") + state[1:]}
    for message in (
        answered(asking, question, ACCEPT, repo=repo, model="a/dearer-one"), answered(other, question, ACCEPT, repo=repo),
        answered(asking, forged, ACCEPT, repo=repo), answered(asking, {"requestState": "x"}, ACCEPT, repo=repo),
        answered(asking, question, "yes", repo=repo),
        asking.answer("tools/call", {"name": "start_run", "arguments": {"repo": repo}, "requestState": state}).json(),
        asking.answer("tools/call", {"name": "start_run", "arguments": {"repo": repo}, "inputResponses": {"confirm": ACCEPT}}).json(),
    ):
        assert message["error"]["code"] == -32602, message
    assert code_host.runs(repo) == []


def test_a_client_that_can_ask_is_not_believed_without(asking, code_host, repo):
    assert asking.tool("start_run", repo=repo, confirm=True)["resultType"] == "input_required"
    assert code_host.runs(repo) == []


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": True}])
def test_other_clients_confirm_by_an_argument(pair, user, code_host, repo, capabilities):
    mcp = Mcp(pair.gateway_url, user.key, capabilities=capabilities)
    text = mcp.fault("start_run", repo=repo, model="a/b")
    assert text.startswith(f"Nothing was started. This would start the coding agent on {repo} with a/b. ")
    assert "Ask the user, then call again with confirm true." in text
    assert mcp.fault("start_run", repo=repo, confirm=False).startswith("Nothing was started.")
    assert code_host.runs(repo) == []
    started = mcp.call("start_run", repo=repo, confirm=True)
    assert started["started"] is True and started["repo"] == repo and len(code_host.runs(repo)) == 1


def test_a_confirmed_call_that_comes_again_starts_one_run(pair, user, code_host, repo):
    """A client repeats a call whose answer was lost under another id, at any replica. Who asks the user anew means another run."""
    first, second = (Mcp(process.url, user.key) for process in pair["gateway"])
    started = first.call("start_run", repo=repo, confirm=True)
    assert started["started"] is True and second.call("start_run", repo=repo, confirm=True) == started
    assert len(code_host.runs(repo)) == 1
    assert second.call("start_run", repo=repo, model="a/b", confirm=True)["run_id"] != started["run_id"]
    assert second.fault("start_run", repo=repo).startswith("Nothing was started.")
    assert first.call("start_run", repo=repo, confirm=True)["run_id"] not in (None, started["run_id"])
    assert len(code_host.runs(repo)) == 3


def test_the_cost_of_a_run_is_told(pair, user, repo):
    body = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"], "repo": repo}
    agent = user.api.as_key(user.api.post("/account/api-keys", body, expect=201).json()["key"])
    for number, cost in enumerate((0.25, 0.75)):
        agent.post("/fleet/runs", {"run_id": number, "repo": repo, "status": "failed", "cost_usd": cost}, expect=201)
    mcp = Mcp(pair.gateway_url, user.key)
    assert "A run cost 0.50 USD there on average." in mcp.fault("start_run", repo=repo)


@needs_node_20
@pytest.mark.parametrize("mode", ["auto", "pin"])
def test_the_official_client_asks_through_two_replicas(pair, user, code_host, repo, mode):
    with OfficialClient(pair.gateway_url, user.key, mode, answer=ACCEPT) as client:
        assert client.tool("start_run", repo=repo)["started"] is True
    with OfficialClient(pair.gateway_url, user.key, mode, answer={"action": "decline"}) as client:
        assert client.tool("start_run", repo=repo) == {"started": False, "reason": "declined"}
    assert len(code_host.runs(repo)) == 1


@pytest.mark.parametrize("mode", ["sdk", pytest.param("legacy", marks=needs_node_20)])
def test_a_legacy_client_confirms_by_the_argument(pair, user, code_host, repo, mode):
    with OfficialClient(pair.gateway_url, user.key, mode) as client:
        assert client.fault("start_run", repo=repo).startswith("Nothing was started.")
        assert client.tool("start_run", repo=repo, confirm=True)["started"] is True
    assert len(code_host.runs(repo)) == 1


def test_any_replica_takes_the_answer_of_another(pair, user, code_host, repo):
    first, second = (Mcp(process.url, user.key, capabilities=CAN_ASK) for process in pair["gateway"])
    question = first.tool("start_run", repo=repo)
    assert content(answered(second, question, ACCEPT, repo=repo))["started"] is True
    assert len(code_host.runs(repo)) == 1
    assert json.dumps(first.result("tools/list")) == json.dumps(second.result("tools/list"))


def test_an_answer_comes_too_late_after_ten_minutes(asking, repo):
    """Its end is in the state, behind the nonce."""
    state = asking.tool("start_run", repo=repo)["requestState"]
    end = int.from_bytes(base64.urlsafe_b64decode(state + "=" * (-len(state) % 4))[16:24], "big")
    assert 595 < end - time.time() <= 601
