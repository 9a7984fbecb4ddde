"""An account of several persons."""

import secrets
from dataclasses import dataclass

from lib.http.client import Api

ROLES = ["owner", "admin", "member", "viewer"]


@dataclass
class Member:
    """A person with a key of the account that has all scopes of their role."""

    person: str  # its id
    email: str
    api: Api


def add_member(cluster, account, role, email=None):
    """Let a new person, or the one of an address, be a member."""
    email = email or f"{secrets.token_hex(6)}@example.org"
    key = cluster.run("gateway", "add-member", "--account", account, "--email", email, "--role", role).strip()
    api = Api(cluster.gateway_url, key)
    return Member(api.get("/team", expect=200).json()["you"]["person_id"], email, api)


def members(api):
    """{address: role}"""
    return {member["email"]: member["role"] for member in api.get("/team", expect=200).json()["members"]}


def leave(cluster, team, member):
    member.api.delete(f"/team/members/{member.person}", expect=200)


def be_removed(cluster, team, member):
    team.api.delete(f"/team/members/{member.person}", expect=200)


def be_disabled(cluster, team, member):
    cluster.run("gateway", "disable-person", "--email", member.email)


# The ways in which the place of a member in the account of `team`, a user, ends.
ENDS = [leave, be_removed, be_disabled]
