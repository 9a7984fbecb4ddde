"""A pytest plugin for the tests of the previous version on the schema of this one. They see what functions of this version add, as a
client or a service of the previous version does, and pass over it as these do:

- members of answers that the previous description does not name;
- events of the type `message`, for which no service of the previous version has a handler, or finds what it looks for.

Needs the previous version's libcommon/tools in sys.path.
"""

import openapi_parts
import redis

read_parts, read_entries = openapi_parts.read, redis.Redis.xrange


def opened(node):
    """A part of the description, in which objects may have more members."""
    if isinstance(node, list):
        return [opened(item) for item in node]
    if isinstance(node, dict):
        return {name: opened(item) for name, item in node.items() if (name, item) != ("additionalProperties", False)}
    return node


def entries_without_messages(self, name, *bounds, **options):
    return [entry for entry in read_entries(self, name, *bounds, **options) if entry[1].get("type") != "message"]


openapi_parts.read = lambda parts: opened(read_parts(parts))
redis.Redis.xrange = entries_without_messages
