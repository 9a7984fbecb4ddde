"""Messages by e-mail: confirming an address, the form of a mail, ending the mails, and what a mail server's refusals mean."""

import base64
import json
import secrets
import subprocess
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime

import pytest

from lib.http import plain_http
from lib.http.identity import identity
from lib.outside.mail_server import MailServer
from lib.outside.receiver import Receiver, Sender, webhook
from lib.tables import common
from lib.tables import integrations as integrations_tables
from lib.wait import wait_for

WEBHOOKS = "/webhooks"


@pytest.fixture
def server(cluster):
    return cluster.mail_server


@pytest.fixture
def sender(cluster, user):
    return Sender(cluster, user.account)


@pytest.fixture
def address():
    return f"ada-{secrets.token_hex(4)}@example.org"


def make(api, address, **changes):
    return api.post(WEBHOOKS, {"kind": "email", "email": address, "events": ["*"], **changes}, expect=201).json()


def shown(api, endpoint):
    return api.get(f"{WEBHOOKS}/{endpoint['id']}", expect=200).json()


def follow(link, method="GET", expect=200, **options):
    """What a browser gets, which has no key."""
    answer = plain_http.request(method, link, **options)
    assert answer.status_code == expect and answer.headers["content-type"] == "text/html; charset=utf-8", answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"] and answer.headers["referrer-policy"] == "no-referrer"
    return answer.text


@pytest.fixture
def confirmed(api, server, address):
    """An endpoint whose address has agreed; the mail that asked it is gone."""
    made = make(api, address)
    follow(server.wait(address)[0].link("confirm"), "POST")
    server.mails.clear()
    return shown(api, made)


def deliveries(api, endpoint, **filters):
    return api.get(f"{WEBHOOKS}/{endpoint['id']}/deliveries", params=filters, expect=200).json()


def settled(api, endpoint, status):
    """The first delivery of that status, when there is one."""
    return wait_for(lambda: deliveries(api, endpoint, status=status))[0]


# ---- confirming ----


def test_an_address_gets_nothing_before_it_agrees(api, server, sender, address):
    made = make(api, address)
    assert (made["status"], made["email"], made["url"], made["name"]) == ("unconfirmed", address, None, address)
    assert "secret" not in made and made["secret_hint"] is None
    (mail,) = server.wait(address)
    assert mail.has_tls and mail["Subject"] == "[expops] Do you want to get messages?" and not mail.defects
    wait_for(lambda: shown(api, made)["confirmation"]["sent_at"])
    with Receiver() as receiver:  # the message is taken in before the address agrees
        webhook(api, receiver.url)
        sender.send({"n": 1})
        receiver.wait(1)
    page = follow(mail.link("confirm"))
    assert address in page and '<form method="post">' in page and shown(api, made)["status"] == "unconfirmed"
    assert address in follow(mail.link("confirm"), "POST")
    now = shown(api, made)
    assert (now["status"], now["confirmation"]) == ("active", None)
    follow(mail.link("confirm"), "POST")  # once more
    sender.send({"hello": "there"})
    wait_for(lambda: len(server.to(address)) == 2)
    assert settled(api, made, "delivered") and len(deliveries(api, made)) == 1


def test_a_link_ends_after_a_day(api, db, server, address):
    made = make(api, address)
    (mail,) = server.wait(address)
    integrations_tables.age_confirmation(db, made["id"])
    for method in ("GET", "POST"):
        assert "not valid" in follow(mail.link("confirm"), method, 404)
        assert "not valid" in follow(mail.link("confirm")[:-1] + "_", method, 404)
    assert shown(api, made)["status"] == "unconfirmed"
    asked = api.post(f"{WEBHOOKS}/{made['id']}/confirmation", expect=200).json()
    assert asked["confirmation"]["requested_at"] > made["confirmation"]["requested_at"]
    follow(server.wait(address, 2)[1].link("confirm"), "POST")
    assert shown(api, made)["status"] == "active"
    api.problem("POST", f"{WEBHOOKS}/{made['id']}/confirmation", 409, "conflict")


