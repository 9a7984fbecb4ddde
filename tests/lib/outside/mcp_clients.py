"""The official clients of the agent-tool protocol, and its conformance suite: npm packages of tests/package.json."""

import itertools
import json
import re
import socket
import socketserver
import subprocess
import threading
from pathlib import Path

from lib.outside.stub_server import POLL_SECONDS

FOLDER = Path(__file__).parent
MODES = ("sdk", "legacy", "auto", "pin")
SUITE = FOLDER.parents[1] / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


def node_version():
    done = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    return int(done.stdout.removeprefix("v").split(".")[0])


class OfficialError(Exception):
    """The client has raised: `code` is that of the error, or of HTTP."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.data = error["code"], error["data"]


class OfficialClient:
    """A client in a process of its own, connected: `client.call("callTool", name=..., arguments=...)`."""

    def __init__(self, url, key, mode, answer=None):
        config = json.dumps({"url": f"{url}/mcp", "key": key, "mode": mode, "answer": answer})
        self.process = subprocess.Popen(
            ["node", FOLDER / "mcp_client.mjs", config], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            self.server = self.read()
        except OfficialError:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def read(self):
        line = json.loads(self.process.stdout.readline())
        if "error" in line:
            raise OfficialError(line["error"])
        return line["result"]

    def call(self, method, **params):
        self.process.stdin.write(json.dumps({"method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        return self.read()

    def tool(self, tool_name, **arguments):
        """The structured content of a tool that must work."""
        result = self.call("callTool", name=tool_name, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def fault(self, tool_name, **arguments):
        """The text of a tool that must not work."""
        result = self.call("callTool", name=tool_name, arguments=arguments)
        assert result["isError"], result
        return result["content"][0]["text"]


class KeyRelay:
    """Adds a key to each request, for the suite, which sends none. All else is passed on as it comes, byte for byte."""

    def __init__(self, url, key):
        target = url.removeprefix("http://").rsplit(":", 1)
        added = f"Authorization: Bearer {key}\r\nConnection: close\r\n".encode()

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                lines = iter(self.rfile.readline, b"")  # until the client has gone: some connect and send nothing
                head = b"".join(itertools.takewhile(lambda line: line != b"\r\n", lines))
                if not head:
                    return
                length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
                content = self.rfile.read(int(length[1])) if length else b""
                with socket.create_connection(target) as upstream:
                    upstream.sendall(head + added + b"\r\n" + content)
                    for piece in iter(lambda: upstream.recv(65536), b""):
                        self.wfile.write(piece)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=[POLL_SECONDS], daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def run_scenario(url, scenario, revision, baseline, folder):
    """Run a scenario of the suite. Returns (whether it passed, with the faults that the baseline names; what it printed)."""
    command = ["node", "--import", FOLDER / "mcp_conformance.mjs", SUITE, "server", "--url", f"{url}/mcp", "--scenario", scenario]
    command += ["--spec-version", revision, "--expected-failures", baseline]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr
