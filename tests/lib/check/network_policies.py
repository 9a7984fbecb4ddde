"""Whom the NetworkPolicies of deploy/k8s let a process reach."""

PEER = {"egress": "to", "ingress": "from"}


def reached(policy, direction):
    """Names of the processes that a policy lets in (`ingress`) or out to (`egress`), sorted."""
    names = []
    for rule in policy["spec"].get(direction, []):
        for one in rule.get(PEER[direction], []):
            for expression in one.get("podSelector", {}).get("matchExpressions", []):
                names += expression["values"]
    return sorted(names)
