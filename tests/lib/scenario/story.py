"""The whole loop, from an interest to what its merged pull request teaches, told as a story. `deploy/dev demo` prints it, a test
looks at what it returns. All of it is done through the public API, and at the code host by its users and its runners.

    story = Story(api, code_host, runner, tools, mail_server, say=print)
    facts = story.play()
"""

import textwrap

from lib.http import plain_http
from lib.outside.code_host_pages import install_app, make_app
from lib.outside.counterparts import connect
from lib.outside.receiver import Receiver, verify, webhook
from lib.wait import wait_for

README = """# ranker

Ranks passages for a question: `score()` counts the words that they share. Our assistant answers from the best three passages, so
better retrieval and re-ranking of evidence is what we look for.
"""

RANKER = '''"""Ranking of passages for a question."""


def score(question, passage):
    """How many words of the question the passage has."""
    return len(set(question.lower().split()) & set(passage.lower().split()))


def rank(question, passages):
    """The passages, best first."""
    return sorted(passages, key=lambda passage: score(question, passage), reverse=True)
'''

TESTS = '''import unittest

from ranker import rank


class RankTest(unittest.TestCase):
    def test_shared_words_come_first(self):
        self.assertEqual(rank("who wrote it", ["nobody", "ada wrote it"])[0], "ada wrote it")


if __name__ == "__main__":
    unittest.main()
'''

# Plays the program of agent_three's preset, opencode: a small real change, for which the brief says why, with a test of its own; and
# what the real one prints of its cost.
AGENT = r'''
title=$(sed -n '1s/^# //p' "$BRIEF")
sed -i 's/How many words of the question the passage has/The share of their words that question and passage have in common/
        s/return len(.*/ours, theirs = set(question.lower().split()), set(passage.lower().split())\
    return len(ours \& theirs) \/ (len(ours | theirs) or 1)/' ranker.py
cat >test_length.py <<'END'
import unittest

from ranker import rank


class LengthTest(unittest.TestCase):
    def test_long_passages_gain_nothing(self):
        passages = ["it was said that ada wrote it once", "ada wrote it"]
        self.assertEqual(rank("who wrote it", passages)[0], "ada wrote it")
END
printf '\n## Tried\n\n- %s: scores are relative to the length of a passage.\n' "$title" >>README.md
for tokens in '"input": 11000, "output": 1250, "reasoning": 300' '"input": 7400, "output": 600, "reasoning": 0'; do
  echo '{"type": "step_finish", "part": {"tokens": {'"$tokens"', "cache": {"read": 0, "write": 0}}, "cost": 0.185}}'
done
'''

INTEREST = {
    "name": "Better evidence for answers",
    "context": "Our assistant answers questions from our own documents with {url}. We want better evidence: dense and hybrid "
    "retrieval, re-ranking, query rewriting, retrieval-augmented generation.",
    "daily_count": 6,
}


# An experiment on what the merged pull request did, and what the team's experiment platform counted: of 8,000 questions in each arm, how
# many were answered from the right passage.
PLAN = {
    "arms": [{"key": "control", "name": "Shared words", "control": True}, {"key": "relative", "name": "Share of all words"}],
    "metrics": [{"key": "answered", "kind": "proportion", "role": "primary", "goal": "increase"}],
}
COUNTED = {"metrics": [{"key": "answered", "arms": [
    {"arm": "control", "n": 8000, "successes": 4912}, {"arm": "relative", "n": 8000, "successes": 5288}]}]}  # fmt: skip

MAIL_LINES = 12  # of a mail that are shown: its first paper


