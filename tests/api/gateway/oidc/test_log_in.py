"""Log-in at a strict OpenID provider: who the person is, who is made, linked and refused, and the session."""

import re

import pytest

from lib.http.browser import SAME_ORIGIN, Browser
from lib.http.client import Api
from lib.scenario.log_in import PAGE, LogIn, join_way, log_in, session_of
from lib.scenario.team import add_member, members
from lib.tables import gateway as gateway_tables


def refused(gateway, login, invitation=None):
    """The answer to a log-in at which nothing is made."""
    way = join_way(gateway.url, invitation) if invitation else LogIn(gateway.url).begin()
    answer = way.come_back(way.lead_back(login))
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden"), answer.text
    assert "Set-Cookie" not in answer.headers
    return answer.json()["detail"]


def persons(cluster, email):
    with cluster.postgres.connect("account") as db:
        return gateway_tables.persons(db, email)


# The protocol


def test_the_request_has_pkce_state_and_nonce(gateway, oauth_provider):
    first, second = LogIn(gateway.url).begin(), LogIn(gateway.url).begin()
    asked = first.asked
    assert first.auth_url.startswith(f"{oauth_provider.url}/auth?")
    assert asked["scope"] == "openid email profile"
    assert asked["redirect_uri"] == "http://127.0.0.1:1/api/v1.0/session/oidc/callback"
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    for name in ("state", "nonce", "code_challenge"):
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", asked[name])
        assert asked[name] != second.asked[name]
    assert first.cookie != second.cookie


def test_a_secure_address_has_a_secure_cookie(start_gateway, oauth_provider):
    settings = oauth_provider.login_settings() | {"PUBLIC_URL": "https://expops.example.org/"}
    with start_gateway(**settings) as process:
        answer = LogIn(process.url).start()
    assert re.fullmatch(r"__Host-expops-login=[\w-]{43}; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=600", answer.headers["Set-Cookie"])
    assert "redirect_uri=https%3A%2F%2Fexpops.example.org%2Fapi%2Fv1.0%2Fsession%2Foidc%2Fcallback" in answer.headers["Location"]


def test_a_log_in_makes_a_session(gateway, team, name):
    way = LogIn(gateway.url).begin(return_to="/console/agents?page=2")
    answer = way.come_back(way.lead_back(name))
    browser = session_of(gateway.url, answer)
    assert answer.headers["Location"] == "/console/agents?page=2"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "expops-login=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0" in answer.headers.get_list("Set-Cookie")
    session = browser.call("GET", "/session", expect=200).json()
    assert (session["account"]["id"], session["role"]) == (team.account, "viewer")
    assert "interests:read" in session["scopes"] and "interests:write" not in session["scopes"]
    browser.call("GET", "/interests", expect=200)
    browser.call("POST", "/interests", {"name": "a", "context": "b"}, expect=403)
    assert browser.call("GET", "/team", expect=200).json()["you"]["name"] == name


def test_what_the_provider_adds_is_ignored(gateway, name):
    way = LogIn(gateway.url).begin()
    params = way.lead_back(name) | {"session_state": "a.b", "authuser": "0", "hd": "example.org"}
    session_of(gateway.url, way.come_back(params))


def test_ways_to_log_in(gateway, cluster):
    assert LogIn(gateway.url).get("/session/login").json() == {"methods": ["key", "oidc"], "oidc_name": "Example SSO"}
    assert LogIn(cluster.gateway_url).get("/session/login").json() == {"methods": ["key"], "oidc_name": None}


def test_without_a_provider_there_is_no_way(cluster):
    way = LogIn(cluster.gateway_url)
    for answer in (way.start(), way.come_back({"state": "a"})):
        assert (answer.status_code, answer.json()["error"]) == (404, "not_configured")


# Who it is


