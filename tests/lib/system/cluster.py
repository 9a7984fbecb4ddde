"""The whole product for one run: private servers and every process, which tests can stop, kill and restart."""

import base64
import functools
import hashlib
import json
import os
import secrets
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psycopg

from lib.system.balancer import Balancer
from lib.http.client import Api
from lib.outside.counterparts import CodeHost, OAuthProvider
from lib.http.keys import new_key
from lib.outside.mail_server import MailServer
from lib.outside.jira import Jira
from lib.outside.model_provider import ModelProvider
from lib.system.process import Process
from lib.system.servers import ROOT, Servers, free_port, read_processes
from lib.wait import PATIENCE_SECONDS

# Members of every line of a log (deploy/LOGS.md), but for the message.
EVERY_LINE = {"time", "level", "process", "group", "request_id"}

# Time limits are long enough for a busy machine. A test of a limit starts a process with another value. The job lease
# is short, because tests wait until it has expired before the jobs of a killed process are done. What looks at tables by the clock
# looks often, because tests wait for it, but no more often: a cluster that nothing asks would take twice as much of a processor.
SETTINGS = {
    "LOG_LEVEL": "info",
    "WORKERS": "2",
    "RATE_LIMIT": "0",
    "KEY_LOOKUP_LIMIT": "0",
    "OPEN_RATE_LIMIT": "0",
    "DRAIN_DELAY": "0",
    "JOB_LEASE": "15s",
    "PG_POOL_WAIT": "5s",
    "CONNECT_TIMEOUT": "5s",
    "DAILY_CHECK": "1h",
    "SCHEDULE_CHECK": "1h",
    "REFRESH_LATEST": "00:00",
    "RUN_CHECK": "300ms",
    "INBOX_CHECK": "300ms",
    "DIGEST_CHECK": "300ms",
    "KEY_EXPIRY_CHECK": "300ms",
    "EMBEDDER_CHECK": "1s",
    "SEARCH_TIMEOUT": "30s",
}

# The programs are those of a test (lib/outside/workflow.py), under the names agent_one, codex and opencode. agent_three has no
# credential for google, which AGENT_PROVIDERS lists.
AGENT_COMMANDS = {
    "agent_one": {"install": 'echo "agent_one" >"$HOME/installed"', "credential": "ANTHROPIC_API_KEY"},
    "agent_two": {"preset": "codex", "install": "true"},
    "agent_three": {"preset": "opencode", "install": "true",
                    "credential": {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}, "obeys_max_usd": True},
}


def build_dir():
    """The folder of the binaries: EXPOPS_BUILD_DIR, or else the newest of build/*."""
    if "EXPOPS_BUILD_DIR" in os.environ:
        return Path(os.environ["EXPOPS_BUILD_DIR"])
    found = [path for path in ROOT.glob("build/*/deploy/gateway")]
    if not found:
        raise RuntimeError("no binaries: run deploy/dev test, or set EXPOPS_BUILD_DIR")
    return max(found, key=lambda path: path.stat().st_mtime).parents[1]


@functools.cache
def calls_of(binary):
    """The names of the processes that this one may call, the same for each cluster."""
    return subprocess.run([binary, "--calls"], capture_output=True, text=True, check=True).stdout.split()


# A new account with a key, as those of another account.
COPY_USER = """
    WITH copy AS (
        INSERT INTO account.account
        SELECT (jsonb_populate_record(a, jsonb_build_object('id', account.uuid_v7(), 'email', %(email)s::text))).*
        FROM account.account a WHERE a.email = %(template)s RETURNING id
    )
    INSERT INTO account.api_key
    SELECT (jsonb_populate_record(k, jsonb_build_object('id', account.uuid_v7(), 'account_id', copy.id,
            'prefix', left(%(key)s, 12), 'hash', sha256(%(key)s::bytea), 'created_at', now()))).*
    FROM account.api_key k, copy WHERE k.account_id = (SELECT id FROM account.account WHERE email = %(template)s)
    RETURNING account_id::text
"""

