"""A restore to a time between two writes, with the commands of deploy/OPERATIONS.md, from what the Postgres of compose has archived."""

import re
import shlex

import httpx
import pytest

from lib.system.deployment import DEPLOY, ROOT, environment, run
from lib.wait import PATIENCE_SECONDS, wait_for

COMMAND = re.compile(r"docker compose -f deploy/compose\.yaml [^`\n]+")
STEPS = ["stop", "run", "run", "up", "up", "exec", "rm", "exec", "exec"]  # what the commands do, before the processes start again


def commands():
    """Those of the section Restore. The last, in its step 8, is for keys that were revoked since."""
    section = (DEPLOY / "OPERATIONS.md").read_text().partition("\n## Restore\n")[2].partition("\n## ")[0]
    return [found for found in COMMAND.findall(section) if "revoke-keys" not in found]


@pytest.fixture
def api(deployment):
    """A client with the key of a new account."""
    headers = {"Authorization": f"Bearer {deployment.create_user()}"}
    with httpx.Client(base_url=f"{deployment.url}/api/v1.0", headers=headers, timeout=PATIENCE_SECONDS) as client:
        yield client


def create(api, name):
    answer = api.post("/experiments", json={"name": name})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def test_a_time_between_two_writes_is_restored(deployment, api):
    def shell(command):
        return run("bash", "-c", command, env={**environment(), **deployment.env}, cwd=ROOT)

    made = {"before the backup": create(api, "before the backup")}
    wait_for(lambda: deployment.compose("exec", "-T", "postgres", "ls", "/backup"), "the first backup of the day is made")
    deployment.compose("exec", "-T", "postgres", "flock", "/backup/.lock", "true")  # it has ended
    backup = deployment.compose("exec", "-T", "postgres", "backup", "/backup").split()[-1]
    made["after it"] = create(api, "after it")
    time = deployment.compose("exec", "-T", "postgres", "psql", "-XAtqc", "SELECT clock_timestamp()").strip()
    made["after the time"] = create(api, "after the time")

    found = commands()
    assert [shlex.split(command)[4] for command in found] == STEPS, found
    for command in found:
        shell(command.replace("/backup/20260131T030000Z", backup).replace("--time ...", f"--time {shlex.quote(time)}"))
    deployment.up()
    answers = {name: api.get(f"/experiments/{id}").status_code for name, id in made.items()}
    assert answers == {"before the backup": 200, "after it": 200, "after the time": 404}
    assert api.get(f"/experiments/{create(api, 'after the restore')}").status_code == 200
    deployment.compose("exec", "-T", "postgres", "backup", "/backup")