def test_only_a_confirmation_makes_it_active(api, address):
    made = make(api, address)
    for status in ("active", "paused"):
        api.problem("PATCH", f"{WEBHOOKS}/{made['id']}", 409, "conflict", {"status": status})
    api.problem("POST", f"{WEBHOOKS}/{made['id']}/test", 409, "conflict", {})
    assert api.patch(f"{WEBHOOKS}/{made['id']}", {"name": "renamed"}, expect=200).json()["status"] == "unconfirmed"


def test_an_address_is_asked_three_times_a_day_by_whomever(user, other_user, address):
    made = make(user.api, address)
    user.api.post(f"{WEBHOOKS}/{made['id']}/confirmation", expect=200)
    make(user.api, address.upper())
    body = {"kind": "email", "email": address, "events": ["*"]}
    for each in (user, other_user):
        each.api.problem("POST", WEBHOOKS, 409, "conflict", body)
    user.api.delete(f"{WEBHOOKS}/{made['id']}", expect=200)
    user.api.problem("POST", WEBHOOKS, 409, "conflict", body)
    assert other_user.api.get(WEBHOOKS, expect=200).json() == []


def test_a_repeated_request_asks_an_address_once(api, server, address):
    made = make(api, address)
    for _ in range(3):  # more would be 409
        api.post(f"{WEBHOOKS}/{made['id']}/confirmation", headers={"Idempotency-Key": made["id"]}, expect=200)
    api.post(f"{WEBHOOKS}/{made['id']}/confirmation", expect=200)
    server.wait(address, 3)
    api.problem("POST", f"{WEBHOOKS}/{made['id']}/confirmation", 409, "conflict")
    assert len(server.to(address)) == 3


def test_six_at_once_ask_an_address_three_times(user, other_user, server, address):
    body = {"kind": "email", "email": address, "events": ["*"]}
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(each.api.post, WEBHOOKS, body) for each in (user, other_user) * 3]
    assert sorted(one.result().status_code for one in asked) == [201] * 3 + [409] * 3
    assert len(server.wait(address, 3)) == 3


def test_an_account_asks_twenty_times_a_day(user, db, address):
    made = make(user.api, address)
    integrations_tables.add_confirmations(db, user.account, made["id"], 19)
    user.api.problem("POST", WEBHOOKS, 409, "conflict", {"kind": "email", "email": f"b{address}", "events": ["*"]})
    integrations_tables.drop_added_confirmations(db, user.account)


def test_another_address_has_to_agree(api, server, sender, confirmed):
    sender.send({"n": 1})
    (mail,) = server.wait(confirmed["email"])
    other = f"b{confirmed['email']}"
    changed = api.patch(f"{WEBHOOKS}/{confirmed['id']}", {"email": other}, expect=200).json()
    assert (changed["email"], changed["status"]) == (other, "unconfirmed")
    follow(mail.link("unsubscribe"), "POST", 404)  # it is not this address's to end the mails of another
    follow(server.wait(other)[0].link("confirm"), "POST")
    assert shown(api, confirmed)["status"] == "active"


def test_what_waits_goes_out_when_the_address_agrees(api, db, server, sender, confirmed):
    """Also what had failed for now, and came due while nothing was sent."""
    server.replies["RCPT"][confirmed["email"]] = "451 4.7.1 greylisted"
    sender.send({"n": 1})
    wait_for(lambda: [row for row in deliveries(api, confirmed) if row["attempts"]])
    other = f"b{confirmed['email']}"
    api.patch(f"{WEBHOOKS}/{confirmed['id']}", {"email": other}, expect=200)
    integrations_tables.end_waits(db, confirmed["id"])
    wait_for(lambda: integrations_tables.is_asleep(db, confirmed["id"]), "the lanes have looked")
    follow(server.wait(other)[0].link("confirm"), "POST")
    assert len(server.wait(other, 2)) == 2 and settled(api, confirmed, "delivered")


def test_what_was_read_can_be_sent_back(api, confirmed):
    changed = api.patch(f"{WEBHOOKS}/{confirmed['id']}", confirmed, expect=200).json()
    assert changed == {**confirmed, "updated_at": changed["updated_at"]}


