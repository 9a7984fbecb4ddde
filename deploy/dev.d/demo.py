"""Plays the whole loop on the cluster of deploy/dev, with the tests' counterpart of the code host.

usage: demo.py configure FOLDER   write the configuration of the counterpart and the settings of the processes that use it
       demo.py models FOLDER      stand in for the model providers, until the process is ended
       demo.py play FOLDER        play; EXPOPS_URL is the API, EXPOPS_KEY the key of a new account, EXPOPS_ADMIN_KEY that of
                                  the operator, who makes the app

CODE_HOST_PORT, TRACKER_PORT, MODEL_PORT and MAIL_PORT are the ports of the counterparts, EXPOPS_URL is the address of the API.
"""

import json
import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from terminal import shown_lines  # noqa: E402

from lib.http.client import Api  # noqa: E402
from lib.outside.counterparts import CodeHost  # noqa: E402
from lib.outside.git_host import GitHost  # noqa: E402
from lib.outside.mail_server import MailServer, plain_settings  # noqa: E402
from lib.outside.model_provider import NAMES, ModelProvider  # noqa: E402
from lib.outside.receiver import HOST  # noqa: E402
from lib.scenario.story import Story  # noqa: E402
from lib.outside.tools import Tools  # noqa: E402
from lib.outside.workflow import Runner  # noqa: E402

WEBHOOKS = "/api/v1.0/github/webhooks"


def new_host(folder):
    """The code host, with the ports that deploy/dev has chosen."""
    host = CodeHost(folder, lambda: os.environ["EXPOPS_URL"] + WEBHOOKS)
    host.use_ports(int(os.environ["CODE_HOST_PORT"]), int(os.environ["TRACKER_PORT"]))
    return host


def write_settings(path, settings):
    """Lines of NAME=VALUE; the line ends of a key are written as \\n, which the processes read."""
    lines = [f"{name}={value}".replace("\n", "\\n") for name, value in settings.items()]
    path.write_text("\n".join(lines) + "\n")


def configure(folder):
    file = folder / "code_host.json"
    host = new_host(folder)
    if file.exists():
        host.restore(json.loads(file.read_text()))
    file.write_text(json.dumps(host.config()))
    model_url = f"http://127.0.0.1:{os.environ['MODEL_PORT']}"
    write_settings(folder / "svc-integrations.env", {
        **host.addresses(), **{f"{name}_URL": model_url for name in NAMES}, **plain_settings(os.environ["MAIL_PORT"]),
        "FETCH_ALLOW": f"{HOST}/32"})  # fmt: skip
    for name in ("svc-interests", "gateway"):
        write_settings(folder / f"{name}.env", {"CODE_HOST_WEB_URL": host.url})


def models(_):
    ModelProvider(int(os.environ["MODEL_PORT"]))
    signal.pause()


def play(folder):
    host = new_host(folder)
    host.set_webhook(url=host.webhook_url())
    api, operator = (Api(os.environ["EXPOPS_URL"], os.environ[name]) for name in ("EXPOPS_KEY", "EXPOPS_ADMIN_KEY"))
    with tempfile.TemporaryDirectory() as scratch:
        git, tools = GitHost(host, Path(scratch) / "git"), Tools(Path(scratch) / "tools")
        mail = MailServer(port=int(os.environ["MAIL_PORT"]))
        runner = Runner(host, git, Path(scratch) / "runs", [tools.folder])
        try:
            story = Story(api, host, runner, tools, mail, say=lambda line: print(shown_lines(line), flush=True), operator=operator)
            story.play()
        finally:
            mail.close()
            runner.close()
            git.close()
    faults = host.control("GET", "/violations")["violations"]
    print(f"\n    Requests to the code host that its description refuses: {len(faults)}.\n")
    return 1 if faults else 0


def main():
    command, folder = sys.argv[1], Path(sys.argv[2])
    return {"configure": configure, "models": models, "play": play}[command](folder)


if __name__ == "__main__":
    sys.exit(main())
