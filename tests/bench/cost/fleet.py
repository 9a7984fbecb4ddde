#!/usr/bin/python3
"""svc-fleet with a year of runs: the time of its reads, and how fast it takes telemetry.

usage: fleet.py [--runs N] [--repos N] [--reads N] [--seconds N]

Everything goes through the gateway. The runs are written straight into the tables, as runs_update() would have left them. Reads
come one at a time, so that they use one core of Postgres; the percentiles are wall time, the CPU time is that of all
processes of Postgres. Beside the report runs what it would be without the sums that svc-fleet keeps: the figures
added up from the rows of the period. Telemetry is sent by wrk to two replicas; beside it runs pgbench, which stores the same
bytes with one plain upsert in the same server. Needs wrk and pgbench, and binaries of a release build.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.system import servers  # noqa: E402
from lib.system.cluster import Cluster  # noqa: E402
from lib.system.cpu_time import PostgresTime, cpu_of  # noqa: E402
from lib.wait import wait_for  # noqa: E402

BIN = Path("/usr/lib/postgresql/15/bin")
CONNECTIONS = 64
INGEST_REPOS = 32
PREFIX = "/api/v1.0"

# The year before now, in its order: most runs open a pull request or change nothing; one in seven fails, of ten causes.
SEED = """
SET session_replication_role = replica;
CREATE TEMP TABLE made AS
SELECT uuid_v7() AS id, n, 'acme/repo-' || n %% %(repos)s AS repo, now() - random() * interval '365 days' AS at,
       (ARRAY['pr_opened', 'pr_opened', 'issue_opened', 'branch_pushed', 'skipped_no_candidates', 'skipped_old', 'tests_failed'])
           [1 + (random() * 6.999)::int %% 7] AS status,
       round((random() * 4)::numeric, 2) AS cost, (random() * 9)::int AS cause
FROM generate_series(1, %(runs)s) AS n ORDER BY at;
INSERT INTO run_key SELECT %(account)s, repo, n::text, id, at FROM made;
INSERT INTO run (id, account_id, repo_key, repo, run_id, first_at, changed_at, at, finished_at, status, outcome_kind, agent,
                 interest_id, arxiv_id, cost_usd, input_tokens, output_tokens, cause, artifact_url, record, reported_at)
SELECT id, %(account)s, repo, repo, to_jsonb(n), at, at, at, at + interval '20 minutes', status, outcome_kind(status),
       'agent_' || n %% 3, NULL, '2205.' || lpad((n %% 9999)::text, 5, '0'), cost, 100000, 9000,
       CASE WHEN outcome_kind(status) = 'failed' THEN 'cause ' || cause END,
       CASE outcome_kind(status) WHEN 'pull_request' THEN 'https://github.com/' || repo || '/pull/' || n
                                 WHEN 'issue' THEN 'https://github.com/' || repo || '/issues/' || n END,
       jsonb_build_object('status', status, 'agent', 'agent_' || n %% 3, 'model', 'model-1', 'cost_usd', cost,
                          'input_tokens', 100000, 'output_tokens', 9000, 'test_status', 'passed', 'lint_status', 'passed',
                          'broad_pool_size', 50, 'files_touched', jsonb_build_array('src/one.py', 'src/two.py'),
                          'coverage_summary', repeat(md5(n::text), 16)), 0