def faults(api, method, path, body):
    return {fault["field"] for fault in api.problem(method, path, 400, "invalid_request", body)["errors"]}


@pytest.mark.parametrize("email", ["ada", "@example.org", "ada@", "a b@example.org", "ada@example..org", "ada@-example.org", "ada@example.org\nBcc: x@y.z",
                                   "ada@example.org, x@y.z", "<ada@example.org>", "Ada <ada@example.org>", "ä@example.org", "ada@exämple.org",
                                   '"ada"@example.org', "ada@[127.0.0.1]", "a" * 65 + "@example.org", "ada@" + "a.b" * 90, "ada@x@example.org"])  # fmt: skip
def test_what_is_no_address(api, email):
    assert faults(api, "POST", WEBHOOKS, {"kind": "email", "email": email, "events": ["*"]}) == {"email"}


def test_an_endpoint_has_a_url_or_an_address(api, confirmed):
    url, path = "https://hooks.example.org/", f"{WEBHOOKS}/{confirmed['id']}"
    assert faults(api, "POST", WEBHOOKS, {"kind": "email", "events": ["*"]}) == {"email"}
    assert "url" in faults(api, "POST", WEBHOOKS, {"kind": "email", "email": "a@b.c", "url": url, "events": ["*"]})
    assert "email" in faults(api, "POST", WEBHOOKS, {"kind": "webhook", "email": "a@b.c", "url": url, "events": ["*"]})
    assert faults(api, "PATCH", path, {"url": url}) == {"url"} and faults(api, "PATCH", path, {"email": None}) == {"email"}
    other = webhook(api, url)
    assert faults(api, "PATCH", f"{WEBHOOKS}/{other['id']}", {"url": None}) == {"url"}
    assert faults(api, "PATCH", f"{WEBHOOKS}/{other['id']}", {"email": "a@b.c"}) == {"email"}
    api.problem("POST", f"{path}/rotate-secret", 409, "conflict", {})


# ---- the mail ----


def test_a_mail_has_two_forms_and_the_fields_of_a_list(cluster, api, server, sender, confirmed):
    paper = {"recommendation_id": "019c1d34-77a1-7a0e-8a3e-2f6f4d9d1c66", "title": "A <b>title</b> & more", "url": "https://arxiv.org/abs/2401.00001",
             "relevance_score": 0.8, "reasoning": "because", "authors": ["A. One", "Ü. Two"]}
    bad = {"title": "A trap", "url": "javascript:alert(1)", "relevance_score": 0.1}
    sender.send({"count": 9, "interest_name": "ranking", "top": [paper, bad], "url": "/console/"}, type="recommendations.refreshed")
    (mail,) = server.wait(confirmed["email"])
    (row,) = deliveries(api, confirmed)
    assert mail["Subject"] == "[expops] 9 new papers for ranking" and mail.address("To") == confirmed["email"] and mail.address("From") == "expops@example.org"
    assert mail["Message-ID"] == f"<{row['id']}@127.0.0.1>" and mail["Auto-Submitted"] == "auto-generated"
    assert mail["List-Unsubscribe"] == f"<{mail.link('unsubscribe')}>" and mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert parsedate_to_datetime(mail["Date"]).tzinfo and mail["MIME-Version"] == "1.0" and not mail.defects
    assert mail.message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in mail.message.iter_parts()] == ["text/plain", "text/html"]
    assert all(part["Content-Transfer-Encoding"] == "quoted-printable" for part in mail.message.iter_parts())
    assert all(len(line) <= 998 for line in mail.content.splitlines())
    html = mail.part("text/html")
    assert "A <b>title</b> & more\n" in mail.text.replace("\r\n", "\n") and "high (0.80) · A. One, Ü. Two" in mail.text
    assert "A &lt;b&gt;title&lt;/b&gt; &amp; more" in html and "<b>" not in html and "javascript" not in html and "A trap" in html
    assert "<img" not in html and "and 7 more" in html and "and 7 more" in mail.text
    assert f"{cluster.gateway_url}/console/?recommendation={paper['recommendation_id']}&signal=like" in mail.text


