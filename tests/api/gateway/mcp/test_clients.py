"""The official clients and the conformance suite of the agent-tool protocol against the gateway."""

from pathlib import Path

import pytest

from lib.http.mcp import MODERN
from lib.outside.mcp_clients import MODES, KeyRelay, OfficialClient, OfficialError, node_version, run_scenario

BASELINE = Path(__file__).with_name("conformance.yaml")
LEGACY = "2025-11-25"
SCENARIOS = {
    MODERN: [
        "tools-list", "prompts-list", "resources-list", "sep-2164-resource-not-found", "caching", "http-header-validation",
        "dns-rebinding-protection", "server-stateless",
    ],
    LEGACY: ["server-initialize", "ping", "tools-list", "prompts-list", "resources-list", "dns-rebinding-protection"],
}
RUNS = [(revision, scenario) for revision, scenarios in SCENARIOS.items() for scenario in scenarios]
ABSENT = "01970000-0000-7000-8000-0000000000aa"

needs_node_20 = pytest.mark.skipif(node_version() < 20, reason="the package wants Node 20")
modes = pytest.mark.parametrize("mode", [mode if mode == "sdk" else pytest.param(mode, marks=needs_node_20) for mode in MODES])


@modes
def test_every_tool_is_called(cluster, user, digest, mode):
    """A client checks each result against the tool's outputSchema."""
    paper = digest["interests"][0]["papers"][0]
    with OfficialClient(cluster.gateway_url, user.key, mode) as client:
        assert client.server["server"]["name"] == "expops" and "get_digest" in client.server["instructions"]
        listed = [tool["name"] for tool in client.call("listTools")["tools"]]
        assert len(listed) == 16
        assert client.tool("get_digest", period="week", limit=2)["total"] == 2
        assert client.tool("search_papers", query="attention")["items"]
        assert client.tool("get_paper", arxiv_id=paper["arxiv_id"])["title"] == paper["title"]
        assert client.tool("explain_recommendation", recommendation_id=paper["recommendation_id"])["rank"]
        assert client.tool("rate_recommendation", recommendation_id=paper["recommendation_id"], signal="save")["signal"] == "save"
        assert client.tool("create_interest", name=f"other {mode}", context="Vision on small devices.")["pool_status"] == "building"
        task = client.tool("refresh_recommendations")["task_id"]
        assert client.tool("refresh_recommendations", task_id=task)["task_id"] == task
        made = client.tool("save_experiment", name=f"by {mode}", arxiv_id=paper["arxiv_id"])["id"]
        assert client.tool("save_experiment", experiment_id=made, status="running")["status"] == "running"
        assert client.tool("list_experiments")["items"][0]["id"] == made
        assert client.tool("list_experiments", actionable=True)["items"] == []
        assert client.tool("get_experiment", experiment_id=made)["name"] == f"by {mode}"
        brief = client.call("callTool", name="get_implementation_context", arguments={"experiment_id": made})
        assert paper["title"] in brief["content"][0]["text"]
        assert client.tool("report_implementation", experiment_id=made, status="completed")["pipeline_status"] == "completed"
        assert client.tool("get_fleet_report")["kpis"]["runs"] == 0
        assert client.tool("list_inbox")["items"] == []
        assert client.fault("get_run_status", repo="acme/none").startswith("Not Found")
        assert client.fault("start_run", repo="acme/none").startswith("Nothing was started.")


@modes
def test_errors_prompts_and_resources(cluster, user, papers, mode):
    with OfficialClient(cluster.gateway_url, user.key, mode) as client:
        assert "qery: is no argument" in client.fault("search_papers", qery="x")
        assert client.fault("get_experiment", experiment_id=ABSENT).startswith("Not Found")
        for method, params in (("getPrompt", {"name": "none"}), ("readResource", {"uri": "expops://none"}), ("callTool", {"name": "none"})):
            with pytest.raises(OfficialError) as raised:
                client.call(method, **params)
            assert raised.value.code in (-32602, -32002), method
        assert len(client.call("listPrompts")["prompts"]) == 3
        prompt = client.call("getPrompt", name="plan_experiment", arguments={"arxiv_id": "2205.14135"})
        assert prompt["messages"][0]["content"]["text"].endswith('arxiv_id: "2205.14135"')
        assert client.call("listResources")["resources"][0]["uri"] == "expops://digest/today"
        assert len(client.call("listResourceTemplates")["resourceTemplates"]) == 3
        assert client.call("readResource", uri="expops://digest/today")["contents"][0]["text"].startswith("# Digest of")


@modes
def test_a_wrong_key_is_told(cluster, mode):
    """Clients probe for an authorization server then, and must not find one."""
    with pytest.raises(OfficialError):
        OfficialClient(cluster.gateway_url, "usr_wrong", mode)


@needs_node_20
@pytest.mark.parametrize(("revision", "scenario"), RUNS, ids=lambda value: value)
def test_conformance(cluster, user, papers, tmp_path, revision, scenario):
    relay = KeyRelay(cluster.gateway_url, user.key)
    passed, printed = run_scenario(relay.url, scenario, revision, BASELINE, tmp_path)
    relay.close()
    assert passed, printed[-8000:]