class Story:
    def __init__(self, api, host, runner, tools, mail, say, operator=None):
        """`say` is told lines of text. `operator`, an API with the operator's scopes, makes the app first; without it the settings
        name one."""
        self.api, self.host, self.runner, self.tools, self.mail, self.say = api, host, runner, tools, mail, say
        self.operator = operator

    def play(self):
        """Returns what each chapter has found: {name: facts}."""
        with Receiver() as self.server, Receiver() as self.channel:
            self.say_chapter("A team with a repository at the code host")
            self.settle_in()
            return self.play_chapters()

    def play_chapters(self):
        facts = {}
        for title, name in (
            ("An interest", "interest"), ("Its recommendations", "recommendations"), ("Provisioning an agent", "provisioning"),
            ("A run of the workflow, step by step as it is written", "run"), ("The pull request", "pull_request"),
            ("What the fleet says", "fleet"), ("What the preference model learns", "model"), ("What the team was told meanwhile", "messages"),
            ("An experiment, from its paper to its decision", "experiment"),
        ):  # fmt: skip
            self.say_chapter(title)
            facts[name] = getattr(self, name)()
        return facts

    def say_chapter(self, title):
        self.say(f"\n  {title}\n")

    def tell(self, text):
        self.say(textwrap.fill(text, 112, initial_indent="    ", subsequent_indent="      "))

    # ---- the chapters ----

    def settle_in(self):
        self.user = self.host.user()
        files = {"README.md": README, "ranker.py": RANKER, "test_ranker.py": TESTS}
        self.repo = self.host.repository(self.user.login, "ranker", files=files, description="Ranks passages for a question.")
        if self.operator:
            self.make_app()
        connect(self.api, "code_host", self.user.login)
        self.install()
        self.api.post("/integrations/anthropic/connect", {"api_key": "good-key-of-the-story"}, expect=200)
        self.runner.variables = {"EXPOPS_TESTS": "python3 -m unittest -q"}
        self.tools.agent(AGENT, "opencode")
        self.tools.agent("true", "npm")  # the program is there
        self.tell(f"{self.user.login} owns {self.repo}, where the app is installed, and has connected the code host and a model.")
        self.endpoint = webhook(self.api, self.server.url, name="server")
        self.endpoint_of("slack", url=self.channel.url)
        self.address = f"{self.user.login}@example.org"
        self.endpoint_of("email", email=self.address)
        plain_http.post(self.mail.wait(self.address)[0].link("confirm")).raise_for_status()
        self.tell(f"What happens is told to a server of the team, signed, to a channel, in Slack's form, and to {self.address}, who has agreed.")

    def endpoint_of(self, kind, **address):
        self.api.post("/webhooks", {"kind": kind, "events": ["*"], **address}, expect=201)

    def make_app(self):
        form = self.operator.post("/github/app/manifest", {"replace": True}, expect=200).json()
        app = self.operator.post("/github/app/created", make_app(form), expect=201).json()
        self.tell(f"An operator has made the app {app['slug']} by one form; the service keeps its secrets sealed.")

    def install(self):
        if not self.operator:
            self.host.install(self.user.login)
            return
        address = self.api.get("/github/app/install-url", expect=200).json()["install_url"]
        came = install_app(address, self.user.login)
        body = {**came, "installation_id": int(came["installation_id"])}
        confirmed = self.api.post("/github/app/installed", body, expect=200).json()
        assert confirmed["repositories"] == [self.repo], confirmed

    def interest(self):
        context = INTEREST["context"].format(url=f"{self.host.url}/{self.repo}")
        self.id = self.api.post("/interests", {**INTEREST, "context": context}, expect=201).json()["id"]
        interest = wait_for(self.ready_interest, "the papers of the interest are found")
        (source,) = interest["context_sources"]
        self.tell(f"\"{interest['name']}\": {interest['pool_size']} papers come into question.")
        self.tell(f"Read for it: {source['title']} ({source['kind']}, {source['characters']} characters).")
        return interest

    def ready_interest(self):
        interest = self.api.get(f"/interests/{self.id}", expect=200).json()
        return interest if interest["pool_status"] == "ready" else None

    def recommendations(self):
        self.api.wait_task(self.api.post("/papers/recommended/refresh", {"interest_id": self.id}))
        papers = self.api.get(f"/papers/recommended?interest_id={self.id}", expect=200).json()
        self.known = {paper["resource_id"] for paper in papers}
        for paper in papers[:3]:
            self.tell(f"{paper['relevance_score']:.2f}  {paper['title']}")
            self.tell(f"  {paper['reasoning']}")
        # The team has an opinion on all but the best one, which the agent will try.
        for paper, signal in zip(papers[1:], ["like", "dislike", "save", "dismiss"]):
            self.api.post(f"/papers/recommended/{paper['recommendation_id']}/feedback", {"signal": signal})
        return papers

    def provisioning(self):
        task = self.api.wait_task(self.api.post(f"/interests/{self.id}/provision", {"agent": "agent_three"}))
        detail = self.api.get(f"/interests/{self.id}/provision/{task['task_id']}", expect=200).json()
        for step in detail["steps"]:
            self.tell(f"{step['name']:<13} {step['status']:<10} {step['message'] or ''}")
        self.host.merge(self.repo, 1)
        status = wait_for(lambda: self.status_if("active"), "the merge of the workflow is heard of")
        (row,) = wait_for(lambda: self.host.runs(self.repo), "the first run is started")
        self.tell(f"The team merges {status['pr_url']}. A webhook tells it, and the first run is started.")
        return {"task": detail, "status": status, "row": row}

    def status_if(self, state):
        status = self.api.get(f"/interests/{self.id}/provision-status", expect=200).json()
        return status if status["state"] == state else None

    def run(self):
        (row,) = self.host.runs(self.repo)
        self.runner.on_step = self.tell_step
        run = self.runner.run(self.repo, row)
        assert run.conclusion == "success", run.log()
        record = self.run_record()
        tokens = record["input_tokens"] + record["output_tokens"]
        self.tell(f"Reported: {record['status']}, tests {record['test_status']}, {len(record['files_touched'])} files, "
                  f"${record['cost_usd']:.2f} for {tokens} tokens of {record['agent']}.")  # fmt: skip
        return {"run": run, "record": record}

    def tell_step(self, job, step):
        if len(job.steps) == 1:
            self.tell(job.name)
        self.tell(f"  {step.name:<52} {step.outcome:<8} {step.seconds:.1f} s")

    def run_record(self):
        (record,) = self.api.get(f"/fleet/runs?repo={self.repo}", expect=200).json()
        return record

    def pull_request(self):
        url = self.run_record()["artifact_url"]
        pull = self.find_pull(url)
        self.tell(f"{url}: {pull['title']}")
        for line in self.change(pull["head"]["ref"]).splitlines():
            self.say(f"      {line}")
        waiting = wait_for(lambda: self.inbox("pull_request_waiting"), "the pull request is in the inbox")
        self.tell(f"Inbox: {waiting[0]['title']}")
        before = len(self.host.deliveries())
        self.host.merge(self.repo, pull["number"])
        wait_for(lambda: not self.inbox("pull_request_waiting"), "the merge is heard of")
        told = [row["event"] for row in self.host.deliveries()[before:]]
        self.tell(f"The team merges it. Webhooks: {', '.join(told)}. The inbox no longer has it.")
        return {"pull": pull, "waiting": waiting, "told": told, "merged": self.find_pull(url)["merged_at"]}

    def find_pull(self, url):
        pulls = self.host.api("GET", f"/repos/{self.repo}/pulls?state=all", self.user.token).json()
        return next(pull for pull in pulls if pull["html_url"] == url)

    def change(self, branch):
        return self.runner.git.git(self.repo, "diff", "--stat=100", f"main...{branch}").decode()

    def inbox(self, kind):
        return [row for row in self.api.get("/fleet/agents/inbox", expect=200).json() if row["kind"] == kind]

    def fleet(self):
        report = wait_for(self.report_with_merge, "the report counts the merge")
        kpis = report["kpis"]
        self.tell(report["headline"])
        self.tell(f"{kpis['runs']} run, {kpis['pull_requests_merged']} of {kpis['pull_requests_opened']} pull requests merged, "
                  f"${kpis['cost_usd']:.2f}, ${kpis['cost_per_merged_pull_request']:.2f} for each that was merged.")  # fmt: skip
        return report

    def report_with_merge(self):
        report = self.api.get("/fleet/agents/report", expect=200).json()
        return report if report["kpis"]["pull_requests_merged"] else None

    def model(self):
        history = self.api.get(f"/interests/{self.id}", expect=200).json()["experiment_history_id"]
        result = wait_for(lambda: self.refit(history), "the merge has reached the preference model")
        scored = self.api.post(f"/experiment-histories/{history}/score-candidates", {"limit": 50}, expect=200).json()
        new = [row for row in scored if row["arxiv_id"] not in self.known][:3]
        self.tell(f"Fitted to {result['examples']} examples, {result['positives']} of them positive, the merged paper among them: "
                  f"version {result['model_version']}. Of the papers not recommended yet it likes best:")  # fmt: skip
        for row in new:
            self.tell(f"{row['score']:.2f}  {row['title']}")
        return {"result": result, "new": new}

    def refit(self, history):
        """The result of a refit that knows of the merge: of five examples, as the team had an opinion on four papers."""
        task = self.api.wait_task(self.api.post(f"/experiment-histories/{history}/refit-preference-model"))
        return task["result"] if task["result"]["examples"] == 5 else None

    def messages(self):
        """The messages that the server has received, and what their signatures are worth."""
        awaited = {"recommendations.refreshed", "provisioning.completed", "run.finished", "pull_request.opened", "pull_request.merged"}
        wait_for(lambda: awaited <= {body["type"] for body in self.server.bodies()}, f"the server has received {sorted(awaited)}")
        count = len(self.server.got)
        self.channel.wait(count)
        mails = self.mail.wait(self.address, 1 + count)[1:]  # after the one that asked
        for body, shown in zip(self.server.bodies()[:count], self.channel.bodies()):
            self.tell(f"{body['type']:<26} {shown['text']}")
        checked = verify(self.endpoint["secret"], self.server.got[:count])
        self.tell(f"Of {count} messages {checked.count('ok')} have the server's signature. This is what the channel shows. The first mail:")
        for line in [f"Subject: {mails[0]['Subject']}", "", *mails[0].text.splitlines()[:MAIL_LINES], "…"]:
            self.say(f"      {line}")
        return {"types": awaited, "checked": checked, "mails": mails}

    def experiment(self):
        """An experiment on the merged paper: what was counted, what the team decided, and how it came about."""
        record = self.run_record()
        body = {"name": "Scores relative to the length of a passage", "source_type": "arxiv_paper", "source_ref": record["arxiv_id"],
                "hypothesis": "Long passages no longer win by their length, so more questions are answered.", "status": "running",
                "pr_url": record["artifact_url"], "ab_test_config": PLAN,
                "launch_context": {"resource": {"arxiv_id": record["arxiv_id"]}, "target_repo": self.repo}}  # fmt: skip
        path = f"/experiments/{self.api.post('/experiments', body, expect=201).json()['id']}"
        result = self.api.post(f"{path}/results", COUNTED, expect=201).json()
        self.tell(f"{body['name']}: {result['text']}")
        decision = {"status": "shipped", "outcome": "ship", "decision": "More questions are answered, so it stays on for all."}
        made = self.api.put(path, decision, expect=200).json()
        evidence = self.api.get(f"{path}/evidence", expect=200).json()
        self.tell_way(evidence)
        self.tell(" ".join(evidence["summary"]["sentences"]))
        kept = wait_for(lambda: self.kept_evidence(path), "the evidence of the decision is kept")
        self.tell(f"Kept at the decision, with the digest {kept['digest'][:16]}…; also as a page for the pull request, and as PROV-JSON.")
        self.tell(f"Its picture, effect and interval: {self.api.url}/console{path}")
        return {"made": made, "result": result, "evidence": evidence, "kept": kept}

    def kept_evidence(self, path):
        answer = self.api.get(f"{path}/evidence?at=decision")
        return answer.json() if answer.status_code == 200 else None

    def tell_way(self, evidence):
        """The stops from the paper to the decision, the first of each kind."""
        nodes = {}
        for node in evidence["nodes"]:
            nodes.setdefault(node["kind"], node["data"])
        for kind, name in (
            ("paper", "title"), ("recommendation", "interest_name"), ("run", "repo"), ("pull_request", "stage"), ("analysis", "text"),
            ("decision", "decision"),
        ):  # fmt: skip
            self.tell(f"{kind.replace('_', ' '):<15} {nodes[kind][name]}")