@pytest.mark.parametrize("title", ["x\r\nBcc: eve@example.org", "x\r\n\r\nbody", "x\n.\r\nQUIT\r\n", "=?utf-8?q?=0D=0ABcc:_eve@example.org?=", "ü" * 400,
                                   "\u202ex\x00y".replace("\x00", "\x01"), "a" * 3000], ids=range(7))  # fmt: skip
def test_a_title_stays_in_its_field(api, server, sender, confirmed, title):
    api.patch(f"{WEBHOOKS}/{confirmed['id']}", {"name": title[:100].replace("\r\n", " ").strip()}, expect=200)
    sender.send({"title": title, "repo": "acme/ranker", "url": "/console/"}, type="pull_request.opened")
    (mail,) = server.wait(confirmed["email"])
    assert sorted(mail.message.keys()) == sorted(["Date", "From", "To", "Subject", "Message-ID", "Auto-Submitted", "List-Unsubscribe",
                                                  "List-Unsubscribe-Post", "Mime-Version", "Content-Type"])
    assert not mail.defects and mail["Subject"].startswith("[expops] A pull request was opened on acme/ranker: ")
    assert len(mail["Subject"]) < 250 and all(len(line) <= 998 for line in mail.content.splitlines())
    assert len(server.recipients) == len([each for each in server.recipients if each != "eve@example.org"])


def test_a_test_is_sent_at_once(api, server, confirmed):
    said = api.post(f"{WEBHOOKS}/{confirmed['id']}/test", expect=200).json()
    assert said["delivered"] and said["status"] == 250 and "taken" in said["response"] and said["error"] is None
    (mail,) = server.wait(confirmed["email"])
    assert mail["Subject"] == "[expops] A test message of expops" and deliveries(api, confirmed) == []


# ---- ending the mails ----


@pytest.fixture
def mail(server, sender, confirmed):
    sender.send({"n": 1})
    return server.wait(confirmed["email"])[0]


def test_mail_programs_unsubscribe_by_one_request(api, server, sender, confirmed, mail):
    for _ in range(2):  # the second changes nothing
        follow(mail["List-Unsubscribe"][1:-1], "POST", content=b"List-Unsubscribe=One-Click",
               headers={"Content-Type": "application/x-www-form-urlencoded"})
    now = shown(api, confirmed)
    assert (now["status"], now["disabled_reason"]) == ("disabled", "unsubscribed")
    sender.send({"n": 2})
    path = f"{WEBHOOKS}/{confirmed['id']}"
    for status in ("active", "paused"):
        api.problem("PATCH", path, 409, "conflict", {"status": status})
    api.problem("POST", f"{path}/test", 409, "conflict", {})
    asked = api.post(f"{path}/confirmation", expect=200).json()
    assert asked["status"] == "unconfirmed" and asked["disabled_reason"] is None
    asking = server.wait(confirmed["email"], 2)[1]
    follow(asking.link("confirm"), "POST")
    assert shown(api, confirmed)["status"] == "active" and len(server.to(confirmed["email"])) == 2


def test_following_a_link_ends_nothing(api, confirmed, mail):
    page = follow(mail.link("unsubscribe"))
    assert confirmed["email"] in page and '<form method="post">' in page and shown(api, confirmed)["status"] == "active"
    assert "not valid" in follow(mail.link("unsubscribe")[:-1], "POST", 404) and shown(api, confirmed)["status"] == "active"


def test_whoever_unsubscribes_is_told_to_the_account(cluster, api, user, confirmed, mail):
    follow(mail.link("unsubscribe"), "POST")
    logged = [json.loads(line) for line in cluster["svc-integrations"][0].log().splitlines() if f'"endpoint_id":"{confirmed["id"]}"' in line]
    assert [one["message"] for one in logged] == ["endpoint unsubscribed"], "a restore undoes it"
    item = wait_for(lambda: [item for item in user.api.get("/fleet/agents/inbox", expect=200).json() if item["kind"] == "endpoint_disabled"])[0]
    assert confirmed["email"] in item["title"]


