"""What a runner of the code host takes for commands in what a step prints, as actions/runner does (ActionCommand.cs,
ActionCommandManager.cs): `::name key=value::data` at the beginning of a line, after spaces, and `##[name key=value]data` anywhere in it.
"""

import re

AT_BEGIN = re.compile(r"\s*::([^ :]*)(?: (.*?))?::(.*)")
ANYWHERE = re.compile(r"##\[([^ \]]*)(?: ([^\]]*))?\](.*)")
REFUSED = {"set-env", "add-path"}  # unless the owner of the machine allows them: the step fails
NAMES = {"add-matcher", "add-mask", "debug", "echo", "endgroup", "error", "group", "notice", "remove-matcher", "save-state",
         "set-output", "warning", *REFUSED}  # fmt: skip


def unescaped(text):
    for escape, sign in (("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, sign)
    return text


class Commands:
    """Of one step: what its output has told the runner."""

    def __init__(self):
        self.outputs, self.masks, self.annotations, self.refused = {}, set(), [], []
        self.stop = None  # the word that ends a stop

    def read(self, text):
        for line in text.splitlines():
            self.read_line(line)

    def is_known(self, name):
        return name.lower() in NAMES | {"stop-commands"} or name == self.stop

    def read_line(self, line):
        found, separator = AT_BEGIN.match(line), ","
        if not found or not self.is_known(found[1]):
            found, separator = ANYWHERE.search(line), ";"
        if not found or not self.is_known(found[1]):
            return
        properties = dict(pair.split("=", 1) for pair in (found[2] or "").split(separator) if "=" in pair)
        self.obey(found[1], {key.strip(): unescaped(value) for key, value in properties.items()}, unescaped(found[3]))

    def obey(self, name, properties, data):
        if self.stop:
            self.stop = None if name == self.stop else self.stop
        elif name == "stop-commands":
            self.stop = data
        elif name in REFUSED or name == "set-output" and not properties.get("name"):
            self.refused.append(name)
        elif name == "set-output":
            self.outputs[properties["name"]] = data
        elif name == "add-mask":
            self.masks |= {data} - {""}
        elif name in ("error", "warning", "notice"):
            self.annotations.append((name, data))
