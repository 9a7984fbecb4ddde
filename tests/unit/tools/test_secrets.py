"""deploy/secrets gives each pair of processes that call each other a secret, which needs no container to be seen."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from lib.http.api_def import all_operations, internal_operations, process_of, public_callers, services
from lib.wait import wait_for

ROOT = Path(__file__).resolve().parents[3]
PROCESSES = [process_of(symbol) for symbol in services()]


def called():
    """{process: those that it calls}"""
    service_of = {operation.id: process_of(operation.service) for operation in all_operations()}
    pairs = {(caller, service) for _, _, service, callers in internal_operations() for caller in callers}
    pairs |= {(caller, service_of[operation]) for operation, callers in public_callers().items() for caller in callers}
    pairs |= {("gateway", process) for process in PROCESSES if process != "gateway"}
    return {process: sorted(callee for caller, callee in pairs if caller == process) for process in PROCESSES}


def test_every_pair_has_a_secret(tmp_path):
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    files = {process: tmp_path / process / "IDENTITY_SIGN_SECRETS" for process in PROCESSES}
    entries = {process: path.read_text().split() if path.exists() else [] for process, path in files.items()}
    assert {process: sorted(entry.partition("=")[0] for entry in found) for process, found in entries.items()} == called()


USERS = "redis/users.acl"


def test_an_upgrade_renews_the_rights_of_redis_users(tmp_path):
    """As after a version that had fewer streams and processes: rights are those of this one, passwords and other users stay."""
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    made = (tmp_path / USERS).read_text()
    own = ["user default off", "user exporter reset on #1 +info"]
    lines = [line.replace("user svc-fleet reset on #", "user svc-fleet reset on #0ld #")
             for line in made.splitlines() if not line.startswith("user default ")]
    earlier = [line.replace(" ~events.audit.fleet", "") for line in lines if not line.startswith("user svc-evalenv ")]
    (tmp_path / USERS).write_text("\n".join([*earlier, *own]) + "\n")
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    assert sorted((tmp_path / USERS).read_text().splitlines()) == sorted([*lines, *own])


def test_users_for_redis_6_stay_so(tmp_path):
    """Redis 6.2 does not read the selectors of newer versions."""
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    passwords = " ".join(f"{process}=p" for process in PROCESSES)
    command = [ROOT / "deploy/redis-acl", "--redis", "6.2"]
    old = subprocess.run(command, env={**os.environ, "REDIS_PASSWORDS": passwords}, capture_output=True, text=True, check=True).stdout
    (tmp_path / USERS).write_text(old.replace(" ~events.audit.fleet", ""))
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    renewed = (tmp_path / USERS).read_text()
    assert "(" not in renewed and set(old.splitlines()) <= set(renewed.splitlines())


def settings_of_compose(process):
    environment = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"][process]["environment"]
    return {name.removesuffix("_FILE") for name in environment if name.endswith("_FILE")}


def settings_of_kubernetes(process):
    """What all processes have, and what the folder of one adds."""
    texts = [(ROOT / "deploy/k8s" / path).read_text() for path in ("process/deployment.yaml", f"base/{process}/kustomization.yaml")]
    return set(re.findall(r"name: (\w+)_FILE, value: /run/secrets/", "".join(texts)))


def secrets_of_trial(process):
    made = yaml.safe_load((ROOT / "deploy/k8s/trial/kustomization.yaml").read_text())["secretGenerator"]
    (files,) = [one["files"] for one in made if one["name"] == process]
    return {Path(file).name for file in files}


@pytest.mark.parametrize("settings", [settings_of_compose, settings_of_kubernetes, secrets_of_trial])
def test_every_deployment_passes_them_on(tmp_path, settings):
    """A process does not start without the secret of one that it calls."""
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    assert {process: settings(process) for process in PROCESSES} == {process: {path.name for path in (tmp_path / process).iterdir()} for process in PROCESSES}


@pytest.mark.parametrize(("server", "address"), [
    ("redis.example:6380", "redis://{login}@redis.example:6380/0"), ("rediss://redis.example", "rediss://{login}@redis.example/0")])
def test_redis_by_tls_or_without(tmp_path, server, address):
    subprocess.run([ROOT / "deploy/secrets", tmp_path, "--redis", server], check=True)
    url = (tmp_path / "gateway" / "REDIS_URL").read_text().strip()
    login = re.search("//(.*)@", url)[1]
    assert login.startswith("gateway:") and url == address.format(login=login)


@pytest.mark.parametrize("server", ["https://redis.example", "redis.example/0", "user@redis.example"])
def test_other_addresses_of_redis_are_refused(tmp_path, server):
    done = subprocess.run([ROOT / "deploy/secrets", tmp_path, "--redis", server], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "rediss://HOST" in done.stderr


def test_a_run_that_was_stopped_leaves_no_empty_secret(tmp_path):
    """Each secret is made from `master`."""
    part = tmp_path / "master.part"
    part.write_text("0123")  # as far as it came
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    assert re.fullmatch(r"[0-9a-f]{64}\n", (tmp_path / "master").read_text()) and not part.exists()


@pytest.mark.parametrize("name", ["master", "postgres/password"])
def test_an_empty_secret_is_refused(tmp_path, name):
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    (tmp_path / name).write_text("")
    refused = subprocess.run([ROOT / "deploy/secrets", tmp_path], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and refused.stderr.startswith(f"{tmp_path / name} is empty")


# ---- rotation ----


def rotate(folder, step):
    subprocess.run([ROOT / "deploy/secrets", folder, "--rotate", step], check=True)


def text(folder, *names):
    return folder.joinpath(*names).read_text().strip()


def entries(value):
    return dict(entry.split("=", 1) for entry in value.split())


def files_of(folder):
    return {path.relative_to(folder): path.read_text() for path in folder.rglob("*") if path.is_file()}


def digest(password):
    return "#" + hashlib.sha256(password.encode()).hexdigest()


def users_of(folder):
    return {line.split()[1]: [word for word in line.split() if word.startswith("#")] for line in text(folder, USERS).splitlines()}


def assert_accepted(used, accepted):
    """What processes and servers use, by the files of one step, is accepted by the files of another, which may be rolled out before or
    after it."""
    database = entries(text(accepted, "postgres/SERVICE_PASSWORDS"))
    for process in PROCESSES:
        addresses = text(used, process, "DATABASE_URL").split()
        assert database[process.removeprefix("svc-")] in [re.search(":([^:@]*)@", one)[1] for one in addresses], process
        assert digest(re.search(":([^:@]*)@", text(used, process, "REDIS_URL"))[1]) in users_of(accepted)[process]
        signs = entries(text(used, process, "IDENTITY_SIGN_SECRETS")) if (used / process / "IDENTITY_SIGN_SECRETS").exists() else {}
        for callee, secret in signs.items():
            assert secret in entries(text(accepted, callee, "IDENTITY_VERIFY_SECRETS"))[process].split(",")
        for name in ("SEAL_SECRETS", "SEAL_KEYS"):
            if (used / process / name).exists():
                assert text(used, process, name).split(",")[0] in text(accepted, process, name).split(",")
    assert digest(text(used, "redis/password")) in users_of(accepted)["default"]


def test_all_secrets_are_replaced_in_three_steps(tmp_path):
    """Whichever files of two neighbouring steps a process or a server has, they fit."""
    folder = tmp_path / "DIR"
    subprocess.run([ROOT / "deploy/secrets", folder, "--database", "db.example:5433/expops?sslmode=require", "--redis", "rediss://r"], check=True)
    shutil.copytree(folder, tmp_path / "before")
    for step in ("accept", "use", "forget"):
        rotate(folder, step)
        shutil.copytree(folder, tmp_path / step)
        if step != "forget":
            rotate(folder, step)
        assert files_of(folder) == files_of(tmp_path / step), "a step that was repeated"
    steps = [tmp_path / name for name in ("before", "accept", "use", "forget")]
    for earlier, later in zip(steps, steps[1:]):
        assert_accepted(earlier, earlier)
        assert_accepted(earlier, later)
        assert_accepted(later, earlier)
    assert_accepted(folder, folder)

    before, after = files_of(tmp_path / "before"), files_of(folder)
    old = {word for value in before.values() for word in re.findall(r"[0-9a-f]{48,}", value)}
    assert len(old) > 30 and not [word for value in after.values() for word in re.findall(r"[0-9a-f]{48,}", value) if word in old]
    assert before.keys() == after.keys()
    assert "@db.example:5433/expops?sslmode=require" in text(folder, "gateway/DATABASE_URL") and "@r/0" in text(folder, "gateway/REDIS_URL")
    assert text(folder, "svc-evalenv/SEAL_KEYS").split(",")[1:] == [before[Path("svc-evalenv/SEAL_KEYS")].strip()], "until it is resealed"
    subprocess.run([ROOT / "deploy/secrets", folder], check=True)
    assert files_of(folder) == after


def test_a_rotation_begins_with_its_first_step_and_is_ended(tmp_path):
    def refused(*options):
        done = subprocess.run([ROOT / "deploy/secrets", tmp_path, *options], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        return done.stderr

    assert "has no secrets to replace" in refused("--rotate", "accept")
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    assert "begin with --rotate accept" in refused("--rotate", "use")
    rotate(tmp_path, "accept")
    assert "being replaced" in refused()


def test_what_was_replaced_by_hand_and_other_users_are_rotated_too(tmp_path):
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    path = tmp_path / "gateway" / "DATABASE_URL"
    path.write_text("postgresql://expops_gateway:own@db/expops?target_session_attrs=read-write\n")
    (tmp_path / "gateway" / "DATABASE_DIRECT_URL").write_text("postgresql://expops_gateway:own@direct/expops\n")
    own = "user exporter reset on #1 +info"
    (tmp_path / USERS).write_text((tmp_path / USERS).read_text() + f"{own}\nuser nobody reset\n")
    for step in ("accept", "use", "forget"):
        rotate(tmp_path, step)
    password = entries(text(tmp_path, "postgres/SERVICE_PASSWORDS"))["gateway"]
    assert path.read_text() == f"postgresql://expops_gateway:{password}@db/expops?target_session_attrs=read-write\n"
    assert text(tmp_path, "gateway/DATABASE_DIRECT_URL") == f"postgresql://expops_gateway:{password}@direct/expops"
    assert text(tmp_path, USERS).splitlines()[-2:] == [own, "user nobody reset"]


GATEWAY = "postgresql://expops_gateway:"
TWO = "has two addresses with former passwords"
FORM = "has an address that is not written as SCHEME://USER:PASSWORD@HOST"


@pytest.mark.parametrize(("file", "text", "fault"), [
    ("gateway/DATABASE_URL", f"{GATEWAY}two@db/x {GATEWAY}one@db/x", TWO),
    ("gateway/DATABASE_DIRECT_URL", f"{GATEWAY}two@db/x {GATEWAY}one@db/x", TWO),
    ("gateway/DATABASE_URL", "postgresql://expops_gateway@db/x?password=one", FORM),
    ("gateway/DATABASE_URL", f"{GATEWAY}one@db/x?password=two", FORM),
    ("gateway/DATABASE_URL", "host=db user=expops_gateway password=one", FORM),
    ("gateway/DATABASE_URL", "", FORM),
    ("gateway/DATABASE_URL", "postgresql://owner:one@db/x", "has an address of the user owner"),
    ("gateway/REDIS_URL", "redis://:one@redis", FORM),
    ("gateway/REDIS_URL", "redis://redis", FORM),
    ("gateway/REDIS_URL", "redis://default:one@redis", "has an address of the user default"),
    ("redis/users.acl", "user default reset on #1 +@all", "has no password of gateway, svc-evalenv"),
    ("postgres/SERVICE_PASSWORDS", "gateway:one", "is no list of NAME=SECRET"),
    ("svc-evalenv/SEAL_KEYS", ",".join(f"k{i}:key" for i in range(16)), "has 16 keys"),
])  # fmt: skip
def test_a_form_in_which_a_secret_cannot_be_replaced_is_refused(tmp_path, file, text, fault):
    """Before anything is written, as a half that fits no other half would be rolled out."""
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    (tmp_path / file).write_text(f"{text}\n")
    before = files_of(tmp_path)
    done = subprocess.run([ROOT / "deploy/secrets", tmp_path, "--rotate", "accept"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith(f"{tmp_path / file} {fault}"), done.stderr
    assert files_of(tmp_path) == before


def test_passwords_that_were_set_by_hand_are_replaced(tmp_path):
    """Whatever signs they have, and however the users of Redis have them."""
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    (tmp_path / "gateway/DATABASE_URL").write_text(f"{GATEWAY}o:n?e@db/x\n")
    (tmp_path / "gateway/REDIS_URL").write_text("redis://gateway:o:n@/e@redis/0\n")
    lines = (tmp_path / USERS).read_text().splitlines()
    (own,) = [line for line in lines if line.startswith("user gateway ")]
    others = [line for line in lines if line != own]
    (tmp_path / USERS).write_text("\n".join([*others, "user gateway reset on #1 ~* >plain +@all #2"]) + "\n")
    rotate(tmp_path, "accept")
    accepted = users_of(tmp_path)["gateway"]
    assert accepted[:3] == ["#1", digest("plain"), "#2"] and len(accepted) == 4
    assert text(tmp_path, USERS).splitlines()[-1] == f"user gateway reset on {' '.join(accepted)} ~* +@all"
    rotate(tmp_path, "use")
    assert text(tmp_path, "gateway/REDIS_URL").endswith("@redis/0")
    assert digest(re.fullmatch("redis://gateway:([0-9a-f]+)@redis/0", text(tmp_path, "gateway/REDIS_URL"))[1]) == accepted[3]
    rotate(tmp_path, "forget")
    assert users_of(tmp_path)["gateway"] == accepted[3:]
    new = entries(text(tmp_path, "postgres/SERVICE_PASSWORDS"))["gateway"]
    assert text(tmp_path, "gateway/DATABASE_URL") == f"{GATEWAY}{new}@db/x"


def test_an_upgrade_keeps_a_password_that_is_written_as_it_is(tmp_path):
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    made = (tmp_path / USERS).read_text()
    (tmp_path / USERS).write_text(re.sub(r"(?m)^(user gateway reset on )#\w+", r"\1>plain", made))
    subprocess.run([ROOT / "deploy/secrets", tmp_path], check=True)
    assert users_of(tmp_path)["gateway"] == [digest("plain")]


# ---- users of Redis ----


@pytest.fixture
def redis_with(tmp_path):
    """redis_with(users): a Redis with this aclfile, as a function that runs redis-cli with arguments."""
    started = []

    def start(users):
        (tmp_path / "users.acl").write_text(users)
        socket = tmp_path / "socket"
        options = ["--port", "0", "--unixsocket", socket, "--aclfile", tmp_path / "users.acl", "--dir", tmp_path, "--save", ""]
        started.append(subprocess.Popen(["redis-server", *map(str, options)], stdout=subprocess.DEVNULL))
        wait_for(socket.exists, "Redis listens")
        return lambda *words: subprocess.run(["redis-cli", "-s", socket, *words], capture_output=True, text=True, check=True).stdout.strip()

    yield start
    for server in started:
        server.terminate()
        server.wait()


@pytest.mark.parametrize("version", ["6.2", "7.0"])
def test_without_a_password_for_operators_nobody_is_let_in(redis_with, version):
    """A Redis lets in everybody as a user `default` that its aclfile does not name."""
    made = subprocess.run([ROOT / "deploy/redis-acl", "--redis", version], env={**os.environ, "REDIS_PASSWORDS": "svc-search=p"},
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    cli = redis_with(made)
    assert "NOAUTH" in cli("ping") and "NOAUTH" in cli("acl", "whoami")
    assert cli("--user", "svc-search", "-a", "p", "--no-auth-warning", "ping") == "PONG"


def test_with_one_they_are(redis_with):
    made = subprocess.run([ROOT / "deploy/redis-acl"], env={**os.environ, "REDIS_PASSWORDS": "svc-search=p default=d"},
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    cli = redis_with(made)
    assert "NOAUTH" in cli("ping") and cli("-a", "d", "--no-auth-warning", "acl", "whoami") == "default"
    assert len([line for line in made.splitlines() if line.startswith("user default ")]) == 1
