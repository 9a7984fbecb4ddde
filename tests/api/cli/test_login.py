"""Addresses and keys: `login`, `logout`, `whoami`, profiles, and which of them is used."""

import json
import os
import signal
import ssl
import stat

import pytest

from lib.http.keys import new_key
from lib.outside.certificate import make_certificate
from lib.outside.stub_server import StubServer
from lib.system.command_line import FAILED, NOT_ALLOWED, NOT_FOUND, USAGE

KEYS = json.dumps({"keys": [], "scopes": [], "presets": []})


def config(home):
    return home / ".config" / "expops" / "config.json"


def test_login_asks_and_shows_no_key(bare, home, cluster, user):
    with bare.terminal("login") as terminal:
        terminal.expect("Address [http://127.0.0.1:8080]: ")
        terminal.type(cluster.gateway_url + "/\n")
        terminal.expect("Key: ")
        terminal.type(user.key + "\n")
        assert terminal.wait() == 0, terminal.output
    assert user.key not in terminal.output and "logged in to " + cluster.gateway_url in terminal.output
    assert stat.S_IMODE(config(home).stat().st_mode) == 0o600
    assert stat.S_IMODE(config(home).parent.stat().st_mode) == 0o700
    assert json.loads(config(home).read_text())["profiles"] == {"default": {"url": cluster.gateway_url, "key": user.key}}
    assert "interests:write" in bare.run("whoami").stdout


@pytest.mark.parametrize("end, status", [("\x04", USAGE), ("\x03", 128 + signal.SIGINT), ("\x1c", 128 + signal.SIGQUIT),
                                         (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP)])  # fmt: skip
def test_the_terminal_shows_what_is_typed_after_the_key(bare, end, status):
    with bare.terminal("login", "--url", "http://127.0.0.1:1") as terminal:
        terminal.expect("Key: ")
        assert not terminal.is_echoing()
        if isinstance(end, str):
            terminal.type(end)
        else:
            os.kill(terminal.pid, end)
        assert terminal.wait() == status, terminal.output
        assert terminal.is_echoing()


def test_login_in_a_pipe(bare, cluster, user):
    done = bare.run("login", "--url", cluster.gateway_url, input=user.key + "\n")
    assert done.stdout == "" and user.key not in done.stderr
    shown = json.loads(bare.run("whoami", "-o", "json").stdout)
    assert (shown["url"], shown["profile"], shown["prefix"]) == (cluster.gateway_url, "default", user.key[:12])
    assert shown["key"]["kind"] == "personal"
    assert "--url" in bare.run("login", input=user.key, status=USAGE, HOME=str(bare.home / "other")).stderr


def test_a_wrong_key_is_not_stored(bare, home, cluster, user):
    bare.run("login", "--url", cluster.gateway_url, input=user.key)
    before = config(home).read_text()
    for key in (new_key(), "usr_short", ""):
        bare.run("login", "--url", cluster.gateway_url, input=key + "\n", status=NOT_ALLOWED)
    assert "no key has" in bare.run("login", "--url", cluster.gateway_url, input="usr_\x01\n", status=USAGE).stderr
    assert config(home).read_text() == before


@pytest.mark.parametrize("url, status", [("ftp://example.org", USAGE), ("example.org", USAGE), ("http://127.0.0.1:1", FAILED),
                                         ("http://nobody.invalid", FAILED)])  # fmt: skip
def test_a_wrong_address(bare, home, url, status):
    done = bare.run("login", "--url", url, input=new_key(), status=status)
    assert url in done.stderr and not config(home).exists()


def test_a_server_that_is_not_expops(bare, home):
    server = StubServer(lambda request: request.reply(200, "<html>welcome</html>", Content_Type="text/html"))
    try:
        done = bare.run("login", "--url", server.url, input=new_key(), status=FAILED)
    finally:
        server.close()
    assert "not as expops does" in done.stderr and not config(home).exists()


def test_a_profile_whose_name_is_no_text_is_not_stored(bare, home, cluster, user):
    for change in ({"EXPOPS_PROFILE": "b\udce4se"}, {}):
        words = () if change else ("--profile", "b\udce4se")
        done = bare.run("login", "--url", cluster.gateway_url, *words, input=user.key, status=USAGE, **change)
        assert "the name of the profile is not UTF-8" in done.stderr
    assert not config(home).exists()


def test_without_anything(bare):
    assert "expops login" in bare.run("whoami", status=NOT_ALLOWED).stderr
    bare.run("logout", status=NOT_FOUND)
    assert bare.run("profiles").stdout == ""


def test_a_broken_file_is_named(bare, home):
    config(home).parent.mkdir(parents=True)
    config(home).write_text('{"profiles": ')
    assert str(config(home)) in bare.run("whoami", status=FAILED).stderr