FROM made;
INSERT INTO deliverable (account_id, url, kind, repo_key, repo, number, run_id, run_at, opened_at, stage, closed_at)
SELECT account_id, artifact_url, CASE outcome_kind WHEN 'issue' THEN 'issue' ELSE 'pull_request' END, repo_key, repo,
       (run_id #>> '{}')::bigint, run_id, at, finished_at, stage,
       CASE WHEN stage <> 'open' THEN finished_at + random() * interval '3 days' END
FROM (SELECT *, (ARRAY['merged', 'merged', 'closed', 'open'])[1 + (random() * 3.999)::int %% 4] AS stage FROM run) r
WHERE artifact_url IS NOT NULL;
INSERT INTO run_day SELECT (d).account_id, (d).day, (d).repo_key, {sums}
FROM (SELECT run_day_of(run, 1) AS d FROM run OFFSET 0) one GROUP BY 1, 2, 3 ORDER BY 2;
INSERT INTO run_agent SELECT account_id, agent, repo_key, outcome_kind, count(*) FROM run GROUP BY 1, 2, 3, 4;
INSERT INTO run_repo
SELECT d.account_id, d.repo_key, d.repo_key, sum(runs), sum(pull_requests), sum(issues), sum(branches), sum(skipped), sum(failed),
       sum(running), sum(other), last.at, last.id, last.first_at, last.outcome_kind, last.status
FROM run_day d, LATERAL (SELECT r.* FROM run r WHERE r.account_id = d.account_id AND r.repo_key = d.repo_key
                         ORDER BY r.at DESC, r.id DESC LIMIT 1) last
GROUP BY 1, 2, last.at, last.id, last.first_at, last.outcome_kind, last.status;
SET session_replication_role = origin;
VACUUM ANALYZE;
"""

# What a report without kept sums would do for its figures.
ROWS = """
SELECT count(*), count(*) FILTER (WHERE outcome_kind = 'pull_request'), count(*) FILTER (WHERE outcome_kind = 'issue'),
       count(*) FILTER (WHERE outcome_kind = 'failed'), sum(cost_usd), count(cost_usd), sum(input_tokens), sum(output_tokens)
FROM run WHERE account_id = %s AND at >= now() - make_interval(days => %s)
"""


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def seed(cluster, account, runs, repos):
    """Write the runs. The partitions of the year before now are made first."""
    with cluster.postgres.connect("fleet") as db:
        db.execute("SELECT run_partitions_make((now() - interval '13 months')::date, 15)")
        columns = [name for (name,) in db.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'run_day'::regclass AND attnum > 3 ORDER BY attnum").fetchall()]
        script = SEED.replace("{sums}", ", ".join(f"sum((d).{name})" for name in columns))
        for statement in script.split(";\n"):
            if statement.strip():
                text = statement.replace("%(account)s", f"'{account}'::uuid").replace("%(runs)s", str(runs))
                db.execute(text.replace("%(repos)s", str(repos)).replace("%%", "%"))
        db.commit()


def measure(name, reads, once, cpu):
    once(), once()
    before, times = cpu.seconds(), []
    for _ in range(reads):
        begin = time.perf_counter()
        once()
        times.append((time.perf_counter() - begin) * 1000)
    used = (cpu.seconds() - before) / reads * 1000
    print(f"{name:<34} p50 {statistics.median(times):7.1f}  p95 {percentile(times, 0.95):7.1f}  CPU of Postgres {used:7.1f}  ms")


def measure_reads(api, cluster, account, reads):
    cpu = PostgresTime(cluster.postgres)
    http = httpx.Client(base_url=cluster.gateway_url + PREFIX, headers={"Authorization": f"Bearer {api.key}"})

    def get(path):
        """Without the check of the answer, which takes longer than the answer."""
        answer = http.get(path)
        assert answer.status_code == 200, answer.text

    month, year = (time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86400)) for days in (29, 364))
    targets = {
        "runs": "/fleet/runs",
        "runs, page 100": "/fleet/runs?limit=100&offset=2000",
        "runs of a repository": "/fleet/runs?repo=acme/repo-7",
        "runs by outcome": "/fleet/runs?outcome_kind=failed",
        "runs by agent": "/fleet/runs?agent=agent_1",
        "runs of 3 repositories": "/fleet/runs?repos=acme/repo-1,acme/repo-2,acme/repo-3",
        "runs by paper": "/fleet/runs?arxiv_id=2205.00077",
        "runs of a month": f"/fleet/runs?since={month}",
        "runs with the selection": "/fleet/runs?include=selection",
        "activity": "/fleet/agents/activity?repo=acme/repo-7",
        "inbox": "/fleet/agents/inbox",
        "installations": "/fleet/installations",
        "report of 30 days": f"/fleet/agents/report?since={month}",
        "report of 30 days, 3 repositories": f"/fleet/agents/report?since={month}&repos=acme/repo-1,acme/repo-2,acme/repo-3",
        "report of a year": f"/fleet/agents/report?since={year}",
    }
    for name, path in targets.items():
        measure(name, reads, lambda path=path: get(path), cpu)
    with cluster.postgres.connect("fleet") as db:
        for name, days in (("30 days", 30), ("a year", 365)):
            measure(f"figures of {name} from the rows", reads, lambda days=days: db.execute(ROWS, [account, days]).fetchall(), cpu)


# Reports of new runs on all repositories in turn.
LUA = """
local keys = {{{keys}}}
local id, thread = 0, tostring({{}}):sub(8)
request = function()
  id = id + 1
  local number = id % #keys
  local headers = {{["Authorization"] = "Bearer " .. keys[number + 1], ["Content-Type"] = "application/json"}}
  local repo, run = "acme/ingest-" .. number, thread .. "-" .. id
  local opened = id % 3 == 0 and '"artifact_url": "https://github.com/' .. repo .. '/pull/' .. id .. '", ' or ""
  local body = '{{"run_id": "' .. run .. '", "repo": "' .. repo .. '", ' .. opened .. [=[{rest}]=]
  return wrk.format("POST", nil, headers, body)
end
"""


def telemetry(size):
    """A report, without its beginning, of about `size` bytes: what lists show is 3 KB at most, the rest is about rejected candidates."""
    report = {"status": "pr_opened", "agent": "agent_1", "model": "model-1", "cost_usd": 1.25, "input_tokens": 90000,
              "output_tokens": 9000, "started_at": "2026-01-31T09:00:00Z", "finished_at": "2026-01-31T09:20:00Z",
              "test_status": "passed", "files_touched": [f"src/file_{n}.py" for n in range(40)], "coverage_summary": "c" * 1500}
    rejected = {"arxiv_id": "2205.14135", "reason": "It is about another task. " * 12}
    report["selection_rejected"] = []
    while len(json.dumps(report)) + 300 < size:
        report["selection_rejected"].append(rejected)
    return json.dumps(report)[1:]


def wrk(cluster, keys, size, seconds):
    """(accepted reports a second, CPU seconds of Postgres, of svc-fleet, of the gateway for each)."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(LUA.format(keys=", ".join(f'"{key}"' for key in keys), rest=telemetry(size)))
        script.flush()
        cpu = PostgresTime(cluster.postgres)
        before, mine = cpu.seconds(), {name: cpu_of(cluster, name) for name in ("svc-fleet", "gateway")}
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script.name, f"{cluster.gateway_url}{PREFIX}/fleet/runs"]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        sys.exit(out)
    count = int(out.split(" requests in")[0].split()[-1])
    used = [cpu.seconds() - before] + [cpu_of(cluster, name) - mine[name] for name in mine]
    return count / seconds, [one / count * 1e6 for one in used]


