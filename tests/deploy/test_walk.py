"""The documentation as a stranger follows it, on a fresh clone: the README's commands of "With compose", then the walk with curl of the
command line's page. They are taken from the texts."""

import json
import secrets
import subprocess

import pytest

from lib.system.deployment import ROOT, base_image, environment, free_address
from lib.wait import PATIENCE_SECONDS

OTHER_CLUSTER = (". .dev/env", "deploy/dev run svc-search import")  # what the commands of "With compose" take the place of
UNTIL = "# until it is completed"
WALK = "=== the walk ==="
INDENT = "    "


def section(text, title):
    """The lines between a heading and the next one."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("#") and line.lstrip("# ") == title:
            break
    for line in lines:
        if line.startswith("#"):
            return
        yield line


def blocks(text, title):
    """The commands of a section, a text for each of its blocks."""
    made = "\n".join(line.removeprefix(INDENT) if line.startswith(INDENT) else "" for line in section(text, title))
    return [block.strip("\n") for block in made.split("\n\n") if block.strip()]


def repeated(line):
    """A command that is to be repeated by hand, repeated."""
    command, is_repeated, _ = line.partition(UNTIL)
    return f"until {command} | tee -a status | grep -q '\"completed\"'; do sleep 1; done; cat status" if is_repeated else line


def commands(text, page):
    setup = blocks(text, "With compose")[0].splitlines()
    walk = "\n".join(blocks(page, "The walk with curl")).splitlines()
    left_out = [line for line in walk if line.startswith(OTHER_CLUSTER)]
    assert len(left_out) == len(OTHER_CLUSTER)
    return [*setup, f"echo '{WALK}'", *(repeated(line) for line in walk if line not in left_out)]


def documents(text):
    """The values in JSON that follow each other in a text."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found


@pytest.fixture
def clone(tmp_path):
    """(folder, environment) of a clone that has a compose project and a port of its own."""
    run = lambda *command: subprocess.run(command, check=True, capture_output=True)  # noqa: E731
    run("git", "clone", "-q", ROOT, tmp_path / "clone")
    names = {
        "COMPOSE_PROJECT_NAME": f"expops-walk-{secrets.token_hex(4)}",
        "EXPOPS_IMAGE": "expops-walk",
        "EXPOPS_SERVERS_IMAGE": "expops-walk-servers",
        "EXPOPS_BASE": base_image(),
        "EXPOPS_LISTEN": free_address(),
        "HARVEST_SETS": "",
    }
    env = {**environment(), **names}
    yield tmp_path / "clone", env
    down = ["docker", "compose", "-f", "deploy/compose.yaml", "down", "-v", "--timeout", "60"]
    subprocess.run(down, cwd=tmp_path / "clone", env=env, check=True, capture_output=True)


def test_the_walk_of_the_readme(clone):
    folder, env = clone
    text = (folder / "README.md").read_text().replace("127.0.0.1:8080", env["EXPOPS_LISTEN"])
    script = "\n".join(["set -eu", *commands(text, (folder / "gateway/cli/README.md").read_text())])
    done = subprocess.run(
        ["timeout", str(10 * PATIENCE_SECONDS), "bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    key, hits, *rest = documents(done.stdout.partition(f"{WALK}\n")[2])
    assert key["name"] == "laptop" and key["key"]
    assert len(hits) == 5 and all(hit["title"] for hit in hits)
    tasks = [one for one in rest if "status" in one]
    recommended = [one for one in rest if "title" in one]
    assert tasks[-1]["status"] == "completed" and len(tasks) + len(recommended) == len(rest)
    assert len(recommended) == 5 and all(one["reasoning"] and one["relevance_score"] >= 0.4 for one in recommended)
