"""Runs a workflow of a repository at the code host, as its runners do: the very file, each step as it is written.

    runner = Runner(code_host, git, folder, path=[tools])
    run = runner.run(team.repo, code_host.runs(team.repo)[-1])
    assert run.conclusion == "success", run.log()
    run.step("Run the agent").env
    again = runner.run(team.repo, row, attempt_of=run, jobs={"publish"})  # and the jobs that need it

Each job gets a fresh home, workspace and RUNNER_TEMP, the secrets that it names and no others, and a token with its permissions.
What it leaves running goes on through its later steps and ends with the job, as its machine does.
Expressions are evaluated by the code host's own library (actions/expressions.mjs), steps executed by bash. Whatever a
workflow has beyond what is known here raises Unknown.
"""

import os
import re
import secrets
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from lib.outside.actions.commands import Commands
from lib.outside.node_program import NodeProgram, Refused
from lib.wait import PATIENCE_SECONDS

SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}
SECRET = re.compile(r"\bsecrets\.(\w+)")

# What is known of a workflow, a job and a step. `on`, which YAML reads as true, `concurrency`, `runs-on` and
# `timeout-minutes` are the business of whoever starts a run.
KNOWN = {
    "workflow": {"name", True, "permissions", "concurrency", "env", "defaults", "jobs"},
    "job": {"name", "needs", "if", "runs-on", "timeout-minutes", "permissions", "outputs", "env", "steps"},
    "step": {"name", "id", "if", "env", "run", "continue-on-error"},
}


class Unknown(Exception):
    """The workflow has something that this runner does not do."""


def check_known(kind, members):
    unknown = set(members) - KNOWN[kind]
    if unknown:
        raise Unknown(f"{', '.join(map(str, unknown))} in a {kind}: {members.get('name')}")


class Expressions(NodeProgram):
    """The program that evaluates expressions."""

    def __init__(self):
        super().__init__("actions/expressions.mjs")

    def evaluate(self, text, contexts, status="success", **options):
        if "${{" not in str(text) and not options:
            return str(text)
        try:
            return self.ask(text=str(text), contexts=contexts, status=status, **options)
        except Refused as error:
            raise Unknown(f"{text}: {error}") from error

    def fill(self, texts, contexts, status="success"):
        """The mapping with all expressions in its values evaluated."""
        return {name: self.evaluate(text, contexts, status) for name, text in (texts or {}).items()}


@dataclass
class Step:
    name: str
    outcome: str = "skipped"
    env: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)
    log: str = ""
    annotations: list = field(default_factory=list)  # (error, warning or notice, its text)
    seconds: float = 0


@dataclass
class Job:
    name: str
    result: str = "skipped"
    outputs: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)


@dataclass
class Run:
    conclusion: str
    jobs: dict
    attempt: int = 1

    def step(self, name):
        (found,) = [step for job in self.jobs.values() for step in job.steps if step.name == name]
        return found

    def log(self):
        rows = [f"== {step.name}: {step.outcome}\n{step.log}" for job in self.jobs.values() for step in job.steps]
        return "\n".join(rows)


def read_commands(path):
    """What a step wrote into GITHUB_OUTPUT or GITHUB_ENV: {name: value}; the last one counts."""
    values, lines = {}, iter(path.read_text().split("\n")[:-1])
    for line in lines:
        found = re.match(r"([^=<]*)(=|<<)(.*)", line, re.DOTALL)
        if not found:
            raise ValueError(f"Invalid format '{line}'")
        name, sign, end = found.groups()
        if sign == "<<":
            value = []
            for row in lines:
                if row == end:
                    break
                value.append(row)
            end = "\n".join(value)
        values[name] = end
    return values


def read_all(file):
    file.seek(0)
    return file.read().decode(errors="replace")


