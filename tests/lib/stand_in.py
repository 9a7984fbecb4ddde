"""An HTTP server that stands in for one of the outside world's."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Who asked may have gone, which is no fault of anybody's."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class StandIn:
    """An HTTP server on a thread of its own. `answer(request)` is called with each request, whose content is request.body,
    and which it answers with request.reply(); `requests` has (method, path, headers, body) of all so far."""

    def __init__(self, answer):
        stand_in = self
        self.answer, self.requests = answer, []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                stand_in.requests.append((self.command, self.path, dict(self.headers), self.body))
                stand_in.answer(self)

            do_GET = do_POST = handle_any

            def reply(self, status, text, **headers):
                data = text.encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def cut(self, text):
                """Say more than is sent, and hang up."""
                self.send_response(200)
                self.send_header("Content-Length", str(len(text) + 1000))
                self.end_headers()
                self.wfile.write(text.encode())
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
