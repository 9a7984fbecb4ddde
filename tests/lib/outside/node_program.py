"""A Node program that answers questions (answering.mjs) as long as it runs, so that what it loads is loaded once.

    with NodeProgram("browser.mjs", "/usr/bin/chromium") as browser:
        browser.ask(journey="rate", values={...})
"""

import json
import select
import subprocess
from pathlib import Path

from lib.wait import PATIENCE_SECONDS

LIB = Path(__file__).parent


class Refused(AssertionError):
    """What the program says in place of an answer."""


class NodeProgram:
    def __init__(self, name, *arguments, patience=PATIENCE_SECONDS):
        self.name, self.patience = name, patience
        command = ["node", LIB / name, *arguments]
        self.popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.popen.stdin.close()
        self.popen.wait(PATIENCE_SECONDS)
        self.popen.stdout.close()

    def ask(self, **question):
        """Returns the answer; raises Refused."""
        self.popen.stdin.write(json.dumps(question) + "\n")
        assert select.select([self.popen.stdout], [], [], self.patience)[0], f"{self.name} is silent: {question}"
        line = self.popen.stdout.readline()
        assert line, f"{self.name} has ended with {self.popen.wait(PATIENCE_SECONDS)}"
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["value"]
