"""A call of a statement gives as many values as the statement's list of parameters has names."""

import re
import sys

from lib.system.servers import ROOT
from lib.system.statements import statement_files

sys.path.insert(0, str(ROOT / "libcommon" / "tools"))

from sql_header import split_blocks  # noqa: E402

# The functions that take a statement and its values.
CALLS = {"pg_query", "pg_try", "pg_write", "PG_CALL"}
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|' r"'(?:\\.|[^'\\])*'|/\*.*?\*/|\w+|\S", re.DOTALL)


def components():
    return [ROOT / "libcommon", ROOT / "gateway", *sorted(ROOT.glob("svc-*"))]


def parameters(folder):
    """{constant: number of parameters} of the statements of a component."""
    blocks = [block for path in statement_files(folder) for block in split_blocks(path.read_text())]
    return {f"{block.name.upper()}_SQL": len(block.parameters()) for block in blocks if block.name}


def calls(text, constants):
    """(function, constant, number of arguments behind the one that has it) of each call with one of the constants."""
    open_calls, before = [], None
    for token in TOKEN.findall(text):
        if token.startswith("/*"):
            continue
        if token in "([{":
            open_calls.append((before, [0], {}))
        elif token in ")]}":
            function, commas, found = open_calls.pop()
            yield from ((function, constant, commas[0] - at) for constant, at in found.items())
        elif open_calls and token == ",":
            open_calls[-1][1][0] += 1
        elif open_calls and token in constants:
            open_calls[-1][2][token] = open_calls[-1][1][0]
        before = token


def test_calls_give_each_parameter_a_value():
    faults, count = [], 0
    for folder in components():
        expected = parameters(folder)
        for path in sorted(folder.rglob("*.c")):
            for function, constant, given in calls(path.read_text(), expected):
                count += function in CALLS
                if function in CALLS and given != expected[constant]:
                    faults.append(f"{path.relative_to(ROOT)}: {function}() gives {constant} {given} values of {expected[constant]}")
    assert faults == [] and count > 400