def pgbench(cluster, size, seconds):
    """(upserts a second, CPU seconds of Postgres for each) of a table with nothing else."""
    with cluster.postgres.connect() as db:
        db.execute("DROP TABLE IF EXISTS plain; CREATE TABLE plain (id text PRIMARY KEY, body jsonb)")
        db.commit()
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write("\\set id random(1, 1000000000)\nINSERT INTO plain VALUES (:id::text, '{" + telemetry(size)
                     + "') ON CONFLICT (id) DO UPDATE SET body = plain.body || excluded.body;\n")
        script.flush()
        cpu = PostgresTime(cluster.postgres)
        before, others = cpu.seconds(), cpu.sessions_of("expops")
        out = subprocess.run([BIN / "pgbench", "-n", "-c", str(CONNECTIONS), "-T", str(seconds), "-f", script.name,
                              cluster.postgres.url()], check=True, capture_output=True, text=True).stdout
    wait_for(lambda: cpu.sessions_of("expops") <= others, "the sessions of pgbench have ended")
    tps = float(out.split("tps = ")[1].split()[0])
    return tps, (cpu.seconds() - before) / (tps * seconds) * 1e6


def measure_ingest(cluster, user, seconds):
    body = {"name": "agent", "kind": "automation", "scopes": ["fleet:report"]}
    keys = [user.api.post("/account/api-keys", {**body, "repo": f"acme/ingest-{number}"}, expect=201).json()["key"]
            for number in range(INGEST_REPOS)]
    print(f"telemetry over {CONNECTIONS} connections; load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for size in (4 << 10, 31 << 10):
        rounds = [(wrk(cluster, keys, size, seconds), pgbench(cluster, size, seconds)) for _ in range(3)]
        (rate, (postgres, fleet, gateway)), (plain, plain_cpu) = sorted(rounds, key=lambda one: one[0][0])[1]
        total = postgres + fleet + gateway
        print(f"telemetry of {size >> 10} KB: {rate:.0f}/s; CPU us each: Postgres {postgres:.0f}, svc-fleet {fleet:.0f}, "
              f"gateway {gateway:.0f}: {1e6 / total:.0f} a second and core; plain upsert {plain:.0f}/s, Postgres {plain_cpu:.0f} us, "
              f"ratio {postgres / plain_cpu:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--repos", type=int, default=200)
    parser.add_argument("--reads", type=int, default=60)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    servers.POSTGRES_OPTIONS[:] = ["-c", "fsync=on"]
    with Cluster(replicas=2) as cluster:
        user = cluster.user()
        account = user.account
        begin = time.monotonic()
        seed(cluster, account, options.runs, options.repos)
        print(f"{options.runs} runs written in {time.monotonic() - begin:.0f} s")
        print(f"load average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        measure_reads(user.api, cluster, account, options.reads)
        measure_ingest(cluster, cluster.user(), options.seconds)


if __name__ == "__main__":
    main()
