"""What a run of the workflow believes: not what the agent's job says of itself, and not what others write."""

import base64
import lzma
import uuid

import pytest

from lib.outside.tools import CHANGE
from lib.wait import wait_for

pytestmark = pytest.mark.usefixtures("usual")


@pytest.fixture(scope="module")
def team(working_team):
    return working_team


# ---- what the agent leaves behind ----

SPY = """
(while sleep 0.01; do
    for file in "$RUNNER_TEMP"/.GITHUB_OUTPUT-* "$RUNNER_TEMP/../../"*/temp/.GITHUB_OUTPUT-*; do
        printf '%s\\n' result=passed result=success tests=success status=pr_opened outcome=success >>"$file"
    done
done) >/dev/null 2>&1 &
"""

LEFT = {
    "a process that writes what steps tell": (SPY, "false"),
    "a program in PATH": ('mkdir "$HOME/bin"; printf "#!/bin/sh\\n" >"$HOME/bin/grep"; chmod +x "$HOME/bin/grep"; '
                          'echo "$HOME/bin" >>"$GITHUB_PATH"', "grep -q worse notes.md"),
    "variables": ('echo "false() { true; }" >"$HOME/env"; '
                  'printf "%s\\n" "BASH_ENV=$HOME/env" TESTS=true >>"$GITHUB_ENV"', "false"),
    "a hook": ('printf "#!/bin/sh\\ntouch seen\\n" >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; '
               'git config core.hooksPath "$PWD/.git/hooks"; git config --global alias.apply "!touch seen"', "test -e seen"),
    "a file that is ignored": ("echo kept >.gitignore; touch kept", "test -e kept"),
    "a file in its home": ('touch "$HOME/kept"', 'test -e "$HOME/kept"'),
    "outputs": ('printf "%s\\n" result=passed status=pr_opened patch= >>"$GITHUB_OUTPUT"; '
                'echo "::set-output name=result::passed"', "false"),
}  # fmt: skip


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize(("policy", "status"), [("strict", "tests_failed"), ("warn", "pr_opened")])
def test_what_an_agent_leaves_behind_passes_no_test(team, runner, tools, left, policy, status):
    script, test = LEFT[left]
    tools.agent(f"{CHANGE}; {script}")
    runner.variables = {"EXPOPS_TESTS": test}
    run, told, _ = team.work(runner, test_integration_policy=policy)
    assert (told["status"], told["test_status"]) == (status, "failed"), run.log()


@pytest.mark.parametrize("test", ['echo result=success >>"$GITHUB_OUTPUT"; false', 'echo "TESTS=passed" >>"$GITHUB_ENV"; exit 3',
                                  "kill -9 $PPID"])  # fmt: skip
def test_the_tests_say_how_they_ended_by_their_status_alone(team, runner, test):
    runner.variables = {"EXPOPS_TESTS": test}
    run, told, _ = team.work(runner)
    assert (run.conclusion, told["status"], told["test_status"]) == ("failure", "tests_failed", "failed"), run.log()


@pytest.mark.parametrize("word", ["pr_opened", "skipped_no_change", "aborted_model_key_missing", "rejected_too_large"])
def test_an_agent_that_fails_has_failed_whatever_it_writes(team, runner, tools, word):
    tools.agent(f'{CHANGE}; echo "status={word}" >>"$GITHUB_OUTPUT"; {SPY} exit 3')
    before = len(team.pulls())
    _, told, _ = team.work(runner)
    assert (told["status"], told["outcome_kind"], len(team.pulls())) == ("agent_failed", "failed", before)


def test_an_agent_cannot_say_where_it_began(team, runner, tools, git_host):
    team.host.put_branch(team.repo, "other", {"README.md": "# Other\n", "other.txt": "other\n"})
    tools.agent(f'{CHANGE}; echo "base=$(git hash-object -t tree /dev/null)" >>"$GITHUB_OUTPUT"; {SPY}')
    run, told, row = team.work(runner, start_from_ref="other")
    assert told["status"] == "pr_opened", run.log()
    assert set(git_host.files(team.repo, f"expops/run-{row['id']}")) == {"README.md", "other.txt", "notes.md"}


