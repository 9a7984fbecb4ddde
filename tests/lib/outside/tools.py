"""Programs for the PATH of a workflow's steps (lib/outside/workflow.py): small scripts that play coding agents."""

from pathlib import Path

CHANGE = 'echo "better" >>notes.md'

AGENT = """#!/bin/bash
set -euo pipefail
env -0 >"$HOME/agent.env"
{script}
"""


class Tools:
    """A folder of programs."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def agent(self, script, name="agent_one"):
        """Let an agent be this bash script. It notes its environment."""
        path = self.folder / name
        path.write_text(AGENT.format(script=script))
        path.chmod(0o755)

    def env_of(self, run):
        """The environment of the agent in a run."""
        home = Path(run.step("Run the agent").env["HOME"])
        return dict(row.split("=", 1) for row in (home / "agent.env").read_text().split("\0")[:-1])
