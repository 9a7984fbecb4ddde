"""Invitations by mail: what is sent and what is not, and that nobody but the one who is invited learns the link."""

import re
import secrets

import pytest

from lib.http import plain_http
from lib.http.browser import Browser
from lib.http.identity import identity
from lib.scenario.team import members
from lib.tables import common
from lib.tables import gateway as gateway_tables
from lib.wait import wait_for

LINK = re.compile(r"https?://\S+/console/join#(\S+)")
ASK = "/internal/invitations/mail"


@pytest.fixture
def team(cluster):
    return cluster.user()


@pytest.fixture
def server(cluster):
    return cluster.mail_server


@pytest.fixture
def address():
    return f"guest-{secrets.token_hex(4)}@example.org"


def invite(api, email, role="member"):
    return api.post("/team/invitations", {"email": email, "role": role}, expect=201).json()


def token_of(text):
    (token,) = LINK.findall(text)
    return token


def mail_of(api, invitation):
    (mail,) = {one["mail"] for one in api.get("/team", expect=200).json()["invitations"] if one["id"] == invitation["id"]}
    return mail


def ask(cluster, account, invitation, caller="svc-integrations"):
    """What the gateway answers to a service that asks for the link."""
    auth = identity(cluster, "gateway", "service", sender=caller, account=account)
    return plain_http.post(cluster.gateway_url + ASK, json={"invitation_id": invitation["id"]}, auth=auth)


def test_the_mail_has_the_link_of_the_answer(cluster, team, server):
    invited = cluster.user()
    invitation = invite(team.api, invited.email)
    assert invitation["mail"] == "queued"
    (mail,) = server.wait(invited.email)
    assert mail["Subject"] == "[expops] You are invited" and not mail.defects and mail["List-Unsubscribe"] is None
    assert team.email in mail.text and token_of(mail.text) == invitation["url"].partition("#")[2]
    assert invitation["url"].partition("#")[2] in mail.part("text/html")
    wait_for(lambda: mail_of(team.api, invitation) == "sent")
    Browser(cluster.gateway_url, invited.key).call("POST", "/team/invitations/accept", {"token": token_of(mail.text)}, expect=200)
    assert members(team.api)[invited.email] == "member"


def test_an_invitation_that_was_withdrawn_is_not_mailed(cluster, team, server, address):
    with server.hold():
        other = invite(team.api, f"first-{address}")
        wait_for(lambda: server.held)
        cluster.kill9("svc-integrations")
    team.api.delete(f"/team/invitations/{other['id']}", expect=200)
    invitation = invite(team.api, address)
    assert invitation["mail"] == "queued"
    cluster.restart("svc-integrations")
    cluster.wait_ready("svc-integrations")
    server.wait(address)
    with cluster.postgres.connect("integrations") as db:
        wait_for(lambda: common.tasks(db, "mail_invitation", invitation_id=other["id"])[0].status == "completed")
    assert server.to(f"first-{address}") == []


def test_a_mail_survives_the_death_of_its_sender(cluster, team, server, address):
    with server.hold():
        invitation = invite(team.api, address)
        wait_for(lambda: server.held)
        cluster.kill9("svc-integrations")
    assert mail_of(team.api, invitation) == "queued"
    cluster.restart("svc-integrations")
    cluster.wait_ready("svc-integrations")
    assert {token_of(mail.text) for mail in server.wait(address)} == {invitation["url"].partition("#")[2]}
    wait_for(lambda: mail_of(team.api, invitation) == "sent")


def test_a_repeated_request_is_one_mail(team, server, address):
    body, once = {"email": address, "role": "viewer"}, {"Idempotency-Key": secrets.token_hex(8)}
    first, second = (team.api.post("/team/invitations", body, expect=201, headers=once).json() for _ in range(2))
    assert first == second
    wait_for(lambda: mail_of(team.api, first) == "sent")
    assert len(server.to(address)) == 1


def test_what_the_mail_server_refuses_has_failed(team, server, address):
    server.replies["RCPT"][address] = "550 no such mailbox"
    invitation = invite(team.api, address)
    wait_for(lambda: mail_of(team.api, invitation) == "failed")


def test_a_mail_waits_while_the_mail_server_refuses_us(team, server, address):
    server.replies["RCPT"][address] = "554 5.7.1 Relay access denied"
    invitation = invite(team.api, address)
    wait_for(lambda: server.recipients.count(address) >= 2)
    assert mail_of(team.api, invitation) == "queued"
    del server.replies["RCPT"][address]
    wait_for(lambda: mail_of(team.api, invitation) == "sent")


def test_a_mail_that_may_have_come_is_not_sent_again(team, server, address):
    server.lost.add(address)
    invitation = invite(team.api, address)
    wait_for(lambda: mail_of(team.api, invitation) == "sent")
    assert len(server.to(address)) == 1