def test_the_tests_see_what_is_proposed(team, runner, tools):
    """A file outside the task, which is left out, does not make them pass."""
    tools.agent("mkdir src; echo >src/a; echo >helper")
    runner.variables = {"EXPOPS_SCOPE": "src", "EXPOPS_TESTS": "test -e helper"}
    run, told, _ = team.work(runner, fidelity_policy="warn")
    assert (told["status"], told["test_status"]) == ("tests_failed", "failed"), run.log()
    assert told["files_dropped_out_of_scope"] == ["helper"]
    runner.variables["EXPOPS_TESTS"] = "test -e src/a && ! test -e helper"
    _, told, row = team.work(runner, fidelity_policy="warn")
    assert (told["status"], told["test_status"]) == ("pr_opened", "passed")
    assert set(team.host.files(team.repo, f"expops/run-{row['id']}")) >= {"src/a"}


def test_the_job_of_the_tests_has_no_key_and_no_token(team, runner):
    team.host.put_secret(team.repo, "EXPOPS_MODEL_KEY_ANTHROPIC", f"good-{uuid.uuid4()}")
    runner.variables = {"EXPOPS_TESTS": "true"}
    run, told, _ = team.work(runner)
    assert told["test_status"] == "passed", run.log()
    key, env = team.host.secret(team.repo, "EXPOPS_KEY"), run.step("Run the repository's tests").env
    assert not [name for name, value in env.items() if key in value or value.startswith("good-") or name == "TOKEN"]


@pytest.mark.parametrize("usage", ["head -c 300000 /dev/zero | tr '\\0' 9",
                                   "printf '{\"model\": \"'; head -c 200000 /dev/zero | tr '\\0' x; echo '\"}'"])  # fmt: skip
def test_a_large_usage_cannot_stop_the_report(team, runner, tools, usage):
    tools.agent(f'{CHANGE}; ({usage}) >"$USAGE"')
    _, told, _ = team.work(runner)
    assert told["status"] == "pr_opened" and "cost_usd" not in told


def test_many_long_names_cannot_stop_the_report(team, runner, tools):
    tools.agent('for i in {1..700}; do printf -v name %0200d "$i"; echo >"$name"; done')  # too long for one variable
    run, told, _ = team.work(runner)
    assert told["status"] == "pr_opened" and len(told["files_touched"]) == 150, run.log()


def test_a_large_error_cannot_stop_the_report(team, runner, tools):
    tools.agent('mkdir "$HOME/bin"; printf "#!/bin/sh\nprintf %%0200000d 1\n" >"$HOME/bin/jq"; chmod +x "$HOME/bin/jq"; '
                'echo "$HOME/bin" >>"$GITHUB_PATH"; exit 3')  # fmt: skip
    run, told, _ = team.work(runner)
    assert told["status"] == "agent_failed" and "error" not in told, run.log()


# ---- what the code host would take for commands ----

CHECK = "Apply the change, as far as it is within the task"
OTHER = base64.b64encode(lzma.compress(b"""diff --git a/other b/other
new file mode 100644
--- /dev/null
+++ b/other
@@ -0,0 +1 @@
+never checked
""")).decode()  # fmt: skip
REFUSED = f"""diff --git a/##[set-output name=patch]{OTHER} b/##[set-output name=patch]{OTHER}
--- a/##[set-output name=patch]{OTHER}
+++ b/##[set-output name=patch]{OTHER}
@@ -1 +1 @@
-x
+y
"""

# what an agent does -> how its run ends
SPOKEN = {
    "in a line that git finds fault with": (
        f"printf ' \t::set-output name=patch::%s\n' {OTHER} >notes.md; mkdir -p .github; echo >.github/x",
        "rejected_out_of_scope"),
    "in a name that git does not know": (
        f'mkdir "$HOME/bin"; cat >"$HOME/evil" <<"END"\n{REFUSED}END\n'
        'cat >"$HOME/bin/git" <<"END"\n#!/bin/sh\ncase "$*" in *diff*) cat "$HOME/evil" ;; esac\nEND\n'
        'chmod +x "$HOME/bin/git"; echo "$HOME/bin" >>"$GITHUB_PATH"', "apply_failed"),
}  # fmt: skip