def test_several_profiles(bare, cluster, user, other_user):
    bare.run("login", "--url", cluster.gateway_url, input=user.key)
    bare.run("login", "--profile", "work", "--url", cluster.gateway_url, input=other_user.key)

    def prefix(*args, **changes):
        return json.loads(bare.run("whoami", "-o", "json", *args, **changes).stdout)["prefix"]

    assert prefix() == other_user.key[:12]  # the newest is the default
    assert prefix("--profile", "default") == user.key[:12] == prefix(EXPOPS_PROFILE="default")
    bare.run("profile", "default")
    assert prefix() == user.key[:12]
    bare.run("profile", "none", status=NOT_FOUND)
    bare.run("whoami", "--profile", "none", status=NOT_ALLOWED)
    listed = [json.loads(line) for line in bare.run("profiles", "-o", "jsonl").stdout.splitlines()]
    assert [(row["name"], row["default"]) for row in listed] == [("default", True), ("work", False)]
    assert user.key not in json.dumps(listed)
    bare.run("logout")
    assert prefix() == other_user.key[:12]
    bare.run("logout", "--profile", "work")
    bare.run("whoami", status=NOT_ALLOWED)


def test_the_default_profile_stays_until_it_is_removed(bare, cluster, user):
    for name in ("first", "second", "third"):
        bare.run("login", "--profile", name, "--url", cluster.gateway_url, input=user.key)

    def chosen():
        return [row["name"] for row in map(json.loads, bare.run("profiles", "-o", "jsonl").stdout.splitlines()) if row["default"]]

    bare.run("profile", "second")
    bare.run("logout", "--profile", "third")
    assert chosen() == ["second"]
    bare.run("logout", EXPOPS_PROFILE="second")
    assert chosen() == ["first"]


def test_the_environment_wins(bare, home, cluster, user, other_user):
    bare.run("login", "--url", cluster.gateway_url, input=user.key)
    shown = bare.run("whoami", "-o", "json", EXPOPS_KEY=other_user.key).stdout
    assert json.loads(shown)["prefix"] == other_user.key[:12]
    config(home).write_text("broken")
    bare.run("whoami", EXPOPS_URL=cluster.gateway_url, EXPOPS_KEY=user.key)
    bare.run("whoami", HOME=None, EXPOPS_URL=cluster.gateway_url, EXPOPS_KEY=user.key)


def test_a_stored_key_is_sent_to_its_own_address_only(bare, cluster, user):
    bare.run("login", "--url", cluster.gateway_url, input=user.key)
    server = StubServer(lambda request: request.reply(200, KEYS, Content_Type="application/json"))
    try:
        assert "EXPOPS_KEY" in bare.run("whoami", status=NOT_ALLOWED, EXPOPS_URL=server.url).stderr
        assert server.requests == []
    finally:
        server.close()


def test_a_redirect_is_not_followed(against):
    target = StubServer(lambda request: request.reply(200, KEYS, Content_Type="application/json"))
    server = StubServer(lambda request: request.reply(302, "", Location=target.url + "/"))
    try:
        assert "answered 302" in against(server.url).run("whoami", status=FAILED).stderr
        assert len(server.requests) == 1 and target.requests == []
    finally:
        target.close()
        server.close()


def test_a_key_that_may_not_read_keys(bare, cluster, user):
    key = user.api.post("/account/api-keys", {"name": "narrow", "scopes": ["interests:read"]}, expect=201).json()["key"]
    bare.run("login", "--url", cluster.gateway_url, input=key)
    assert "account:read" in bare.run("whoami").stdout


def test_the_certificate_is_checked(bare, tmp_path, home):
    certificate, private_key = make_certificate(tmp_path, "127.0.0.1")
    server = StubServer(lambda request: request.reply(200, KEYS, Content_Type="application/json"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private_key)
    server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
    url = server.url.replace("http:", "https:")
    try:
        refused = bare.run("login", "--url", url, input=new_key(), status=FAILED)
        assert "certificate" in refused.stderr and server.requests == []
        bare.run("login", "--url", url, "--ca-file", str(certificate), input=new_key())
        bare.run("whoami")
        bare.run("whoami", EXPOPS_URL=url, EXPOPS_KEY=new_key(), EXPOPS_CA_FILE=str(certificate), HOME=None)
    finally:
        server.close()


@pytest.mark.parametrize(("url", "is_warned"), [
    ("http://0.0.0.0:1", True), ("http://localhost.invalid:1", True), ("http://127.invalid:1", True), ("http://127.0.0.1.invalid:1", True),
    ("http://127.0.0.1:1", False), ("http://127.0.0.2:1", False), ("http://localhost:1", False), ("http://[::1]:1", False),
])  # fmt: skip
def test_plain_http_is_warned_of(bare, url, is_warned):
    done = bare.run("login", "--url", url, input=new_key(), status=FAILED)
    assert ("is not https" in done.stderr) is is_warned


def test_a_key_that_is_not_listed_does_not_lack_a_scope(against):
    keys = json.dumps({"keys": [{"prefix": "usr_other000"}] * 100})
    server = StubServer(lambda request: request.reply(200, keys, Content_Type="application/json"))
    assert "is not among the first 1,000 of the account" in against(server.url).run("whoami").stdout
    server.close()


def test_logging_out_tells_which_profile_is_used_then(bare, cluster, user):
    for profile in ("work", "home"):
        bare.run("login", "--profile", profile, "--url", cluster.gateway_url, input=user.key)
    assert f"commands use the profile work, of {cluster.gateway_url}, now" in bare.run("logout").stderr
    assert "commands use" not in bare.run("logout").stderr
