"""deploy/prices compares the list of prices with those of others."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
OURS = [
    {"provider": "house", "model": "m-*", "from": "2025-01-01", "until": None, "usd_per_million": {"input": 3, "cache_read": 0.3, "output": 15}},
    {"provider": "google", "model": "old", "from": "2025-01-01", "until": "2025-06-01", "usd_per_million": {"input": 9, "output": 9}},
    {"provider": "google", "model": "old", "from": "2025-06-01", "until": None, "usd_per_million": {"input": 1, "output": 2}},
]


def litellm(cost):
    return {"sample_spec": {"note": 1},
            "m-": {"litellm_provider": "house", "input_cost_per_token": 3e-06, "output_cost_per_token": cost, "cache_read_input_token_cost": 3e-07},
            "gemini/old": {"litellm_provider": "gemini", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}}


def genai(output):
    prices = [{"prices": {"input_mtok": 8, "output_mtok": 8}},
              {"constraint": {"start_date": "2025-06-01"}, "prices": {"input_mtok": {"base": 1, "tiers": []}, "output_mtok": 2}},
              {"constraint": {"start_date": "2999-01-01"}, "prices": {"input_mtok": 7, "output_mtok": 7}}]
    return [{"id": "house", "models": [{"match": {"or": [{"starts_with": "m-"}, {"contains": "x"}]},
                                        "prices": {"input_mtok": 3, "output_mtok": output}}]},
            {"id": "google", "models": [{"match": {"equals": "old"}, "prices": prices}]}]


@pytest.mark.parametrize(("theirs", "printed"), [
    (litellm(15e-06), ""), (litellm(12e-06), "house m-* output 15 12.0\n"), (genai(15), ""), (genai(14), "house m-* output 15 14\n"),
])
def test_differences_are_printed(tmp_path, theirs, printed):
    ours, other = tmp_path / "ours.json", tmp_path / "theirs.json"
    ours.write_text(json.dumps({"version": 1, "prices": OURS}))
    other.write_text(json.dumps(theirs))
    done = subprocess.run([ROOT / "deploy/prices", "compare", other, "--list", ours], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (printed, 1 if printed else 0), done.stderr