def test_the_second_log_in_is_of_the_same_person(gateway, name):
    first, second = log_in(gateway.url, name), log_in(gateway.url, name)
    assert first.token != second.token
    assert first.call("GET", "/session").json()["person"] == second.call("GET", "/session").json()["person"]
    assert len(second.call("GET", "/sessions").json()) == 2


def test_the_subject_decides_and_not_the_address(gateway, cluster, name):
    log_in(gateway.url, name)
    assert "settings" in refused(gateway, f"{name}-2,{name}@example.org")
    assert persons(cluster, f"{name}@example.org") == 1


def test_a_person_with_a_verified_address_is_linked(closed_gateway, cluster, user):
    name = user.email.partition("@")[0]
    browser = log_in(closed_gateway.url, f"{name},{user.email.upper()}")
    session = browser.call("GET", "/session").json()
    assert (session["account"]["id"], session["role"]) == (user.account, "owner")
    assert "team:write" in session["scopes"] and "service:any_user" not in session["scopes"]
    assert persons(cluster, user.email) == 1


def test_an_unverified_address_links_nobody(closed_gateway, user, name):
    assert "does not say" in refused(closed_gateway, f"{name},{user.email},unverified")


def test_an_unverified_address_makes_nobody(gateway, cluster, name):
    refused(gateway, f"{name},{name}@example.org,unverified")
    assert persons(cluster, f"{name}@example.org") == 0


def test_a_directory_may_be_trusted(start_gateway, oauth_provider, user, name):
    with start_gateway(**oauth_provider.login_settings(), OIDC_TRUST_EMAIL="true") as process:
        browser = log_in(process.url, f"{name},{user.email},unverified")
    assert browser.token


def test_nobody_is_linked_to_a_squatter(closed_gateway, cluster, name):
    """Who has told an address that they have not proved must not get a colleague's identity."""
    user = cluster.user()
    with cluster.postgres.connect("account") as db:
        gateway_tables.forget_proof(db, user.email)
    assert "settings" in refused(closed_gateway, f"{name},{user.email}")


def test_an_operator_is_not_linked_by_the_address(closed_gateway, operator, name):
    assert "operator" in refused(closed_gateway, f"{name},{operator.email}")


def test_an_address_that_is_not_ascii_links_nobody(closed_gateway, cluster, name):
    """lower() makes k of the sign of kelvin: another mailbox."""
    cluster.create_user(email=f"k{name}@example.org")
    assert "does not say" in refused(closed_gateway, f"{name},\u212a{name}@example.org")


def test_who_becomes_an_operator_later_is_none_by_the_address(closed_gateway, cluster, user, name):
    log_in(closed_gateway.url, f"{name},{user.email}")
    key = cluster.create_user(operator=True, email=user.email)
    session = log_in(closed_gateway.url, f"{name},{user.email}").call("GET", "/session").json()
    assert session["account"]["id"] == user.account and "service:any_user" not in session["scopes"]
    assert add(closed_gateway, key, f"{name},{user.email}").status_code == 303
    assert "service:any_user" in log_in(closed_gateway.url, f"{name},{user.email}").call("GET", "/session").json()["scopes"]


def test_what_an_invitation_says_comes_before_the_role_of_all(gateway, team, name):
    team.api.post("/team/invitations", {"email": f"{name}@example.org", "role": "member"}, expect=201)
    session = log_in(gateway.url, name).call("GET", "/session").json()
    assert (session["account"]["id"], session["role"]) == (team.account, "member")
    assert f"{name}@example.org" not in {one["email"] for one in team.api.get("/team").json()["invitations"]}


def test_another_domain_makes_nobody(gateway, cluster, name):
    for domain in ("evil.example", "example.org.evil.example", "sub.example.org"):
        assert "invited" in refused(gateway, f"{name},{name}@{domain}")
        assert persons(cluster, f"{name}@{domain}") == 0


def test_who_is_not_invited_is_refused(closed_gateway, cluster, name):
    assert "ask for an invitation" in refused(closed_gateway, name)
    assert persons(cluster, f"{name}@example.org") == 0


