"""Putting an agent to work, with a code host."""

import json
import re

from lib.scenario.provisioning import new_team
from lib.system.cluster import build_dir
from lib.system.command_line import FAILED, USAGE, CommandLine, without_styles


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
    assert f"expops run-status {team.repo} shows its state" in without_styles(terminal.output)


def test_a_run_that_is_not_the_newest_any_more_is_followed_to_its_end(home, cluster, code_host):
    team = new_team(cluster, code_host)
    team.provision(auto_merge=True)
    cli = CommandLine(build_dir(), home, cluster.gateway_url, team.api.key)
    with cli.terminal("run", team.repo, "-w") as terminal:
        terminal.expect("queued")
        first, *_ = team.api.get(f"/fleet/runs?repo={team.repo}", expect=200).json()
        newer = team.trigger()["id"]
        assert team.api.get(f"/fleet/run-status?repo={team.repo}", expect=200).json()["run_id"] == newer
        code_host.change_run(first["run_id"], "completed", "failure")
        assert terminal.wait() == FAILED, terminal.output
    assert f"Run         {first['run_id']}" in without_styles(terminal.output) and "expops: it failed" in terminal.output


def test_a_schedule_and_a_pause(cli):
    cli.run("interest", "add", "Ranking", "--context", "-", input="Ranking of documents.")
    changed = json.loads(cli.run("schedule", "rank", "daily", "--at", "07:30", "--time-zone", "Europe/Berlin", "-o", "json").stdout)
    assert changed["schedule"] == {"every": "daily", "weekday": 1, "hour": 7, "minute": 30, "time_zone": "Europe/Berlin"}
    changed = json.loads(cli.run("schedule", "rank", "weekly", "--weekday", "5", "-o", "json").stdout)
    assert (changed["schedule"]["weekday"], changed["schedule"]["hour"]) == (5, 7)
    for option, value, words in (("--at", "25:00", "25:00"), ("--at", "7", "HH:MM"), ("--weekday", "8", "1 to 7"),
                                 ("--time-zone", "Mars/Base", "schedule.time_zone")):  # fmt: skip
        assert words in cli.run("schedule", "rank", "daily", option, value, status=USAGE).stderr
    assert re.search("Agent paused +yes", cli.run("pause", "rank").stdout)
    assert "Agent paused" not in cli.run("resume", "rank").stdout
