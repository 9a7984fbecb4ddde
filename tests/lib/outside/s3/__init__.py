"""S3-compatible stores: the package s3rver, which checks signatures, and one that does what a test says."""

import gzip
import subprocess
from pathlib import Path

from lib.outside.stub_server import StubServer
from lib.wait import PATIENCE_SECONDS

ID, SECRET, BUCKET = "AKIATEST", "a secret/of+an=access key", "runs"
PROGRAM = Path(__file__).with_name("s3.mjs")


def settings(url, key_id=ID, secret=SECRET):
    return {"EXPORT_S3_URL": url, "EXPORT_S3_KEY_ID": key_id, "EXPORT_S3_SECRET": secret}


class S3:
    """s3rver with one bucket."""

    def __init__(self, folder):
        self.folder = folder
        self.popen = subprocess.Popen(["node", PROGRAM, folder, ID, SECRET, BUCKET], stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.popen.stdout.readline())}"

    def close(self):
        self.popen.terminate()
        self.popen.wait(PATIENCE_SECONDS)
        self.popen.stdout.close()

    def objects(self):
        """{key: content} of the bucket."""
        found = (self.folder / BUCKET).rglob("*_object")
        names = {path: str(path.relative_to(self.folder / BUCKET)).removesuffix("._S3rver_object") for path in found}
        return {name: path.read_bytes() for path, name in names.items()}


class Moody:
    """A store that answers each PUT by the next of `answers`, a status or None for silence, and then with 200."""

    def __init__(self, *answers):
        self.answers, self.puts, self.objects = list(answers), 0, {}
        self.server = StubServer(self.handle)
        self.url = self.server.url

    def handle(self, request):
        if request.command == "HEAD":
            is_there = request.path == f"/{BUCKET}" or request.path in self.objects
            request.reply(200 if is_there else 404, "")
            return
        self.puts += 1
        status = self.answers.pop(0) if self.answers else 200
        if status is None:
            request.close_connection = True
            return
        if status == 200:
            self.objects[request.path] = gzip.decompress(request.body)
        request.reply(status, "<Error><Code>InternalError</Code><Message>We are sorry</Message></Error>" if status >= 400 else "")

    def close(self):
        self.server.close()