def test_an_address_that_no_mail_can_have_has_failed(team, server):
    invitation = invite(team.api, "guest>,<other@example.org")
    wait_for(lambda: mail_of(team.api, invitation) == "failed")
    assert not [address for address in server.recipients if "<" in address or "other@example.org" in address]


def test_a_mail_that_was_not_sent_is_not_counted(team, server, address):
    server.replies["RCPT"][address] = "550 no such mailbox"
    for _ in range(4):
        refused = invite(team.api, address)
        wait_for(lambda: mail_of(team.api, refused) == "failed")
    del server.replies["RCPT"][address]
    invite(team.api, address)
    server.wait(address)


def test_an_address_gets_three_mails_a_day(team, server, address):
    for count in range(1, 4):
        invite(team.api, address)
        server.wait(address, count)
        wait_for(lambda: {one["mail"] for one in team.api.get("/team").json()["invitations"]} == {"sent"})
    fourth = invite(team.api, address)
    wait_for(lambda: mail_of(team.api, fourth) == "limited")
    assert len(server.to(address)) == 3


def test_an_account_sends_50_a_day(team):
    for number in range(50):
        made = invite(team.api, f"somebody.{number}@example.org")
        assert made["mail"] == "queued"
        team.api.delete(f"/team/invitations/{made['id']}", expect=200)
    assert invite(team.api, "one.more@example.org")["mail"] == "limited"


def test_a_person_sends_50_a_day_in_whichever_accounts(cluster, team):
    """An account can be founded and deleted at will."""
    browser = Browser(cluster.gateway_url, team.key)

    def invite_from_a_new_account(count):
        made = browser.call("POST", "/accounts", {"name": "for a day"}, expect=201).json()["id"]
        browser.call("POST", "/session/switch", {"account_id": made}, expect=200)
        mails = [browser.call("POST", "/team/invitations", {"email": f"somebody.{n}@example.org", "role": "viewer"}, expect=201).json()["mail"]
                 for n in range(count)]
        browser.call("POST", "/account/delete", {"confirm": True}, expect=200)
        browser.log_in(team.key)
        return mails

    assert invite_from_a_new_account(30) + invite_from_a_new_account(21) == ["queued"] * 50 + ["limited"]
    automation = team.api.post("/account/api-keys", {"name": "agent", "kind": "automation", "scopes": ["team:write"]}, expect=201).json()
    assert invite(team.api.as_key(automation["key"]), "one.more@example.org")["mail"] == "limited"
    with cluster.postgres.connect("account") as db:
        gateway_tables.age_invitation_mails(db, "1 day")
    assert invite(team.api, "another@example.org")["mail"] == "queued"


def test_a_mail_of_which_nothing_is_heard_has_failed(cluster, team, server, address):
    """A release that reads no such event may have had it."""
    with server.hold():
        invitation = invite(team.api, address)
        for age, mail in (("24 hours", "queued"), ("26 hours", "failed")):
            with cluster.postgres.connect("account") as db:
                gateway_tables.age_invitation(db, invitation["id"], age)
            assert mail_of(team.api, invitation) == mail


@pytest.mark.parametrize("name,is_shown", [("Acme Inc.", True), ("win at evil.example", False), ("https://evil", False)])
def test_a_name_that_looks_like_an_address_is_not_in_the_mail(team, server, address, name, is_shown):
    team.api.patch("/team", {"name": name}, expect=200)
    invite(team.api, address)
    (mail,) = server.wait(address)
    assert (name in mail.text) == is_shown


def test_nobody_else_learns_the_link(cluster, team, server, address):
    with server.hold():
        invitation = invite(team.api, address)
        wait_for(lambda: server.held)
        assert ask(cluster, team.account, invitation).json()["path"].partition("#")[2] == invitation["url"].partition("#")[2]
        assert ask(cluster, cluster.user().account, invitation).json() == {}
        for service in ("svc-fleet", "svc-interests"):
            assert ask(cluster, team.account, invitation, service).status_code in (403, 404)
    server.wait(address)
    wait_for(lambda: mail_of(team.api, invitation) == "sent")
    assert ask(cluster, team.account, invitation).json() == {}
    token = invitation["url"].partition("#")[2]
    assert all(token not in text for text in cluster.logs().values())
    for schema, tables in (("account", ("invitation", "outbox")), ("integrations", ("task", "outbox"))):
        with cluster.postgres.connect(schema) as db:
            assert all(token not in common.rows_as_text(db, table, account_id=team.account) for table in tables)


def test_without_a_mail_server_the_answer_says_so(cluster, team, address):
    cluster.stop("svc-integrations")
    try:
        unknown = invite(team.api, address)
        assert unknown["mail"] == "queued"
        process = cluster.separate("svc-integrations", "mailless", SMTP_URL="", SMTP_USER="", SMTP_PASSWORD="")
        process.start()
        try:
            wait_for(lambda: mail_of(team.api, unknown) == "none")
        finally:
            process.stop()
    finally:
        cluster.recover()
