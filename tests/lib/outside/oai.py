"""Answers of an OAI-PMH server, in arXiv's own format."""

from urllib.parse import parse_qs, urlsplit

ANSWERED = "2024-03-02T08:00:00Z"
ENVELOPE = """<?xml version="1.0" encoding="UTF-8"?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<responseDate>{answered}</responseDate>
<request verb="ListRecords" metadataPrefix="arXiv">http://export.example.org/oai</request>
{body}
</OAI-PMH>
"""


def record(name, **members):
    """A record in arXiv's own format."""
    facts = {
        "title": "A title", "abstract": "  An abstract\n of two lines. ", "categories": "cs.LG stat.ML", "created": "2024-02-01",
        "updated": "2024-02-20", "license": "http://creativecommons.org/licenses/by/4.0/", **members,
    }  # fmt: skip
    authors = "<author><keyname>Byron</keyname><forenames>Ada</forenames></author><author><keyname>Team</keyname></author>"
    inner = "".join(f"<{element}>{text}</{element}>" for element, text in facts.items() if text is not None)
    return (
        f"<record><header><identifier>oai:arXiv.org:{name}</identifier><datestamp>2024-03-01</datestamp></header>"
        f'<metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>{name}</id><authors>{authors}</authors>{inner}'
        "</arXiv></metadata></record>"
    )


def deleted(name):
    return (
        f'<record><header status="deleted"><identifier>oai:arXiv.org:{name}</identifier>'
        "<datestamp>2024-03-01</datestamp></header></record>"
    )


def page(records, token=None, size=None, answered=ANSWERED):
    count = f' completeListSize="{size}"' if size else ""
    token = f"<resumptionToken{count}>{token or ''}</resumptionToken>" if token or size else ""
    return ENVELOPE.format(body="<ListRecords>" + "".join(records) + token + "</ListRecords>", answered=answered)


def error(code, text="no"):
    return ENVELOPE.format(body=f'<error code="{code}">{text}</error>', answered=ANSWERED)


def arguments(request_line):
    return {name: values[0] for name, values in parse_qs(urlsplit(request_line).query).items()}