def invite(api, email, role="member"):
    return api.post("/team/invitations", {"email": email, "role": role}, expect=201).json()


def open_invitations(api):
    return [one["id"] for one in api.get("/team", expect=200).json()["invitations"]]


def test_an_invitation_is_accepted_by_the_verified_address(closed_gateway, user, name):
    email = f"{name}@example.org"
    invitation = invite(user.api, email.upper())
    refused(closed_gateway, f"{name}-x,{email},unverified", invitation)
    assert "invited" in refused(closed_gateway, f"{name}-y,other-{email}", invitation)
    session = log_in(closed_gateway.url, name, invitation).call("GET", "/session").json()
    assert (session["account"]["id"], session["role"]) == (user.account, "member")
    assert members(user.api)[email] == "member"
    assert open_invitations(user.api) == []


def test_an_invitation_that_nobody_followed_takes_nobody(closed_gateway, cluster, user, other_user, name):
    """Anybody may invite an address: its person decides whether they come."""
    email = f"{name}@example.org"
    unwanted, wanted = invite(other_user.api, email), invite(user.api, email)
    assert "open the link" in refused(closed_gateway, name)
    assert persons(cluster, email) == 0
    browser = log_in(closed_gateway.url, name, wanted)
    assert [one["id"] for one in browser.call("GET", "/accounts").json()] == [user.account]
    assert email not in members(other_user.api) and open_invitations(other_user.api) == [unwanted["id"]]
    token = unwanted["url"].partition("#")[2]
    browser.call("POST", "/team/invitations/accept", {"token": token}, expect=200)
    assert members(other_user.api)[email] == "member"


def test_a_new_person_of_the_provider_takes_no_invitation_unasked(gateway, team, other_user, name):
    invite(other_user.api, f"{name}@example.org", "admin")
    browser = log_in(gateway.url, name)
    assert [one["id"] for one in browser.call("GET", "/accounts").json()] == [team.account]
    assert len(open_invitations(other_user.api)) == 1


def test_a_member_of_another_account_accepts_by_the_log_in(closed_gateway, user, other_user):
    name = other_user.email.partition("@")[0]
    browser = log_in(closed_gateway.url, f"{name},{other_user.email}", invite(user.api, other_user.email))
    assert {one["id"] for one in browser.call("GET", "/accounts").json()} == {user.account, other_user.account}


def test_a_log_in_has_all_its_accounts_locked_before_its_session(closed_gateway, cluster, user, other_user, name):
    """In the order of their ids: two log-ins would wait for each other, each with the account of the other's session."""
    log_in(closed_gateway.url, name, invite(other_user.api, f"{name}@example.org"))
    token = invite(user.api, f"{name}@example.org")["url"].partition("#")[2]
    with cluster.postgres.connect("account") as db, cluster.postgres.connect("account") as other:
        with db.transaction():
            assert gateway_tables.begin_log_in(db, f"{name}@example.org", token) == "known"
            assert [gateway_tables.is_locked(other, one.account) for one in (user, other_user)] == [True, True]


def test_a_log_in_with_the_invitation_of_another_leaves_it_open(closed_gateway, user, other_user):
    invitation = invite(user.api, "somebody@example.org")
    name = other_user.email.partition("@")[0]
    browser = log_in(closed_gateway.url, f"{name},{other_user.email}", invitation)
    assert [one["id"] for one in browser.call("GET", "/accounts").json()] == [other_user.account]
    assert open_invitations(user.api) == [invitation["id"]]


def test_a_page_of_another_site_accepts_nothing(closed_gateway, user, name):
    """It would lead a person who is logged in at the provider into an account without a question."""
    token = invite(user.api, f"{name}@example.org")["url"].partition("#")[2]
    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"}):
        answer = LogIn(closed_gateway.url).start(headers, invitation=token)
        assert (answer.status_code, answer.json()["error"]) == (403, "cross_site")
        assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("params", [{"invitation": "a b"}, {"invitation": "A" * 42}, {"invitation": "A" * 43, "link": "true"}])
def test_what_is_no_invitation_is_named(closed_gateway, params):
    answer = LogIn(closed_gateway.url).start(SAME_ORIGIN, **params)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "invitation")


def test_a_removed_member_is_refused_until_invited_again(gateway, team, name):
    browser = log_in(gateway.url, name)
    person = browser.call("GET", "/session").json()["person"]
    team.api.delete(f"/team/members/{person}", expect=200)
    assert browser.call("GET", "/session").status_code == 401
    assert "member of no account" in refused(gateway, name)
    invitation = invite(team.api, f"{name}@example.org")
    assert "member of no account" in refused(gateway, name)
    again = log_in(gateway.url, name, invitation).call("GET", "/session").json()
    assert (again["person"], again["role"]) == (person, "member")
    assert browser.call("GET", "/session").status_code == 401


@pytest.mark.parametrize("login", ["{name}", "{name}-2,{name}@example.org"])
def test_a_removed_member_who_deletes_their_account_is_not_let_in_anew(gateway, cluster, team, name, login):
    email = f"{name}@example.org"
    own = Api(cluster.gateway_url, cluster.create_user(email=email))
    add_member(cluster, team.account, "viewer", email)
    person = log_in(gateway.url, name).call("GET", "/session").json()["person"]
    team.api.delete(f"/team/members/{person}", expect=200)
    own.post("/account/delete", {"confirm": True}, expect=200)
    assert persons(cluster, email) == 0
    again = login.format(name=name)
    assert "invited" in refused(gateway, again)
    assert email not in members(team.api)
    invitation = invite(team.api, email)
    assert log_in(gateway.url, again, invitation).call("GET", "/session").json()["role"] == "member"


def test_who_deletes_their_account_and_was_removed_from_none_joins(gateway, cluster, team, name):
    own = Api(cluster.gateway_url, cluster.create_user(email=f"{name}@example.org"))
    own.post("/account/delete", {"confirm": True}, expect=200)
    assert log_in(gateway.url, name).call("GET", "/session").json()["account"]["id"] == team.account


def test_a_disabled_person_is_refused_at_once(gateway, cluster, name):
    browser = log_in(gateway.url, name)
    cluster.run("gateway", "disable-person", "--email", f"{name}@example.org")
    assert browser.call("GET", "/session").status_code == 401
    assert "may not" in refused(gateway, name)
    cluster.run("gateway", "disable-person", "--email", f"{name}@example.org", "--undo")
    log_in(gateway.url, name)


# The audit log


def entries(api, action):
    return api.get(f"/account/audit?action={action}", expect=200).json()


def test_a_log_in_is_in_the_audit_log(closed_gateway, user, name):
    """All that it changes is the person's, from their browser."""
    email = f"{name}@example.org"
    way = join_way(closed_gateway.url, invite(user.api, email))
    session_of(closed_gateway.url, way.come_back(way.lead_back(name), headers={"User-Agent": "tester/1.0"}))
    (person,) = {member["person_id"] for member in user.api.get("/team").json()["members"] if member["email"] == email}
    for action in ("session.created", "invitation.accepted", "member.added"):
        entry = entries(user.api, action)[0]
        assert (entry["actor"]["kind"], entry["actor"]["email"]) == ("person", email), action
        assert (entry["ip"], entry["user_agent"], entry["outcome"]) == ("127.0.0.1", "tester/1.0", "done"), action
    assert entries(user.api, "session.created")[0]["actor"]["person_id"] == person


def test_an_identity_that_is_linked_is_in_the_audit_log(closed_gateway, oauth_provider, user):
    name = user.email.partition("@")[0]
    log_in(closed_gateway.url, f"{name},{user.email}")
    (entry,) = entries(user.api, "identity.linked")
    assert (entry["actor"]["email"], entry["target"]["name"]) == (user.email, user.email)
    assert entry["detail"]["changed"] == [{"field": "issuer", "from": None, "to": oauth_provider.url}]
    log_in(closed_gateway.url, f"{name},{user.email}")
    assert len(entries(user.api, "identity.linked")) == 1 and len(entries(user.api, "session.created")) == 2


def test_a_refused_log_in_is_in_the_audit_log(closed_gateway, cluster, user):
    name = user.email.partition("@")[0]
    other = cluster.user()
    add_member(cluster, user.account, "admin", other.email)
    log_in(closed_gateway.url, f"{name},{user.email}")
    cluster.run("gateway", "disable-person", "--email", user.email)
    refused(closed_gateway, f"{name},{user.email}")
    browser = Browser(closed_gateway.url, other.key)
    browser.call("POST", "/session/switch", {"account_id": user.account}, expect=200)
    (entry,) = browser.call("GET", "/account/audit?action=session.refused", expect=200).json()
    assert (entry["outcome"], entry["detail"]["reason"], entry["actor"]["email"]) == ("refused", "disabled", user.email)


# The session


def test_nobody_sees_the_key_of_a_log_in(gateway, team, name):
    browser = log_in(gateway.url, name)
    assert browser.call("GET", "/account/api-keys").json()["keys"] == []
    assert name not in team.api.get("/account/api-keys").text
    assert team.api.get("/account/api-keys").json()["keys"]


def test_a_session_makes_keys_within_the_role(gateway, name):
    browser = log_in(gateway.url, name)
    made = browser.call("POST", "/account/api-keys", {"name": "mine", "scopes": ["interests:read"]}, expect=201).json()
    assert made["person"]["name"] == name
    browser.call("POST", "/account/api-keys", {"name": "more", "scopes": ["interests:write"]}, expect=403)


def test_a_session_outlives_the_place_in_another_account(gateway, cluster, team, name):
    browser = log_in(gateway.url, name)
    person = browser.call("GET", "/session").json()["person"]
    other = cluster.user()
    add_member(cluster, other.account, "member", f"{name}@example.org")
    shown = browser.call("POST", "/session/switch", {"account_id": other.account}, expect=200).json()
    assert (shown["account"]["id"], shown["role"]) == (other.account, "member")
    team.api.delete(f"/team/members/{person}", expect=200)
    assert browser.call("GET", "/session", expect=200).json()["account"]["id"] == other.account
    assert log_in(gateway.url, name).call("GET", "/session").json()["account"]["id"] == other.account


def test_the_oldest_of_21_sessions_ends(gateway, cluster, name):
    key = cluster.create_user(email=f"{name}@example.org")
    by_key = Browser(gateway.url, key)
    first = log_in(gateway.url, name)
    for _ in range(19):
        Browser(gateway.url, key)
    assert by_key.call("GET", "/session").status_code == 401
    assert first.call("GET", "/session").status_code == 200


# Adding a way to log in


def cookie_of(browser):
    return {"Cookie": f"expops={browser.token}", "Sec-Fetch-Site": "same-origin"}


def add(gateway, key, login):
    """The answer when a session of a key adds a way to log in."""
    way = LogIn(gateway.url).begin(cookie_of(Browser(gateway.url, key)), link="true")
    return way.come_back(way.lead_back(login))


def test_a_session_of_less_adds_nothing(gateway, user):
    """A key that was given away to read must not become a log-in that may do all."""
    key = user.api.post("/account/api-keys", {"name": "reader", "preset": "read_only"}, expect=201).json()["key"]
    answer = LogIn(gateway.url).start(cookie_of(Browser(gateway.url, key)), link="true")
    assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")