# The copy has a person by now, whose key it is.
COPY_PERSON = """
    INSERT INTO account.api_key_person
    SELECT k.id, m.person_id FROM account.api_key k JOIN account.member m USING (account_id) WHERE account_id = %s
"""


@dataclass
class User:
    """A new account, with a key that has all scopes of an account."""

    account: str  # its id
    email: str
    key: str
    api: Api


class Cluster:
    """Created by the fixture `cluster`.

    `cluster.postgres` and `cluster.redis` are lib.system.servers.Server, `cluster["svc-search"]` is the list of replicas, each
    a lib.system.process.Process. A cluster with several replicas has a balancer in front of each process. Without balancers, a
    replica that a test adds listens on its own port (`replica.url`), which the other processes do not use.
    """

    has_balancers = True

    def __init__(self, replicas=1):
        self.servers = Servers(has_pooler="EXPOPS_TEST_PGBOUNCER" in os.environ)
        self.postgres, self.redis = self.servers.postgres, self.servers.redis
        self.rows = read_processes()
        self.replicas = replicas
        self.ports = {name: free_port() for name, _, _ in self.rows}
        self.secret = secrets.token_hex(24)
        self.code_host = CodeHost(self.servers.base, lambda: f"{self.gateway_url}/api/v1.0/github/webhooks")
        self.oauth_provider = OAuthProvider(self.servers.base)
        self.model_provider = ModelProvider()
        self.jira = Jira()
        self.mail_server = MailServer(self.servers.base)
        self.balancers = {}
        self.processes = {name: [] for name, _, _ in self.rows}
        self.retired, self.separated = [], []
        self.templates = set()  # addresses of the accounts that user() copies
        self.accounts = None  # its connection
        self.build_dir = build_dir()
        self.calls = {name: [other for other in calls_of(self.binary(name)) if other in self.processes] for name in self.processes}

    def __enter__(self):
        self.servers.__enter__()
        if self.replicas > 1 and self.has_balancers:
            self.balancers = {name: Balancer(port) for name, port in self.ports.items()}
        for name in self.processes:
            self.start(name, self.replicas)
        self.wait_ready()
        return self

    def __exit__(self, *error):
        self.stop_all()
        if self.accounts:
            self.accounts.close()
        for balancer in self.balancers.values():
            balancer.close()
        self.model_provider.close()
        self.jira.close()
        self.mail_server.close()
        self.servers.__exit__(*error)

    def __getitem__(self, name):
        return self.processes[name]

    def all(self):
        return [process for replicas in self.processes.values() for process in replicas]

    @property
    def gateway_url(self):
        return f"http://127.0.0.1:{self.ports['gateway']}"

    def url(self, name):
        """The address of a process, for tests that bypass the gateway."""
        return f"http://127.0.0.1:{self.ports[name]}"

    def binary(self, name):
        return self.build_dir / "deploy" / name

    def derived_secret(self, *names):
        return hashlib.sha256(":".join([self.secret, *names]).encode()).hexdigest()

    def pair_secret(self, sender, receiver):
        """The secret that the sender signs with for the receiver."""
        return self.derived_secret("pair", sender, receiver)

    def secrets_of(self, name):
        """The settings of a process with the secrets that it shares with others, and its own."""
        signs = [f"{other}={self.pair_secret(name, other)}" for other in self.calls[name]]
        verifies = [f"{other}={self.pair_secret(other, name)}" for other in self.calls if name in self.calls[other]]
        return {
            "IDENTITY_SIGN_SECRETS": " ".join(signs),
            "IDENTITY_VERIFY_SECRETS": " ".join(verifies),
            "SEAL_SECRETS": self.derived_secret("seal", name),
            **(self.integrations_settings() if name == "svc-integrations" else {}),
            **(self.interests_settings() if name == "svc-interests" else {}),
            **({"SEAL_KEYS": self.seal_key("evalenv")} if name == "svc-evalenv" else {}),
        }

    def seal_key(self, key_id):
        """A key of SEAL_KEYS."""
        return f"{key_id}:{base64.b64encode(bytes.fromhex(self.derived_secret('seal-keys', key_id))).decode()}"

    def integrations_settings(self):
        """The settings of svc-integrations alone: its key, and where the outside services are."""
        return {
            "SEAL_KEYS": self.seal_key("test"),
            "REDELIVERY_INTERVAL": "24h",
            "PUBLIC_URL": self.gateway_url,
            "FETCH_ALLOW": "127.0.0.2/32",  # where receivers of messages are
            # Tests of a pair kill a replica that refreshes a token; its lease lasts longer than this.
            "OAUTH_TIMEOUT": "5s" if self.replicas > 1 else "20s",
            **self.code_host.settings(),
            **self.oauth_provider.settings(),
            **self.model_provider.settings(),
            **self.jira.settings(),
            **self.mail_server.settings(),
        }

    def interests_settings(self):
        """The settings of svc-interests alone: where the code host is, the API for the workflows there, and where tests may have
        pages."""
        return {
            "PUBLIC_URL": self.gateway_url,
            "AGENT_COMMANDS": json.dumps(AGENT_COMMANDS),
            "CODE_HOST_WEB_URL": self.code_host.url,
            "FETCH_ALLOW": "127.0.0.2/32",
        }

    def settings(self, name, replica=0, **changes):
        """The environment of a process, as deploy/dev sets it, with `changes`."""
        role = "expops_" + name.removeprefix("svc-")
        data = self.servers.base / f"{name}-{replica}"
        data.mkdir(exist_ok=True)
        is_alone = replica == 0 and name not in self.balancers
        listen, admin = (0, 0) if replica == "command" else (self.ports[name] if is_alone else free_port(), free_port())
        return {
            **SETTINGS,
            "LISTEN": f"127.0.0.1:{listen}",
            "ADMIN_LISTEN": f"127.0.0.1:{admin}",
            **self.database_settings(role),
            "REDIS_URL": self.redis.url(name),
            **self.secrets_of(name),
            "DATA_DIR": str(data),
            **{variable: self.url(other) for other, _, variable in self.rows},
            **changes,
        }

    def database_settings(self, role):
        """Where the database is: behind PgBouncer when EXPOPS_TEST_PGBOUNCER is set."""
        direct, pooler = self.postgres.url(role), self.servers.pgbouncer
        if not pooler:
            return {"DATABASE_URL": direct}
        prepare = "on" if pooler.has_prepared_statements() else "off"
        return {"DATABASE_URL": pooler.url(role), "DATABASE_DIRECT_URL": direct, "PG_PREPARE": prepare}

    def separate(self, name, label, **changes):
        """A process with its own port and the data folder `label`, which the other processes do not use. The caller starts
        and stops it, and may want it to fail: check() has only its reports of sanitizers and the like."""
        settings = self.settings(name, label, **{"LISTEN": f"127.0.0.1:{free_port()}", **changes})
        self.separated.append(Process(name, self.binary(name), settings, self.servers.base / f"{name}-{label}.log"))
        return self.separated[-1]

    def add(self, name, **changes):
        """Start one more replica with changed settings. Does not wait until it is ready."""
        number = len(self.processes[name]) + sum(process.name == name for process in self.retired)
        log_path = self.servers.base / f"{name}-{number}.log"
        process = Process(name, self.binary(name), self.settings(name, number, **changes), log_path)
        self.processes[name].append(process)
        if name in self.balancers:
            self.balancers[name].targets.append(process)
        process.start()
        return process

    def start(self, name, replicas=1):
        """Start stopped replicas of `name`, and add more up to `replicas`. Does not wait until they are ready."""
        for process in self.processes[name][:replicas]:
            if not process.is_running:
                process.start()
        while len(self.processes[name]) < replicas:
            self.add(name)

    def retire(self, name, count):
        """Stop and remove all but the first `count` replicas. check() still reports their faults."""
        while len(self.processes[name]) > count:
            process = self.processes[name].pop()
            if name in self.balancers:
                self.balancers[name].targets.remove(process)
            process.stop()
            self.retired.append(process)

    def stop(self, name):
        for process in self.processes[name]:
            process.stop()

    def stop_all(self):
        """Stop every process, all at the same time."""
        for process in self.all():
            process.terminate()
        for process in self.all():
            process.stop()

    def kill9(self, name):
        for process in self.processes[name]:
            process.kill9()

    def restart(self, name):
        self.stop(name)
        self.start(name, len(self.processes[name]))

    def wait_ready(self, name=None):
        for process in self.all() if name is None else self.processes[name]:
            process.wait_ready()

    def recover(self):
        """Start everything that is stopped and wait until it is ready. For the end of a test that stopped something."""
        self.postgres.start()
        self.redis.start()
        for name, replicas in self.processes.items():
            self.start(name, len(replicas))
        self.wait_ready()

    def run(self, name, *args, timeout=PATIENCE_SECONDS, **changes):
        """Run a command of a process to its end; returns its standard output. Raises when it fails."""
        return self._run(name, args, timeout, changes).stdout

    def run_logged(self, name, *args, **changes):
        """The same; returns the members of the lines that it has logged, but for those of every line."""
        lines = [json.loads(line) for line in self._run(name, args, PATIENCE_SECONDS, changes).stderr.splitlines()]
        return [{key: value for key, value in line.items() if key not in EVERY_LINE} for line in lines]

    def _run(self, name, args, timeout, changes):
        done = subprocess.run(
            [self.binary(name), *map(str, args)],
            env={**os.environ, **self.settings(name, "command", **changes)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{name} {' '.join(map(str, args))}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def create_user(self, operator=False, email=None):
        """Create an account; returns its first key."""
        email = email or f"{secrets.token_hex(6)}@example.org"
        options = ["--operator"] if operator else []
        return self.run("gateway", "create-user", "--email", email, *options).strip()

    def user(self, operator=False):
        """A new account. Only the first of its kind is made by the command, which takes long for each test."""
        template = "operator@example.org" if operator else "user@example.org"
        if template not in self.templates:
            self.create_user(operator, template)
            self.templates.add(template)
        email, key = f"{secrets.token_hex(6)}@example.org", new_key()
        account = self.copy_user({"template": template, "email": email, "key": key})
        return User(account, email, key, Api(self.gateway_url, key))

    def copy_user(self, copy):
        """The connection is kept, as to open one takes longer than most tests. A test may have stopped the server since."""
        try:
            self.accounts = self.accounts or self.postgres.connect()
            return self.insert_copy(copy)
        except psycopg.OperationalError:
            self.accounts = self.postgres.connect()
            return self.insert_copy(copy)

    def insert_copy(self, copy):
        account = self.accounts.execute(COPY_USER, copy).fetchone()[0]
        self.insert_person(account)
        return account

    def insert_person(self, account):
        self.accounts.execute(COPY_PERSON, [account])

    def log_paths(self):
        """{name: path} of every log."""
        paths = {f"{process.name}-{index}": process.log_path for replicas in self.processes.values()
                 for index, process in enumerate(replicas)}
        return {**paths, **{server.name: server.log_path for server in (self.postgres, self.redis)}}

    def logs(self):
        """{name: text} of every log."""
        return {name: path.read_text(errors="replace") for name, path in self.log_paths().items()}

    def check(self):
        """Descriptions of the faults of all processes."""
        return [fault for process in self.all() + self.retired for fault in process.check()] + [
            report for process in self.separated for report in process.reports()]
