"""Finds secrets where none may be: logs, metrics, Redis and the database.

    places = Places(cluster, tmp_path)      # writes down everything that is there now
    places.find({"token of ada": "gho_..."})  # {("token of ada", "pg_dump")} if it is there
"""

import base64
import json
import subprocess
from urllib.parse import parse_qsl, quote

from lib.system.servers import DATABASE, OWNER

SHORTEST = 12  # shorter texts are no secrets, and are found by accident
READERS = {
    "string": lambda redis, key: redis.get(key),
    "hash": lambda redis, key: redis.hgetall(key),
    "list": lambda redis, key: redis.lrange(key, 0, -1),
    "set": lambda redis, key: redis.smembers(key),
    "zset": lambda redis, key: redis.zrange(key, 0, -1, withscores=True),
    "stream": lambda redis, key: redis.xrange(key),
}
FORM_SECRETS = {"code", "code_verifier", "refresh_token", "access_token", "client_secret", "token", "encrypted_value"}


def forms(secret):
    """How a secret may be written: as it is, in JSON, percent-encoded, in hexadecimal (bytea), in base64 of any alignment."""
    data = secret.encode()
    yield data
    yield json.dumps(secret)[1:-1].encode()
    yield quote(secret, safe="").encode()
    yield data.hex().encode()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data)
        inner = encoded[4 if shift else 0 : (len(data) + shift) // 3 * 4]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


class Places:
    """What the product has written so far, each place as a file of `folder`."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        for name, text in cluster.logs().items():
            self.write(f"log-{name}", text)
        for process in cluster.all():
            self.write(f"metrics-{process.name}-{process.port}", process.metrics())
        self.write("redis", self.redis())
        self.write("pg_dump", self.database())

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def redis(self):
        client = self.cluster.redis.client()
        rows = ((key, client.type(key)) for key in client.scan_iter(count=1000))
        return "\n".join(f"{key} {READERS[kind](client, key)}" for key, kind in rows if kind in READERS)

    def database(self):
        command = ["pg_dump", f"--dbname={self.cluster.postgres.url(OWNER, DATABASE)}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def find(self, secrets):
        """{(name, place)} of the secrets, {name: text}, that are there in any form."""
        names = {}
        for name, secret in secrets.items():
            for form in forms(secret):
                if len(form) >= SHORTEST:
                    names[form] = name
        patterns = self.folder.parent / "patterns"
        patterns.write_bytes(b"\n".join(names))
        command = ["grep", "-raohFf", patterns, "--null", "--with-filename", self.folder]
        found = subprocess.run(command, capture_output=True, check=False)
        assert found.returncode in (0, 1), found.stderr
        rows = (line.partition(b"\0") for line in found.stdout.splitlines())
        return {(names[form], path.decode().rpartition("/")[2]) for path, _, form in rows}


def secrets_of_requests(rows, whom):
    """The secrets in requests that a counterpart got: {name: text}."""
    found = {}
    for row in rows:
        what = f"{row['method']} {row['target'].partition('?')[0]} of {whom}"
        for field in ("authorization", "x-api-key", "x-goog-api-key"):
            value = row["headers"].get(field)
            if value:
                found[f"{field} {value[:24]} of {what}"] = value.split(" ", 1)[-1]
        try:
            body = json.loads(row["body"] or "{}")
        except ValueError:
            body = dict(parse_qsl(row["body"]))
        found |= {f"{key} of {what} {row['number']}": body[key] for key in FORM_SECRETS & body.keys()}
    return {name: text for name, text in found.items() if isinstance(text, str) and len(text) >= SHORTEST}
