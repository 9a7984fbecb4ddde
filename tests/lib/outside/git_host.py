"""Git repositories of the code host: real ones, which git reaches by HTTP as at the code host.

The counterpart of the code host keeps files and branches, but git cannot reach them. GitHost has a bare repository for each of
its repositories, in which update() makes what changed at the code host; what is pushed is made at the code host, too.

    git = GitHost(code_host, folder)
    git.update("ada/ranker")
    git.allow("ada/ranker", token, "write")
    subprocess.run(["git", "clone", f"{git.url}/ada/ranker.git"])
"""

import base64
import io
import os
import subprocess
import tarfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

COMMITTER = "committer code-host <code-host@localhost> now"


class GitHost:
    def __init__(self, host, folder):
        self.host, self.folder = host, folder
        self.tokens = {}  # token -> (repository, "read" or "write")
        self.made = {}  # (repository, branch) -> the code host's commit that git's branch has the files of
        self.protected = set()  # repositories that refuse every push
        self.faults = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"git_host": self}))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = Thread(target=self.server.serve_forever, args=[0.05])
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def path(self, repo):
        return self.folder / f"{repo}.git"

    def git(self, repo, *args, data=None):
        env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.folder)}
        done = subprocess.run(["git", "-C", self.path(repo), *args], input=data, capture_output=True, env=env, check=False)
        assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr.decode()}"
        return done.stdout

    def allow(self, repo, token, level):
        self.tokens[token] = (repo.lower(), level)

    def heads(self, repo):
        """{branch: commit}"""
        rows = self.git(repo, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads/").decode()
        return dict(row.split(" ") for row in rows.splitlines())

    def files(self, repo, branch):
        """{path: text} of a branch."""
        with tarfile.open(fileobj=io.BytesIO(self.git(repo, "archive", branch))) as archive:
            return {item.name: archive.extractfile(item).read().decode() for item in archive if item.isfile()}

    def update(self, repo):
        """Make what changed at the code host."""
        if not self.path(repo).exists():
            self.path(repo).mkdir(parents=True)
            self.git(repo, "init", "-q", "--bare", "-b", self.host.default_branch(repo))
        heads = self.heads(repo)
        for branch, commit in self.host.branches(repo).items():
            if self.made.get((repo, branch)) == commit:
                continue
            files = self.host.files(repo, branch)
            if branch not in heads or self.files(repo, branch) != files:
                self.commit(repo, branch, files, heads.get(branch))
            self.made[repo, branch] = commit

    def commit(self, repo, branch, files, parent):
        rows = [f"commit refs/heads/{branch}\n{COMMITTER}\ndata 6\nUpdate\n".encode()]
        if parent:
            rows.append(f"from {parent}\n".encode())
        rows.append(b"deleteall\n")
        for path, text in files.items():
            rows.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n".encode())
        self.git(repo, "fast-import", "--quiet", "--date-format=now", data=b"".join(rows))

    def pushed(self, repo, before):
        """Make at the code host what was pushed."""
        for branch, commit in self.heads(repo).items():
            if commit != before.get(branch):
                self.host.put_branch(repo, branch, self.files(repo, branch))


class Handler(BaseHTTPRequestHandler):
    """git's smart HTTP protocol, by `git http-backend`."""

    protocol_version = "HTTP/1.1"
    git_host = None

    def do_GET(self):
        self.serve()

    def do_POST(self):
        self.serve()

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        repo = path.lstrip("/").partition(".git/")[0]
        is_push = "git-receive-pack" in self.path
        level = self.level(repo)
        if level is None or (is_push and level != "write"):
            self.answer(401 if level is None else 403, {"WWW-Authenticate": "Basic"}, b"")
            return
        if is_push and repo in self.git_host.protected and self.command == "POST":
            self.answer(403, {}, b"The branch is protected.")
            return
        if is_push and self.command == "POST":
            before = self.git_host.heads(repo)
            answer = self.run_backend(path, query, body)
            self.note(lambda: self.git_host.pushed(repo, before))
        else:
            answer = self.run_backend(path, query, body)
        self.answer(*answer)

    def note(self, action):
        try:
            action()
        except Exception as error:  # of a thread that nobody waits for
            self.git_host.faults.append(repr(error))

    def level(self, repo):
        """What the caller may do in the repository: `read`, `write` or None."""
        kind, _, login = (self.headers.get("Authorization") or "").partition(" ")
        name, _, token = base64.b64decode(login).decode().partition(":") if kind == "Basic" else ("", "", "")
        known, level = self.git_host.tokens.get(token, (None, None))
        return level if name == "x-access-token" and known == repo.lower() else None

    def run_backend(self, path, query, body):
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.git_host.folder), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "token",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "HOME": str(self.git_host.folder),
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return int(fields.pop("Status", "200").split()[0]), fields, content

    def answer(self, status, fields, content):
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass
