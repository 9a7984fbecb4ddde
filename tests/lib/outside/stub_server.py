"""An HTTP server that replaces an external service in tests."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


POLL_SECONDS = 0.02  # how long close() may wait, which by default is half a second


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Ignore clients that closed their connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class StubServer:
    """An HTTP server on its own thread, on a free port by default. It calls `answer(request)` for each request; the content is
    request.body, and request.reply() sends the answer. `requests` lists (method, path, headers, body) of all requests so far."""

    def __init__(self, answer, host="127.0.0.1", port=0):
        stub = self
        self.answer, self.requests = answer, []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                stub.requests.append((self.command, self.path, dict(self.headers), self.body))
                stub.answer(self)

            do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = handle_any

            def reply(self, status, text, **headers):
                data = text if isinstance(text, bytes) else text.encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def cut(self, text):
                """Send less content than Content-Length says, and close the connection."""
                self.send_response(200)
                self.send_header("Content-Length", str(len(text) + 1000))
                self.end_headers()
                self.wfile.write(text.encode())
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = Server((host, port), Handler)
        self.url = f"http://{host}:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[POLL_SECONDS], daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
