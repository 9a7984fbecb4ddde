"""The list of runs as CSV."""

import csv
import io

from lib.http.client import nested
from lib.scenario.fleet import REPO
from lib.system.memory import peak_of


def read(api, query=""):
    answer = api.get(f"/fleet/runs{query}", headers={"Accept": "text/csv"}, expect=200)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="runs.csv"'
    return list(csv.DictReader(io.StringIO(answer.text))), int(answer.headers["X-Total-Count"])


def test_every_run_is_a_line_and_every_number_a_column(api, agent, report, other_user):
    for number in range(120):  # more than a page
        report(number, status="pr_opened", started_at=f"2026-01-02T{number // 60:02}:{number % 60:02}:00Z", finished_at="2026-01-02T03:00:00Z")
    report("last", status="failed", error="=cmd()", started_at="2026-01-03T00:00:00Z", finished_at="2026-01-03T00:01:30Z", cost_usd=0.5,
           metrics={"speed": 1.5, "note": "no number"})
    rows, total = read(api, "?limit=7")
    assert total == len(rows) == 121
    assert [row["run_id"] for row in rows] == ["last", *(str(n) for n in range(119, -1, -1))]
    assert (rows[0]["metrics.speed"], rows[0]["cost_usd"], rows[0]["error"], float(rows[0]["duration_seconds"])) == ("1.5", "0.5", "'=cmd()", 90)
    assert "metrics.note" not in rows[0] and rows[1]["metrics.speed"] == ""
    assert [row["run_id"] for row in read(api, "?outcome_kind=failed")[0]] == ["last"]
    assert len(read(api, "?since=2026-01-02&until=2026-01-02")[0]) == 120
    other = agent("acme/other")
    assert read(other) == ([], 0) and len(read(agent())[0]) == 121
    assert read(other_user.api) == ([], 0)
    assert all(row["repo"] == REPO for row in rows)


def test_a_record_that_nests_as_deep_as_a_request_may(api, report):
    report("deep", deep=nested(63))
    assert [row["run_id"] for row in read(api)[0]] == ["deep"]
    api.post("/fleet/agents/chat", {"repo": REPO, "messages": [{"role": "user", "content": "Why?"}], "focus_run_id": "deep"}, expect=200)
    api.post("/fleet/agents/artifact/evidence", {"artifact": {"run_id": "deep"}}, expect=200)


def test_a_page_has_what_is_shown_of_the_runs(api, report, cluster):
    """A run may have a megabyte that no column shows, and a page has a hundred runs."""
    for number in range(40):
        report(number, started_at=f"2026-01-02T00:{number:02}:00Z", unshown="u" * 1_000_000, metrics={"speed": number, "note": "n" * 20_000})
    with peak_of(cluster["svc-fleet"]) as peak:
        rows, total = read(api)
    assert total == 40 and [(row["run_id"], row["metrics.speed"]) for row in rows] == [(str(n), str(n)) for n in range(39, -1, -1)]
    assert peak.grown_bytes() < 24 << 20


def test_a_page_of_large_columns_has_few_runs(api, report):
    """The next one has no more, and then again as many as before."""
    for number in range(70):
        report(number, started_at=f"2026-01-02T{number // 60:02}:{number % 60:02}:00Z", error="e" * 60_000 if 10 <= number < 50 else "short")
    rows, _ = read(api)
    assert [(row["run_id"], len(row["error"])) for row in rows] == [(str(n), 60_000 if 10 <= n < 50 else 5) for n in range(69, -1, -1)]
