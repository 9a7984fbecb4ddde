"""GET /fleet/agents/report: figures, timelines and deliverables, computed a second time from the same month."""

from functools import cache

import pytest
from lib.fleet import Month

PERIOD = f"since={Month.since}&until={Month.until}"


@pytest.fixture
def keys(agent):
    """keys(repo): the client of the agent on a repository, made once."""
    return cache(agent)


@pytest.fixture
def tell(db, user):
    """tell(closing): the code host says what became of a pull request of a repository that the account owns."""
    account = db.execute("SELECT id FROM account.account WHERE email = %s", [user.email]).fetchone()[0]

    def send(repo, number, state, opened, closed):
        db.execute("SELECT repo_own(%s, %s)", [account, repo])
        db.execute("SELECT code_host_item_tell(%s, 'pull_request', %s, %s, %s, %s, %s)",
                   [repo, number, state, opened, closed, closed])
        db.commit()

    return send


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_month_in_any_order(api, keys, tell, seed):
    month = Month(seed)
    for what in month.shuffled(month.reports + month.closings):
        if len(what) == 2:
            keys(what[0]).post("/fleet/runs", what[1])
        else:
            tell(*what)
    report = api.get(f"/fleet/agents/report?{PERIOD}", expect=200).json()
    assert report["kpis"] == pytest.approx(month.kpis())
    assert {agent["repo"]: [(step["since"], step["runs"], step["pull_requests"], step["failed"],
                             None if step["cost_usd"] is None else round(step["cost_usd"] * 100))
                            for step in agent["timeline"]] for agent in report["agents"]} == month.timelines()
    assert {item["url"]: (item["kind"], item["stage"]) for item in report["deliverables"]} == month.deliverables()
