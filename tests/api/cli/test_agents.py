"""Putting an agent to work, with a code host."""

import json

from lib.scenario.provisioning import new_team
from lib.system.cluster import build_dir
from lib.system.command_line import CommandLine, without_styles


def test_an_agent_from_its_provisioning_to_a_run(home, cluster, code_host):
    team = new_team(cluster, code_host)
    cli = CommandLine(build_dir(), home, cluster.gateway_url, team.api.key)
    shown = without_styles(cli.screen("provision", "better", "--repo", team.repo, "--merge", "-w"))
    assert "completed  agent_key" in shown and f"Repository    {team.repo}" in shown
    assert "Merged        yes" in shown
    assert team.repo in cli.run("agents").stdout
    started = json.loads(cli.run("run", f"https://github.com/{team.repo}", "--paper", "arXiv:2205.14135", "-o", "json").stdout)
    assert started["inputs"]["pin_arxiv"] == "2205.14135"
    assert team.repo in cli.run("run-status", team.repo).stdout
    team.agent().post("/fleet/runs", {"run_id": "probe", "repo": team.repo, "status": "failed", "cost_usd": 1.5}, expect=201)
    assert "$1.50" in cli.run("runs").stdout
    assert team.repo in cli.run("report").stdout


def test_a_run_is_followed_by_its_own_number(home, cluster, code_host):
    """A run of before, which has ended, is not taken for it."""
    team = new_team(cluster, code_host)
    team.provision(auto_merge=True)
    cli = CommandLine(build_dir(), home, cluster.gateway_url, team.api.key)
    with cli.terminal("run", team.repo, "-w") as terminal:
        terminal.expect("queued")
        terminal.type("\x03")
        assert terminal.wait() == 130
    assert f"expops run-status {team.repo} follows it" in without_styles(terminal.output)
