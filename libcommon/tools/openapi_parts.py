"""Merge the parts of the API's description: the common one and one of each service.

The first file is a whole OpenAPI document. Each other file has its own `tags`, `paths`, `webhooks` and `components`, which are added
to those of the document; a name that is in two files is an error. Anchors (&name) of the first file can be used (*name) in all; its
member `x-shared`, which exists only to define anchors, is left out of the document.
"""

import yaml


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # in C, where libyaml is there, it takes a third of the time
    """YAML as JSON has it: a timestamp is a string."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class PartsError(Exception):
    pass


def add(where, target, part):
    """Add the members of one mapping to another."""
    for name, value in part.items():
        if name in target:
            raise PartsError(f"{where}: {name} is defined twice")
        target[name] = value


def merge(texts):
    """The document of the texts, which are parsed as one, so that they share anchors."""
    nested = "".join(
        f"x-part-{number}:\n" + "".join(f"  {line}\n" for line in text.splitlines()) for number, text in enumerate(texts[1:])
    )
    document = yaml.load(texts[0] + "\n" + nested, Loader)
    document.pop("x-shared", None)
    for number in range(len(texts) - 1):
        part = document.pop(f"x-part-{number}")
        unknown = part.keys() - {"tags", "paths", "webhooks", "components"}
        if unknown:
            raise PartsError(f"a service's part cannot have {', '.join(sorted(unknown))}")
        document["tags"] += part.get("tags", [])
        add("paths", document["paths"], part.get("paths", {}))
        add("webhooks", document.setdefault("webhooks", {}), part.get("webhooks", {}))
        for kind, rows in part.get("components", {}).items():
            add(kind, document["components"].setdefault(kind, {}), rows)
    return document


def read(paths):
    return merge([path.read_text(encoding="utf-8") for path in paths])


def target(document, reference):
    """What `#/components/schemas/Thing` leads to."""
    for name in reference.removeprefix("#/").split("/"):
        document = document[name]
    return document
