"""The commands of each day, against the real service."""

import json
import re
import subprocess

import pytest

from lib.system.command_line import FAILED, NOT_FOUND, USAGE, without_styles

BIORXIV = "biorxiv:10.1101/2026.11.20.123456"


def rows(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_digest_and_what_its_numbers_do(reader):
    """Each number is of the list before it: the day's own recommendations may come between two lists."""
    titles = re.findall(r"^ *\d+\. (.*)$", reader.run("digest").stdout, re.MULTILINE)
    assert len(titles) >= 3
    assert reader.run("like", "2").stdout == f"like: {titles[1]}\n"
    assert f"{len(titles)} items" in reader.run("like", str(len(titles) + 1), status=NOT_FOUND).stderr
    recommended = rows(reader.run("digest", "-o", "jsonl"))
    assert json.loads(reader.run("save", "1", "-o", "json").stdout)["recommendation_id"] == recommended[0]["recommendation_id"]
    why = reader.run("why", "3").stdout
    assert recommended[2]["resource_id"] in why and "retrieval" in why
    assert f"Paper       {recommended[0]['resource_id']}" in reader.run("paper", "1").stdout
    assert json.loads(reader.run("digest", "--week", "-o", "json").stdout)["period"] == "week"
    of_one = rows(reader.run("digest", "-i", "quest", "-n", "2", "-o", "jsonl"))
    assert len(of_one) == 2 and {row["interest_name"] for row in of_one} == {"Question answering"}


def test_a_number_stands_for_what_was_listed_last(reader):
    reader.run("interests")
    assert "is no recommendation" in reader.run("like", "1", status=NOT_FOUND).stderr
    assert "Name" in reader.run("interest", "1").stdout
    found = rows(reader.run("search", "retrieval", "augmented", "generation", "-n", "3", "-o", "jsonl"))
    assert json.loads(reader.run("paper", "2", "-o", "json").stdout)["arxiv_id"] == found[1]["arxiv_id"]
    assert "recommendation" in reader.run("like", "1", status=NOT_FOUND).stderr
    assert "number" in reader.run("interest", "1", status=NOT_FOUND).stderr


def test_a_number_is_of_the_list_of_its_own_session(reader, home):
    """What another terminal or a job lists in between changes no number; what is left of sessions that have ended goes."""
    papers = [row["arxiv_id"] for row in rows(reader.run("search", "retrieval", "-n", "2", "-o", "jsonl"))]
    reader.run("interests", new_session=True)
    assert json.loads(reader.run("paper", "2", "-o", "json").stdout)["arxiv_id"] == papers[1]
    assert "no list was shown in this terminal" in reader.run("paper", "1", status=NOT_FOUND, new_session=True).stderr
    reader.run("interests")
    assert len(list((home / ".local" / "state" / "expops").iterdir())) == 1


def test_numbers_of_a_pipe_are_those_of_its_shell(reader):
    command = "expops search retrieval -n 1 | cat >list; expops paper 1 | grep -c Paper"
    env = reader.environment({"PATH": f"{reader.binary.parent}:{reader.env['PATH']}"})
    done = subprocess.run(["bash", "-c", command], env=env, cwd=reader.home, start_new_session=True, capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done


def test_papers_by_every_name(reader):
    paper = rows(reader.run("search", "retrieval", "-n", "1", "-o", "jsonl"))[0]["arxiv_id"]
    for name in (paper, f"arXiv:{paper}", f"https://arxiv.org/abs/{paper}", "1"):
        assert json.loads(reader.run("paper", name, "-o", "json").stdout)["arxiv_id"] == paper
    reader.run("paper", "9999.99999", status=NOT_FOUND)


def test_names_and_their_beginnings(reader):
    interest = json.loads(reader.run("interest", "Question answering", "-o", "json").stdout)
    reader.run("interest", "add", "Question", "--context", "-", input="Questions.")
    reader.run("interest", "add", "Quantization", "--context", "-", input="Fewer bits.")
    assert json.loads(reader.run("interest", "question a", "-o", "json").stdout)["id"] == interest["id"]
    assert json.loads(reader.run("interest", interest["id"], "-o", "json").stdout)["id"] == interest["id"]
    assert json.loads(reader.run("interest", "question", "-o", "json").stdout)["name"] == "Question"  # the whole name
    refused = reader.run("interest", "qu", status=USAGE).stderr
    assert all(name in refused for name in ("Question answering", "Quantization", interest["id"]))
    assert "there is no interest none" in reader.run("interest", "none", status=NOT_FOUND).stderr
    reader.run("interest", "remove", "quantization")
    assert [row["name"] for row in rows(reader.run("interests", "-o", "jsonl"))] == ["Question", "Question answering"]


def test_more_names_than_a_page(reader):
    for number in range(105):
        reader.api.post("/experiments", {"name": f"Try {number:03}"}, expect=201)
    assert json.loads(reader.run("experiment", "try 000", "-o", "json").stdout)["name"] == "Try 000"
    shown = reader.screen("experiments", "-n", "7", columns=80)
    assert "7 of 105" in shown and "7 of 105" not in reader.run("experiments", "-n", "7").stdout


def test_an_interest_of_a_checkout(reader, tmp_path):
    """With the origin of the checkout, whose user and password stay at home."""
    checkout = tmp_path / "checkout"
    for words in (["init", "-q", str(checkout)], ["-C", str(checkout), "remote", "add", "origin", "https://me:secret@github.com/acme/ranker.git"]):
        subprocess.run(["git", *words], check=True)
    made = reader.run("interest", "add", "Ranking", "--context", "-", "--repo", ".", "-o", "json", input="Ranking.", cwd=checkout)
    assert json.loads(made.stdout)["source_repo_url"] == "https://github.com/acme/ranker"
    reader.run("interest", "add", "Nowhere", "--repo", ".", status=FAILED, cwd=tmp_path)


@pytest.mark.parametrize("written, url", [
    ("acme/ranker", "https://github.com/acme/ranker"),
    ("git@git.example.org:acme/ranker.git", "https://git.example.org/acme/ranker"),
    ("https://github.com/acme/acme.github.io.git", "https://github.com/acme/acme.github.io"),
    ("git@git.example.org:acme/.github.git", "https://git.example.org/acme/.github"),
    ("ssh://git@git.example.org:2222/acme/ranker.git/", "https://git.example.org/acme/ranker"),
    ("https://github.com/acme/ranker/issues/3", "https://github.com/acme/ranker"),
])  # fmt: skip
def test_addresses_of_repositories(reader, written, url):
    made = reader.run("interest", "add", written, "--context", "-", "--repo", written, "-o", "json", input="Ranking.")
    assert json.loads(made.stdout)["source_repo_url"] == url


@pytest.mark.parametrize("written", ["acme", "/nowhere", "https://github.com/acme", "acme/", "x:"])
def test_what_is_no_repository(reader, written):
    assert reader.run("run", written, status=None).returncode in (FAILED, USAGE)


PLAN = {"metrics": [{"key": "accuracy", "kind": "proportion"}, {"key": "latency, ms", "kind": "mean", "goal": "decrease"}]}


def table(pairs, header='arm,example,accuracy,"latency, ms",note'):
    """CSV of examples: of each (control, treatment)."""
    return "\r\n".join([header, *(f'{arm},"q ""{i}""",{right},{100 + i % 7},"a\nb"'
                                  for i, pair in enumerate(pairs) for arm, right in zip(("control", "treatment"), pair))])  # fmt: skip


def test_results_of_a_file(reader, tmp_path):
    made = reader.api.post("/experiments", {"name": "Attention in tiles", "ab_test_config": PLAN}, expect=201).json()
    file = tmp_path / "results.csv"
    file.write_bytes(b"\xef\xbb\xbf" + table([(0, 1)] * 9 + [(1, 1)] * 11).encode() + b"\r\n")
    trial = reader.run("results", "add", "attention in", str(file), "--trial")
    assert "not explained by chance" in trial.stdout and trial.stderr == "expops: note is no metric of the plan and is left out\n"
    reader.run("results", "attention in", status=NOT_FOUND)
    analysis = json.loads(reader.run("results", "add", made["id"], "-", "-o", "json", input=file.read_text(encoding="utf-8-sig")).stdout)
    assert (analysis["verdict"], analysis["source"], analysis["metrics"][0]["arms"][0]["n"]) == ("better", "rows", 20)
    shown = reader.run("results", "attention in").stdout
    assert re.search(r"accuracy +treatment +0\.45 ", shown) and "latency, ms" in shown and "the figures propose: ship" in shown
    assert "Under 100 examples" in shown


@pytest.mark.parametrize("content, told", [
    ("", "has no column arm"),
    ("example,accuracy\n1,1", "has no column arm"),
    ("arm,example,other\ncontrol,1,1", "no column of a metric"),
    ("arm,accuracy,accuracy\ncontrol,1,1", "the column accuracy twice"),
    ("arm,accuracy\ncontrol,1\ncontrol,1,1", "line 3: there are 3 cells, and 2 columns"),
    ("arm,accuracy\n\ncontrol,yes", "line 3: accuracy is no number: yes"),
    ("arm,accuracy\ncontrol,nan", "is no number"),
    ('arm,accuracy\n"control,1', "line 2: a quote does not end"),
    ('arm,accuracy\n"con\ntrol"x,1', "line 3: there is text behind a quote"),
    ("arm,accuracy\x00\n", "has a NUL"),
    ("arm,accuracy\nb\udce4se,1\nb\udcf6se,1", "standard input is not UTF-8"),
    ("arm,example,accuracy\nthird,1,1", "rows[0].arm"),
    ("arm,accuracy" + ",x" * 200, "more than 200 cells"),
])  # fmt: skip
def test_a_file_that_is_no_result_is_told(reader, content, told):
    made = reader.api.post("/experiments", {"name": "CSV", "ab_test_config": PLAN}, expect=201).json()
    assert told in reader.run("results", "add", made["id"], "-", input=content, status=USAGE).stderr


def test_an_experiment_of_a_recommendation(reader):
    paper = rows(reader.run("digest", "-o", "jsonl"))[0]["resource_id"]
    made = json.loads(reader.run("experiment", "add", "Try it", "--paper", "1", "--hypothesis", "It is better", "-o", "json").stdout)
    assert (made["source_type"], made["source_ref"], made["hypothesis"]) == ("arxiv_paper", paper, "It is better")
    assert "# Try it" in reader.run("context", "try").stdout
    assert "Try it" in reader.run("experiments", "--status", "draft").stdout
    assert "It is better" in reader.run("experiment", "1").stdout
    other = json.loads(reader.run("experiment", "add", "Another", "--paper", BIORXIV, "-o", "json").stdout)
    assert (other["source_type"], other["source_ref"]) == ("biorxiv_paper", BIORXIV)


def test_keys(reader):
    made = json.loads(reader.run("key", "add", "laptop", "--preset", "read_only", "--days", "3", "-o", "json").stdout)
    assert "interests:read" in reader.run("whoami", EXPOPS_KEY=made["key"]).stdout
    assert "interests:write" in reader.run("interest", "add", "x", "-c", "-", status=4, input="x", EXPOPS_KEY=made["key"]).stderr
    assert "laptop" in reader.run("keys").stdout and made["key"] not in reader.run("keys", "-o", "json").stdout
    reader.run("key", "revoke", "laptop")
    reader.run("whoami", status=4, EXPOPS_KEY=made["key"])


def test_an_option_of_a_list_can_be_repeated(reader):
    words = ["--scope", "interests:read", "-s", "search:read", "--scope=fleet:read"]
    made = json.loads(reader.run("key", "add", "reader", *words, "-o", "json").stdout)
    assert sorted(made["scopes"]) == ["fleet:read", "interests:read", "search:read"]
    changed = json.loads(reader.run("key", "edit", "reader", "-s", '["search:read"]', "-s", "fleet:read", "-o", "json").stdout)
    assert sorted(changed["scopes"]) == ["fleet:read", "search:read"]
    assert len(rows(reader.run("search", "retrieval", "-n", "1", "-n", "2", "-o", "jsonl"))) == 2  # of no list the last one counts
    assert "not UTF-8" in reader.run("key", "add", "x", "-s", "a", "-s", "\udce4", status=USAGE).stderr


def test_an_update_needs_the_name_of_what_it_changes(reader):
    refused = reader.run("interest", "add", "--repo", "acme/ranker", "--update", "-c", "-", input="Ranking.", status=USAGE).stderr
    assert "--update needs NAME" in refused


def test_evaluations(reader):
    spec = {"image": "registry.example.com/ranker:1", "command": ["evaluate"], "metrics": ["recall"]}
    reader.run("api", "template_create", "name=Nightly", f"spec={json.dumps(spec)}")
    assert "Nightly" in reader.run("eval", "templates").stdout
    run = json.loads(reader.run("eval", "run", "night", "seed=7", "label=a b", "--name", "first", "-o", "json").stdout)
    assert run["params"] == {"seed": 7, "label": "a b"} and run["status"] == "queued"
    assert "first" in reader.run("eval", "runs", "-t", "Nightly").stdout
    assert "queued" in reader.run("eval", "show", "1").stdout
    assert "cancelled" in reader.run("eval", "cancel", "first").stdout
    assert "cancelled" in reader.run("eval", "show", "first", "-w", status=FAILED).stderr


def test_agents_of_nobody(reader):
    for command in ("runs", "agents", "inbox"):
        assert reader.run(command, "-o", "json").stdout == "[]\n"
        assert len(without_styles(reader.screen(command)).splitlines()) == 1
    assert "no runs in this period" in reader.run("report", "--since", "2026-01-01").stdout
    reader.run("run-status", "acme/ranker", status=NOT_FOUND)
    reader.run("run", "acme/ranker", status=NOT_FOUND)


def test_tables_of_a_reader_fit(reader):
    best = rows(reader.run("digest", "-o", "jsonl"))[0]  # each terminal is a session, where no number is of another one's list
    for command in (["interests"], ["keys"], ["search", "retrieval"], ["digest"], ["paper", best["resource_id"]], ["why", best["recommendation_id"]]):
        for columns in (60, 200):
            shown = without_styles(reader.screen(*command, columns=columns))
            assert max(map(len, shown.splitlines())) <= columns or re.search(r"https?://", shown), (command, columns, shown)