@pytest.mark.parametrize("spoken", SPOKEN)
def test_a_patch_speaks_no_commands(team, runner, tools, spoken):
    script, status = SPOKEN[spoken]
    tools.agent(script)
    before = len(team.pulls())
    run, told, _ = team.work(runner)
    assert (told["status"], run.jobs["check"].outputs["patch"], len(team.pulls())) == (status, "", before), run.log()
    assert OTHER in run.step(CHECK).log


def test_no_output_of_a_failed_job_is_published(team, runner, tools):
    tools.agent("mkdir -p .github; echo >.github/x")
    runner.on_step = lambda job, step: step.outputs.update({"patch": OTHER} if step.name == CHECK else {})
    before = len(team.pulls())
    try:
        run, told, _ = team.work(runner)
    finally:
        runner.on_step = lambda job, step: None
    assert (told["status"], len(team.pulls())) == ("rejected_out_of_scope", before), run.log()
    assert run.jobs["check"].outputs["patch"] == OTHER and run.step("Apply the change").outcome == "skipped"


def test_what_was_not_tested_is_published_only_where_nothing_is_to_be_tested(team, runner):
    """A job that did not begin, as the run was cancelled before, has the same result as one that has nothing to do."""
    run, told, row = team.work(runner)
    assert (told["status"], told["test_status"]) == ("pr_opened", "skipped")
    runner.variables = {"EXPOPS_TESTS": "true"}
    again = runner.run(team.repo, row, attempt_of=run, jobs={"publish"})
    assert again.step("Apply the change").outcome == "skipped" and team.reported(row)["status"] == "aborted_cancelled", again.log()


SAID = "::set-env name=a::b\n| ##[set-env name=a]b\n##[add-path]/x\n##[add-mask]a\n##[set-output name=error]none"


def test_what_an_agent_prints_is_no_command(team, runner, tools):
    """A run is not lost because its transcript is about them."""
    tools.agent(f"{CHANGE}; printf '{SAID}\n' | tee \"$RUNNER_TEMP/agent.jsonl\"; printf '{SAID}' >&2")
    runner.variables = {"EXPOPS_TESTS": f"printf '{SAID}\n'; printf '{SAID}' >&2"}
    run, told, _ = team.work(runner)
    assert (told["status"], told["test_status"]) == ("pr_opened", "passed"), run.log()
    assert "| ##[add-mask]a" in run.step("Say why it failed").log


# ---- the scope ----

# scope -> (what is proposed of what the agent wrote, what is left out)
SCOPES = {
    "src": (["src/a", "src/deep/a"], ["src2/a", "srca", "lib/src/a"]),
    "./src docs": (["src/a", "docs/a"], ["other"]),
    "src/a": (["src/a"], ["src/ab"]),
    "src/a/": (["src/a/b"], ["src/b"]),
    "src/": (["src"], []),
    ".": (["anything"], [".github/workflows/x.yml"]),
    "": (["anything"], [".GitHub/x"]),
    ".github2": ([".github2/a"], [".github/a"]),
}


@pytest.mark.parametrize("scope", SCOPES)
def test_the_scope_is_of_whole_segments(team, runner, tools, scope):
    inside, outside = SCOPES[scope]
    tools.agent("; ".join(f'mkdir -p "$(dirname {path})"; echo >{path}' for path in inside + outside))
    runner.variables = {"EXPOPS_SCOPE": scope}
    run, told, _ = team.work(runner, fidelity_policy="warn")
    assert told["status"] == "pr_opened", run.log()
    assert sorted(told.get("files_dropped_out_of_scope") or []) == sorted(outside)


def test_a_name_that_is_not_utf_8_is_not_let_through(team, runner, tools):
    tools.agent("mkdir src docs; echo >src/a; echo >docs/$'ev\\xffil'")
    runner.variables = {"EXPOPS_SCOPE": "src"}
    before = len(team.pulls())
    run, told, _ = team.work(runner, fidelity_policy="warn")
    assert (told["status"], len(team.pulls())) == ("rejected_out_of_scope", before), run.log()
    assert told["files_dropped_out_of_scope"] == ["docs/ev\ufffdil"]


@pytest.mark.parametrize(("scope", "script"), [(".", "rm -rf .github; echo >.github"), (".github", "echo >.github/workflows/x.yml"),
                                               ("src", "echo >srca")])  # fmt: skip
