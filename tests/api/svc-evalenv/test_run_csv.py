"""The list of runs as CSV."""

import csv
import io

import pytest
from lib.http.client import nested

PATH, RESULTS = "/eval-env/runs", "/eval-env/webhooks/results"


@pytest.fixture
def rows(api):
    """rows(query=""): the lines of the list, by their columns."""

    def read(query="", of=api):
        answer = of.get(f"{PATH}{query}", headers={"Accept": "text/csv"}, expect=200)
        assert answer.headers["Content-Disposition"] == 'attachment; filename="evaluation-runs.csv"'
        return list(csv.DictReader(io.StringIO(answer.text)))

    return read


def test_every_metric_is_a_column(api, template, rows, other_user):
    made = template()["template_id"]
    runs = [api.post(PATH, {"template_id": made, "name": name, "params": {"seed": 1}}, expect=201).json()["run_id"] for name in ("first", "=1+1", "third")]
    api.post(RESULTS, {"run_id": runs[0], "status": "succeeded", "metrics": {"recall": 0.1 + 0.2, 'odd, "name"': 2}}, expect=200)
    api.post(RESULTS, {"run_id": runs[1], "status": "failed", "error": {"kind": "task", "message": "exit 1"}}, expect=200)
    third, second, first = rows(f"?template_id={made}&limit=1")
    assert [row["run_id"] for row in (first, second, third)] == runs
    assert (first["metrics.recall"], first['metrics.odd, "name"'], first["params"]) == ("0.30000000000000004", "2", '{"seed":1}')
    assert (second["name"], second["error.kind"], second["metrics.recall"]) == ("'=1+1", "task", "")
    assert float(first["duration_seconds"] or 0) >= 0 and third["status"] == "queued"
    assert [row["run_id"] for row in rows("?status=failed")] == [runs[1]]
    assert rows(of=other_user.api) == []


def test_params_that_nest_as_deep_as_a_request_may(api, template, rows):
    api.post(PATH, {"template_id": template()["template_id"], "params": {"deep": nested(62)}}, expect=201)
    assert rows()[0]["params"].count("[") == 62