class Runner:
    def __init__(self, host, git, folder, path=(), variables=None):
        """`path`: folders of programs beside the system's; `variables`: those of repositories (`vars`)."""
        self.host, self.git, self.folder, self.path = host, git, folder, [str(one) for one in path]
        self.variables = variables or {}
        self.expressions = Expressions()
        self.count = 0
        self.on_step = lambda job, step: None  # told of each step that has ended

    def close(self):
        self.expressions.close()

    def run(self, repo, row, event="workflow_dispatch", attempt_of=None, jobs=()):
        """Run what a row of code_host.runs() started; the code host tells of its beginning and its end. With `attempt_of`, a former
        attempt: run these of its jobs again, and those that need them; of the others the results and outputs stay."""
        self.git.update(repo)
        branch = row["head_branch"]
        workflow = yaml.safe_load(self.host.files(repo, branch)[row["path"]])
        check_known("workflow", workflow)
        self.host.change_run(row["id"], "in_progress")
        made = OneRun(self, repo, branch, row, event, workflow, attempt_of).run(jobs)
        self.host.change_run(row["id"], "completed", made.conclusion)
        assert not self.git.faults, self.git.faults
        return made

    def new_folder(self, *names):
        self.count += 1
        made = [self.folder / str(self.count) / name for name in names]
        for one in made:
            one.mkdir(parents=True)
        return made


class OneRun:
    def __init__(self, runner, repo, branch, row, event, workflow, former):
        self.former, self.attempt = former, former.attempt + 1 if former else 1
        self.runner, self.repo, self.row, self.workflow = runner, repo, row, workflow
        self.evaluate, self.fill = runner.expressions.evaluate, runner.expressions.fill
        declared = workflow[True]["workflow_dispatch"]["inputs"]
        self.inputs = {name: row["inputs"].get(name, "") for name in declared}
        default = runner.host.default_branch(repo)
        self.github = {
            "run_id": str(row["id"]), "run_attempt": str(self.attempt), "repository": repo, "ref_name": branch, "event_name": event,
            "server_url": runner.git.url, "api_url": runner.host.url,
            "event": {"repository": {"default_branch": default}} if event == "workflow_dispatch" else {},
        }  # fmt: skip
        self.jobs = {}

    def run(self, again):
        begun = set(again)
        for name, job in self.workflow["jobs"].items():  # in an order in which each comes after those that it needs
            check_known("job", job)
            if not self.former or name in begun or begun & set(self.needs_of(job)):
                begun.add(name)
                self.jobs[name] = self.run_job(name, job)
            else:
                self.jobs[name] = self.former.jobs[name]
        results = [job.result for job in self.jobs.values()]
        return Run("failure" if "failure" in results else "success", self.jobs, self.attempt)

    def needs_of(self, job):
        needs = job.get("needs", [])
        return [needs] if isinstance(needs, str) else needs

    def run_job(self, name, job):
        needed = {other: self.jobs[other] for other in self.needs_of(job)}
        results = [other.result for other in needed.values()]
        status = "failure" if "failure" in results else "success" if all(one == "success" for one in results) else "skipped"
        contexts = {
            "github": self.github, "inputs": self.inputs, "vars": self.runner.variables,
            "needs": {key: {"result": other.result, "outputs": other.outputs} for key, other in needed.items()},
        }  # fmt: skip
        made = Job(job.get("name", name))
        if self.evaluate(job.get("if", "success()"), contexts, status, is_condition=True):
            JobRun(self, job, contexts, made).run()
        return made

    def new_token(self, job):
        given = job.get("permissions", self.workflow.get("permissions"))
        permissions = {name.replace("-", "_"): level for name, level in (given or {}).items()}
        token = self.runner.host.run_token(self.repo, permissions)
        if "contents" in permissions:
            self.runner.git.allow(self.repo, token, permissions["contents"])
        return token