def test_a_change_that_is_all_out_of_scope_is_rejected(team, runner, tools, scope, script):
    tools.agent(script)
    runner.variables = {"EXPOPS_SCOPE": scope}
    run, told, _ = team.work(runner)
    assert told["status"] == "rejected_out_of_scope", run.log()


# ---- what others write ----

MARKS = ["[skip ci]", "[ci skip]", "[no ci]", "[Skip Actions]", "Closes #1", "fixes: acme/ranker#12", "resolves GH-3",
         "@octo-org/team", "@ada", "close https://github.com/acme/ranker/issues/1", "see https://github.com/acme/ranker/pull/2",
         "***NO_CI***"]
LINES = ["skip-checks: true", "Co-authored-by: Eve <eve@example.org>", "Signed-off-by: Eve <eve@example.org>", "/close",
         "# Heading"]
MARKUP = ["<img src=https://evil.example/x>", "<!-- hidden -->", "![x](https://evil.example/x)", "[here](https://evil.example)",
          "&#64;ada", "&commat;ada"]


def check_inert(text):
    """Check that none of it does anything; returns what is seen."""
    for mark in (*MARKS, *MARKUP):
        assert mark.lower() not in text.lower(), (mark, text)
    return text.replace("\u200b", "")


def test_what_papers_say_does_nothing(operator, team, runner, git_host):
    arxiv_id = "2605.99998"
    body = {"title": f"On {' '.join(MARKS)}", "abstract": "\n".join([*LINES, *MARKS, *MARKUP]), "authors": ["A"],
            "categories": ["cs.IR"]}
    operator.api.put(f"/search/assets/{arxiv_id}", body)
    wait_for(lambda: team.api.get(f"/search/assets/{arxiv_id}").status_code == 200, "the paper is there")
    row = team.trigger(pin_arxiv=arxiv_id)
    run = runner.run(team.repo, row)
    assert team.reported(row)["status"] == "pr_opened", run.log()
    pull = team.pull_of(row)
    message = git_host.git(team.repo, "log", "-1", "--format=%B", f"expops/run-{row['id']}").decode()
    assert check_inert(pull["title"]) == body["title"][:200].rstrip()
    for text in (pull["body"], message):
        lines = check_inert(text).split("\n")
        for line in LINES:
            assert line not in lines and f"> {line}" in lines
    trailers = git_host.git(team.repo, "log", "-1", "--format=%(trailers:only)", f"expops/run-{row['id']}").decode()
    assert "skip-checks" not in trailers and "authored" not in trailers and "Signed" not in trailers


def test_a_lead_does_nothing_either(team, runner):
    _, told, row = team.work(runner, lead_content="# Do [skip ci] for @ada\n\nCloses #1\nskip-checks: true")
    assert told["status"] == "pr_opened"
    pull = team.pull_of(row)
    assert check_inert(pull["title"]) == "Do [skip ci] for @ada"
    assert "> skip-checks: true" in check_inert(pull["body"]).split("\n")


def propose(team, paper, branch):
    """Open a pull request that has the address of a paper in its body, as a run does."""
    body = {"title": "x", "head": branch, "base": "main", "body": f"{paper['url']}\n\nx"}
    team.host.put_branch(team.repo, branch, {"README.md": "# x\n"})
    answer = team.host.api("POST", f"/repos/{team.repo}/pulls", team.at_host.token, json=body)
    assert answer.status_code == 201, answer.text


def test_only_pull_requests_of_runs_count_as_proposed(make_team, papers, runner):
    team = make_team(daily_count=1)
    team.provision(auto_merge=True)
    recommended = f"/papers/recommended?interest_id={team.interest}"
    (paper,) = wait_for(lambda: team.api.get(recommended, expect=200).json(), "the first recommendation")
    for branch in ("somebody", "feature/expops/run-1", "expops/agent-2"):
        propose(team, paper, branch)
    (row,) = team.host.runs(team.repo)
    run = runner.run(team.repo, row)
    assert (team.reported(row)["status"], team.reported(row)["arxiv_id"]) == ("pr_opened", paper["resource_id"]), run.log()
    again = team.dispatch()
    runner.run(team.repo, again)
    assert team.reported(again)["status"] == "skipped_no_candidates"
