"""The walks of the documentation, each twice: that of the README with `expops`, and the same with curl."""

import re
import subprocess

import pytest

from lib.system.servers import ROOT
from lib.wait import PATIENCE_SECONDS

OF_THE_MACHINE = (". .dev/env", "PATH=", "deploy/dev run")  # what the test does itself
WALKS = {"expops": ("README.md", "A walk"), "curl": ("gateway/cli/README.md", "The walk with curl")}


def commands(page, title):
    """The commands of a section."""
    text = re.search(rf"^## {title}\n(.*?)^## ", (ROOT / page).read_text() + "\n## ", re.MULTILINE | re.DOTALL)[1]
    lines = [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    ")]
    assert len([line for line in lines if line.startswith(OF_THE_MACHINE)]) >= 2
    return "\n".join(line for line in lines if not line.startswith(OF_THE_MACHINE))


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_can_be_repeated(reader, walk):
    script = "set -euo pipefail\n" + commands(*WALKS[walk]).replace("# until it is completed", "")
    env = reader.environment({"PATH": f"{reader.binary.parent}:{reader.env['PATH']}"})
    for _ in range(2):
        done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "attention" in done.stdout.lower()
        if walk == "expops":
            assert "like: " in done.stdout and "# IO-aware attention in the encoder" in done.stdout
    assert [row["name"] for row in reader.api.get("/interests", expect=200).json()].count("Efficient attention") == (walk == "expops")