def test_one_that_is_asked_can_say_never(api, server, address):
    made = make(api, address)
    (asking,) = server.wait(address)
    follow(asking.link("unsubscribe"), "POST")
    follow(asking.link("confirm"), "POST", 404)
    assert shown(api, made)["disabled_reason"] == "unsubscribed"


# ---- refusals and limits ----


@pytest.mark.parametrize("stage, reply, status, attempts", [
    ("RCPT", "550 5.1.1 no such mailbox", "failed", 1), ("RCPT", "553 no such name", "failed", 1), ("DATA", "554 5.7.1 spam", "failed", 1),
    ("RCPT", "451 4.7.1 greylisted", "pending", 1), ("DATA", "452 4.3.1 full", "pending", 1)])  # fmt: skip
def test_a_refusal_for_good_is_not_tried_again(api, server, sender, confirmed, stage, reply, status, attempts):
    server.replies[stage][confirmed["email"]] = reply
    sender.send({"n": 1})
    row = wait_for(lambda: [row for row in deliveries(api, confirmed) if row["attempts"]])[0]
    assert (row["status"], row["attempts"], row["last_status"]) == (status, attempts, int(reply[:3]))
    assert (row["next_attempt_at"] is None) == (status == "failed")
    log = api.get(f"{WEBHOOKS}/{confirmed['id']}/deliveries/{row['id']}", expect=200).json()["attempt_log"]
    assert reply in log[0]["response"] and "refuses" in row["last_error"] and shown(api, confirmed)["status"] == "active"


def test_an_address_that_is_refused_on_three_days_is_disabled(api, db, server, sender, confirmed):
    server.replies["RCPT"][confirmed["email"]] = "550 5.1.1 no such mailbox"
    for count in range(1, 4):
        for n in range(2):  # the second of a day does not count
            sender.send({"n": n})
            wait_for(lambda: len(deliveries(api, confirmed, status="failed")) == 2 * count - 1 + n or shown(api, confirmed)["status"] == "disabled")
        assert integrations_tables.refused_days(db, confirmed["id"]) == count and shown(api, confirmed)["status"] == ("active" if count < 3 else "disabled")
        integrations_tables.pass_refused_day(db, confirmed["id"])
    now = shown(api, confirmed)
    assert (now["status"], now["disabled_reason"]) == ("disabled", "the mail server has refused the address on three days")
    assert api.patch(f"{WEBHOOKS}/{confirmed['id']}", {"status": "active"}, expect=200).json()["status"] == "active"
    for n in range(2):  # the first of three days anew
        sender.send({"n": n})
        wait_for(lambda: len(deliveries(api, confirmed, status="failed")) == 6 + n or shown(api, confirmed)["status"] == "disabled")
    assert integrations_tables.refused_days(db, confirmed["id"]) == 1 and shown(api, confirmed)["status"] == "active"


@pytest.mark.parametrize("reply", [
    "554 5.7.1 <ada@example.org>: Relay access denied", "553 5.7.1 Sender address rejected: not owned by user", "550 5.4.5 Daily user sending quota exceeded",
    "550 5.1.8 Bad sender's system address", "554 No SMTP service here", "550-5.7.1 Client host blocked\r\n550 5.7.1 see https://example.org/"])  # fmt: skip
def test_a_server_that_refuses_us_refuses_no_address(cluster, api, db, server, sender, confirmed, reply):
    """Mail servers say to RCPT, too, that they take no mails of us: the message is sent later, and the address has not failed."""
    server.replies["RCPT"][confirmed["email"]] = reply
    sender.send({"n": 1})
    row = wait_for(lambda: [row for row in deliveries(api, confirmed) if row["attempts"]])[0]
    assert (row["status"], row["last_error"]) == ("pending", f"the mail server refuses our log-in or sender: {reply[:3]}")
    assert integrations_tables.refused_days(db, confirmed["id"]) is None
    assert any("the mail server takes no mails" in one.log() for one in cluster["svc-integrations"])
    del server.replies["RCPT"][confirmed["email"]]
    integrations_tables.end_waits(db, confirmed["id"])
    assert settled(api, confirmed, "delivered")