def test_a_session_that_has_ended_adds_nothing(closed_gateway, user, name):
    browser = Browser(closed_gateway.url, user.key)
    way = LogIn(closed_gateway.url).begin(cookie_of(browser), link="true")
    browser.call("DELETE", "/session", expect=200)
    assert way.come_back(way.lead_back(name)).status_code == 401
    refused(closed_gateway, name)


def test_an_operator_adds_the_way_to_log_in(gateway, operator, name):
    way = LogIn(gateway.url).begin(cookie_of(Browser(gateway.url, operator.key)), link="true", return_to="/console/settings")
    answer = way.come_back(way.lead_back(name))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/console/settings")
    assert not any(value.startswith("expops=") for value in answer.headers.get_list("Set-Cookie"))
    session = log_in(gateway.url, name).call("GET", "/session").json()
    assert session["account"]["id"] == operator.account
    assert {"service:any_user", "assets:write"} <= set(session["scopes"])


def test_a_page_of_another_site_adds_nothing(gateway, operator):
    browser = Browser(gateway.url, operator.key)
    for site in ("cross-site", "same-site", "none"):
        answer = LogIn(gateway.url).start({"Cookie": f"expops={browser.token}", "Sec-Fetch-Site": site}, link="true")
        assert (answer.status_code, answer.json()["error"]) == (403, "cross_site")
    assert LogIn(gateway.url).start({"Sec-Fetch-Site": "same-origin"}, link="true").status_code == 401


def test_an_identity_is_one_persons(gateway, user, other_user, name):
    assert add(gateway, user.key, name).status_code == 303
    assert add(gateway, user.key, name).status_code == 303
    for key, login in ((other_user.key, name), (user.key, f"{name}-2")):
        answer = add(gateway, key, login)
        assert (answer.status_code, answer.json()["error"]) == (409, "conflict")


# Settings


def test_only_an_operator_logs_in_with_a_key(start_gateway, oauth_provider, user, operator):
    with start_gateway(**oauth_provider.login_settings(), SESSION_KEY_LOGIN="false") as process:
        assert LogIn(process.url).get("/session/login").json()["methods"] == ["oidc"]
        answer = Browser(process.url).call("POST", "/session", {"key": user.key})
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")
        assert Browser(process.url, operator.key).call("GET", "/session").status_code == 200


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("OIDC_ISSUER", "http://sso.example.org"),
        ("OIDC_ISSUER", "http://127.0.0.1.example.org"),
        ("OIDC_ISSUER", "https://sso.example.org?a=b"),
        ("OIDC_ISSUER", "https://user@sso.example.org"),
        ("OIDC_CLIENT_ID", ""),
        ("OIDC_CLIENT_SECRET", ""),
        ("OIDC_SCOPES", "email profile"),
        ("OIDC_DOMAINS", "a@example.org"),
        ("OIDC_JOIN", "acme:viewer"),
        ("OIDC_JOIN", "019b8d2b-8c00-726b-b2a7-4de452e6b438:king"),
        ("PUBLIC_URL", ""),
        ("PUBLIC_URL", "http://expops.example.org"),
    ],
)
def test_a_wrong_setting_is_refused_at_the_start(cluster, oauth_provider, setting, value):
    settings = oauth_provider.login_settings() | {setting: value}
    with pytest.raises(RuntimeError, match=f"(?m)^{setting}: must be "):
        cluster.run("gateway", "--show-config", **settings)


def test_keys_alone_cannot_be_switched_off(cluster):
    with pytest.raises(RuntimeError, match="(?m)^SESSION_KEY_LOGIN: "):
        cluster.run("gateway", "--show-config", SESSION_KEY_LOGIN="false")


# Pages


def test_a_failure_is_a_page_for_a_browser(gateway):
    answer = LogIn(gateway.url).come_back({"state": "<script>alert(1)</script>"}, headers=PAGE, checked=False)
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "text/html; charset=utf-8")
    assert "begin again" in answer.text and "<script" not in answer.text
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["X-Request-Id"] in answer.text
