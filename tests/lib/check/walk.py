"""The commands of the documentation, as a stranger follows them: they are taken from the texts."""

import json

UNTIL = "# until it is completed"
INDENT = "    "
LOCAL = (". .dev/env", "deploy/dev run svc-search import")  # what the commands for another cluster take the place of


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


def walk_commands(page):
    """The walk with curl of the page of the command line, on a cluster that EXPOPS_URL and EXPOPS_KEY lead to and that has papers."""
    walk = "\n".join(blocks(page, "The walk with curl")).splitlines()
    left_out = [line for line in walk if line.startswith(LOCAL)]
    assert len(left_out) == len(LOCAL)
    return [repeated(line) for line in walk if line not in left_out]


def documents(text):
    """The values in JSON that follow each other in a text."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found


def check_walk(output):
    """What the commands of the walk have printed is what the page promises."""
    key, hits, *rest = documents(output)
    assert key["name"] == "laptop" and key["key"]
    assert len(hits) == 5 and all(hit["title"] for hit in hits)
    tasks = [one for one in rest if "status" in one]
    recommended = [one for one in rest if "title" in one]
    assert tasks[-1]["status"] == "completed" and len(tasks) + len(recommended) == len(rest)
    assert len(recommended) == 5 and all(one["reasoning"] and one["relevance_score"] >= 0.4 for one in recommended)