def test_a_refusal_that_names_no_cause_counts_no_day(api, db, server, sender, confirmed):
    """Some servers also say 550 to who may not send through them."""
    server.replies["RCPT"][confirmed["email"]] = "550 relay not permitted"
    sender.send({"n": 1})
    assert settled(api, confirmed, "failed") and integrations_tables.refused_days(db, confirmed["id"]) is None


def test_a_mail_that_may_have_come_is_not_sent_again(api, db, server, sender, confirmed):
    server.lost.add(confirmed["email"])
    sender.send({"n": 1})
    row = settled(api, confirmed, "delivered")
    assert (row["attempts"], row["last_error"]) == (1, "the mail server has the message, perhaps: the connection ended without a reply")
    sender.send({"n": 2})
    wait_for(lambda: len(deliveries(api, confirmed, status="delivered")) == 2)
    assert len(server.to(confirmed["email"])) == 2


def test_days_of_refusals_before_an_address_has_agreed_again_do_not_count(api, db, server, sender, confirmed, mail):
    server.replies["RCPT"][confirmed["email"]] = "550 5.1.1 no such mailbox"
    sender.send({"n": 1})
    wait_for(lambda: integrations_tables.refused_days(db, confirmed["id"]) == 1)
    del server.replies["RCPT"][confirmed["email"]]
    follow(mail.link("unsubscribe"), "POST")
    api.post(f"{WEBHOOKS}/{confirmed['id']}/confirmation", expect=200)
    follow(server.wait(confirmed["email"], 2)[1].link("confirm"), "POST")
    assert integrations_tables.refused_days(db, confirmed["id"]) is None


def test_a_refused_confirmation_is_shown(api, server, address):
    server.replies["RCPT"][address] = "550 5.1.1 no such mailbox"
    made = make(api, address)
    error = wait_for(lambda: shown(api, made)["confirmation"]["error"])
    assert error == "the mail server refuses the address: 550"


def test_an_account_has_a_thousand_mails_a_day(api, db, user, server, sender, confirmed):
    integrations_tables.use_up_mails(db, user.account)
    sender.send({"n": 1})
    row = wait_for(lambda: [row for row in deliveries(api, confirmed) if row["next_attempt_at"] and row["next_attempt_at"].endswith("T00:00:00.000Z")])[0]
    assert row["attempts"] == 0 and server.to(confirmed["email"]) == []
    api.problem("POST", f"{WEBHOOKS}/{confirmed['id']}/test", 409, "conflict", {})


def test_a_mail_server_that_hangs_costs_webhooks_nothing(api, db, user, other_user, server, cluster):
    """Twenty endpoints of an account wait for it, in its four places, while another's webhook gets everything."""
    others = Sender(cluster, other_user.account)
    made = [make(api, f"{secrets.token_hex(6)}@example.net") for _ in range(20)]
    for endpoint in made:
        server.wait(endpoint["email"])
    integrations_tables.confirm_all(db, user.account)
    with server.hold(), Receiver() as receiver:
        webhook(other_user.api, receiver.url)
        Sender(cluster, user.account).send({"n": 1})
        wait_for(lambda: server.held >= 4)
        sent = others.send(*[{"n": number} for number in range(50)])
        receiver.wait(50)
        assert receiver.ids() == sent
    assert server.most_held == 4
    wait_for(lambda: all(deliveries(api, endpoint, status="delivered") for endpoint in made))


# ---- the server's settings ----


