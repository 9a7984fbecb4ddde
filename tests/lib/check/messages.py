"""What accounts were told: the messages in the outboxes of the services, which svc-integrations turns into deliveries."""

from lib.http.contract import ContractError, contract
from lib.system.servers import read_processes

OF_ENDPOINTS = {"digest.ready", "endpoint.disabled", "test.ping"}  # which tests of their own have (test_digest.py, test_notify_deliveries.py)


def described():
    """{type: schema of its body}: the `webhooks` of the description."""
    hooks = contract().document["webhooks"]
    return {type: hook["post"]["requestBody"]["content"]["application/json"]["schema"] for type, hook in hooks.items()}


def read(cluster, where, parameters):
    """[(type, data, the body that is sent)] in the order in which they happened."""
    found = []
    for _, schema, _ in read_processes():
        with cluster.postgres.connect(schema) as db:
            found += db.execute(
                "SELECT created_at, id, event_id, account_id, time_json(created_at), data ->> 'type', data -> 'data' FROM outbox"
                f" WHERE type = 'message' AND {where}", parameters).fetchall()
    return [(type, data, body(event, account, at, type, data)) for _, _, event, account, at, type, data in sorted(found, key=lambda row: row[:2])]


def body(event, account, at, type, data):
    """As svc-integrations makes it."""
    page = "https://expops.example.com" + data["url"]
    return {"id": "msg_" + event.hex, "type": type, "timestamp": at, "account_id": str(account), "data": {**data, "url": page}}


def told(cluster, account, type):
    """The data of the account's messages of a type."""
    return [data for its, data, _ in read(cluster, "account_id = %s", [account]) if its == type]


def types(cluster, account):
    """The types of the account's messages."""
    return {type for type, _, _ in read(cluster, "account_id = %s", [account])}


def faults(cluster):
    """What is wrong with the messages that the services have written: not described, or not as described."""
    schemas, found = described(), []
    for type, data, sent in read(cluster, "true", []):
        if type not in schemas:
            found.append(f"the message {type} is not described")
            continue
        try:
            contract().validate(schemas[type], sent, f"the message {type}")
        except ContractError as fault:
            found.append(str(fault))
        members = contract().resolve(contract().resolve(schemas[type])["properties"]["data"])["properties"]
        found += [f"the member {name} of {type} is not described" for name in data.keys() - members.keys()]
    return sorted(set(found))
