"""The presets of agents (svc-interests/provision/preset), and how the workflow runs their commands."""

import json
import os
import subprocess

from lib.system.servers import ROOT

FOLDER = ROOT / "svc-interests" / "provision" / "preset"
PRESETS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}


def run_preset(name, programs, folder, timeout=None, cwd=None, **variables):
    """Run the preset's `run` with the programs of that folder first in PATH, and with HOME, the brief and the usage in `folder`."""
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "RUNNER_TEMP": str(folder),
           "BRIEF": str(folder / "brief.md"), "USAGE": str(folder / "usage.json"), "AGENT": "agent_one", **variables}  # fmt: skip
    command = ["bash", "-euo", "pipefail", "-c", PRESETS[name]["run"]]
    return subprocess.run(command, env=env, cwd=cwd or folder, capture_output=True, text=True, check=False, timeout=timeout)


def noted_usage(folder):
    """What the command has noted of tokens and cost; {}: nothing."""
    text = (folder / "usage.json").read_text()
    return {key: value for key, value in (json.loads(text) if text else {}).items() if value is not None}