class JobRun:
    def __init__(self, run, job, contexts, made):
        self.run_of, self.job, self.made = run, job, made
        self.home, self.workspace, self.temp = run.runner.new_folder("home", "workspace", "temp")
        named = SECRET.findall(yaml.safe_dump(job))
        values = {name: run.runner.host.secret(run.repo, name) for name in named}
        self.contexts = {
            **contexts,
            "github": {**run.github, "token": run.new_token(job), "workspace": str(self.workspace)},
            "secrets": {name: value for name, value in values.items() if value is not None},
            "steps": {step["id"]: {"outputs": {}, "outcome": "skipped"} for step in job["steps"] if "id" in step},
            "env": {},
        }
        self.status, self.masks = "success", set()
        self.path = list(run.runner.path)
        self.env = {**run.fill(run.workflow.get("env"), self.contexts), **run.fill(job.get("env"), self.contexts)}

    def run(self):
        try:
            for step in self.job["steps"]:
                check_known("step", step)
                self.made.steps.append(self.run_step(step))
                self.run_of.runner.on_step(self.made, self.made.steps[-1])
        finally:
            self.end_processes()
        self.made.result = self.status
        outputs = self.run_of.fill(self.job.get("outputs"), self.contexts, self.status)
        self.made.outputs = {name: value for name, value in outputs.items() if not any(mask in value for mask in self.masks)}

    def end_processes(self):
        """Kill what the job has left running, which is known by its home."""
        mark = f"HOME={self.home}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)
            except (FileNotFoundError, PermissionError, ProcessLookupError):
                pass  # it has ended, or is another user's

    def base_env(self):
        github = self.contexts["github"]
        path = [*self.path, "/usr/local/bin", "/usr/bin", "/bin"]
        return {
            "PATH": ":".join(path), "HOME": str(self.home), "LANG": "C.UTF-8", "CI": "true", "GITHUB_ACTIONS": "true",
            "RUNNER_TEMP": str(self.temp), "GITHUB_WORKSPACE": str(self.workspace),
            **{f"GITHUB_{name.upper()}": github[name] for name in
               ("run_id", "run_attempt", "repository", "ref_name", "event_name", "server_url", "api_url")},
        }  # fmt: skip

    def run_step(self, step):
        made = Step(step["name"])
        self.contexts["env"] = self.env
        if self.run_of.evaluate(step.get("if", "success()"), self.contexts, self.status, is_condition=True):
            made.env = {**self.base_env(), **self.env, **self.run_of.fill(step.get("env"), self.contexts, self.status)}
            self.execute(step["run"], made)
        is_fault = self.run_of.evaluate(step.get("continue-on-error", "false"), self.contexts, self.status) != "true"
        if made.outcome == "failure" and is_fault:
            self.status = "failure"
        if "id" in step:
            self.contexts["steps"][step["id"]] = {"outputs": made.outputs, "outcome": made.outcome}
        return made

    def execute(self, script, made):
        files = {name: self.temp / f".{name}-{secrets.token_hex(4)}" for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH")}
        for path in files.values():
            path.touch()
        shell = self.run_of.workflow["defaults"]["run"]["shell"]
        file = self.temp / f".script-{secrets.token_hex(4)}"
        file.write_text(self.run_of.evaluate(script, self.contexts, self.status))
        env = {**made.env, **{name: str(path) for name, path in files.items()}}
        begun = time.monotonic()
        # Not pipes, which would be open as long as what the step leaves running.
        with tempfile.TemporaryFile() as log, tempfile.TemporaryFile() as errors:
            try:
                made.outcome = "failure" if self.call([*SHELLS[shell], file], env, log, errors) else "success"
                written = read_commands(files["GITHUB_OUTPUT"])
                told = read_commands(files["GITHUB_ENV"])
            except (OSError, ValueError) as error:  # variables that no process can hold, or no commands
                made.outcome, written, told = "failure", {}, {}
                log.write(str(error).encode())
            made.seconds = time.monotonic() - begun
            self.obey(made, [read_all(errors), read_all(log)])
            made.outputs |= written
        self.env |= {name: value for name, value in told.items() if not name.startswith(("GITHUB_", "RUNNER_"))}
        self.path[:0] = reversed(files["GITHUB_PATH"].read_text().split())

    def obey(self, made, printed):
        """Do what the step has printed as commands. The two outputs are read side by side: errors may come before all else."""
        commands = Commands()
        for text in printed:
            commands.read(text)
        made.log, made.annotations, made.outputs = "".join(printed), commands.annotations, commands.outputs
        self.masks |= commands.masks
        if commands.refused:
            made.outcome = "failure"

    def call(self, command, env, log, errors):
        done = subprocess.run(command, cwd=self.workspace, env=env, stdin=subprocess.DEVNULL, stdout=log,
                              stderr=errors, timeout=PATIENCE_SECONDS, check=False)  # fmt: skip
        return done.returncode