def test_a_mail_is_encrypted_unless_the_settings_say_otherwise(cluster, user, confirmed):
    """Made by replicas without jobs, which send tests only."""
    plain = MailServer()
    auth = identity(cluster, "svc-integrations", account=user.account)
    cases = [({"SMTP_URL": plain.url, "SMTP_USER": "", "SMTP_PASSWORD": ""}, False), ({"SMTP_CA_FILE": ""}, False), ({"SMTP_PASSWORD": "wrong"}, False),
             ({"SMTP_URL": plain.url, "SMTP_USER": "", "SMTP_PASSWORD": "", "SMTP_TLS": "opportunistic"}, True),
             ({"SMTP_URL": "smtp://127.0.0.1:9"}, False)]  # fmt: skip
    for number, (changes, is_delivered) in enumerate(cases):
        process = cluster.separate("svc-integrations", f"mail-{number}", ROLES="http", **changes)
        process.start()
        try:
            process.wait_ready()
            said = plain_http.post(f"{process.url}/api/v1.0{WEBHOOKS}/{confirmed['id']}/test", json={}, auth=auth, timeout=60).json()
            assert said["delivered"] is is_delivered, (changes, said)
        finally:
            process.stop()
    assert len(plain.mails) == 1 and not plain.mails[0].has_tls
    plain.close()


def test_without_a_mail_server_there_are_no_endpoints_of_the_kind(cluster, user, confirmed):
    process = cluster.separate("svc-integrations", "no-mail", ROLES="http", SMTP_URL="", SMTP_USER="", SMTP_PASSWORD="")
    auth = identity(cluster, "svc-integrations", account=user.account)
    process.start()
    try:
        process.wait_ready()
        for path, body in ((WEBHOOKS, {"kind": "email", "email": "a@b.c", "events": ["*"]}), (f"{WEBHOOKS}/{confirmed['id']}/confirmation", None)):
            answer = plain_http.post(f"{process.url}/api/v1.0{path}", json=body, auth=auth)
            assert (answer.status_code, answer.json()["error"]) == (409, "provider_not_configured")
    finally:
        process.stop()


@pytest.mark.parametrize("changes, name", [
    ({"SMTP_URL": "http://127.0.0.1:25"}, "SMTP_URL"), ({"SMTP_URL": "smtp://u:p@127.0.0.1"}, "SMTP_URL"), ({"SMTP_FROM": ""}, "SMTP_FROM"),
    ({"SMTP_FROM": "x@y.z\nBcc: a@b.c"}, "SMTP_FROM"), ({"SMTP_TLS": "maybe"}, "SMTP_TLS"), ({"SMTP_TLS": "off"}, "SMTP_TLS"),
    ({"SMTP_PASSWORD": ""}, "SMTP_PASSWORD"), ({"PUBLIC_URL": ""}, "PUBLIC_URL")])  # fmt: skip
def test_a_wrong_setting_is_named_at_the_start(cluster, changes, name):
    settings = cluster.settings("svc-integrations", "command", **changes)
    done = subprocess.run([cluster.binary("svc-integrations"), "reseal"], env=settings, capture_output=True, text=True)
    assert done.returncode != 0 and done.stderr.startswith(f"{name}: "), done.stderr


# ---- what is kept ----


def test_tokens_are_stored_sealed_and_are_in_no_log(cluster, api, db, server, confirmed, mail):
    link = mail.link("unsubscribe")
    follow(link)
    token = link.rpartition("/")[2]
    stored = common.rows_as_text(db, "endpoint", id=confirmed["id"]) + common.rows_as_text(db, "email_confirmation", endpoint_id=confirmed["id"])
    assert token not in stored and token.encode().hex() not in stored
    logs = "".join(cluster.logs().values())
    assert token not in logs and base64.b64encode(token.encode()).decode() not in logs and confirmed["email"] not in logs


def test_secrets_are_sealed_anew(cluster, api, db, server, address):
    made = make(api, address)
    before = integrations_tables.mail_secrets(db, made["id"])
    try:
        cluster.run("svc-integrations", "reseal", SEAL_KEYS=f"{cluster.seal_key('mails')},{cluster.seal_key('test')}")
        after = integrations_tables.mail_secrets(db, made["id"])
        assert all(b"mails" in new and b"mails" not in old for old, new in zip(before, after))
    finally:
        cluster.run("svc-integrations", "reseal", SEAL_KEYS=f"{cluster.seal_key('test')},{cluster.seal_key('mails')}")
