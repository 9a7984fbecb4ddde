"""HTTP/1.1 as bytes on sockets: a client and a service that can also send invalid messages, unlike libraries.

The parser is stricter than HTTP: of each construct it accepts only the form that the gateway should write.
"""

import re
import socket
import ssl
import struct
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field

# A socket that is silent for longer fails the test.
PATIENCE_SECONDS = 120

HEAD_END = b"\r\n\r\n"
START_REQUEST = re.compile(rb"([A-Z]+) (/[!-~]*) HTTP/1\.1")
START_ANSWER = re.compile(rb"HTTP/1\.1 ([1-5]\d\d) [ -~]*")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t -~\x80-\xff]*)")


@contextmanager
def leaving_client(url, method, target, fields, content=b""):
    """A client that sends a request, and goes away at the end of the block without having read an answer."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    fields = {"Host": host, **fields, **({"Content-Length": len(content)} if content else {})}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    with socket.create_connection((host, int(port)), PATIENCE_SECONDS) as connection:
        connection.sendall("\r\n".join(lines).encode() + HEAD_END + content)
        yield


class BrokenMessage(Exception):
    """The bytes that were read are not a valid message."""


class CutMessage(BrokenMessage):
    """The connection ended within a message."""


@dataclass
class Message:
    start: tuple  # groups of the pattern of its first line
    fields: list  # (lower-case name, value), in order
    content: bytes = b""

    @property
    def status(self):
        return int(self.start[0])

    def values(self, name):
        return [value for known, value in self.fields if known == name]

    def value(self, name):
        """The value of a field that occurs once; None when it does not occur."""
        values = self.values(name)
        assert len(values) <= 1, f"{name} occurs {len(values)} times"
        return values[0] if values else None


class Reader:
    """Reads consecutive messages from a socket."""

    def __init__(self, connection, pattern):
        self.connection, self.pattern, self.unread = connection, pattern, b""

    def more(self):
        piece = self.connection.recv(65536)
        if not piece:
            raise CutMessage("the connection has ended")
        self.unread += piece

    def take(self, length):
        while len(self.unread) < length:
            self.more()
        taken, self.unread = self.unread[:length], self.unread[length:]
        return taken

    def line(self):
        while b"\r\n" not in self.unread:
            self.more()
        line, _, self.unread = self.unread.partition(b"\r\n")
        return line

    def chunks(self):
        content = b""
        while True:
            size = self.line()
            if not re.fullmatch(rb"[0-9a-f]+", size):
                raise BrokenMessage(f"not a chunk size: {size!r}")
            piece = self.take(int(size, 16))
            if self.take(2) != b"\r\n":
                raise BrokenMessage("a chunk has another length")
            if not piece:
                return content
            content += piece

    def content(self, message):
        length, coding = message.value("content-length"), message.value("transfer-encoding")
        if length is not None and coding is not None:
            raise BrokenMessage("both a Content-Length and a Transfer-Encoding")
        if coding is not None:
            if coding != "chunked":
                raise BrokenMessage(f"coding {coding}")
            return self.chunks()
        if length is not None and not re.fullmatch(r"\d+", length):
            raise BrokenMessage(f"length {length}")
        return self.take(int(length or 0))

    def message(self, has_content=lambda message: True):
        """The next message; None at the end of the connection."""
        while HEAD_END not in self.unread:
            try:
                self.more()
            except CutMessage:
                if self.unread:
                    raise
                return None
        head, _, self.unread = self.unread.partition(HEAD_END)
        first, *lines = head.split(b"\r\n")
        start = self.pattern.fullmatch(first)
        fields = [FIELD.fullmatch(line) for line in lines]
        if not start or None in fields:
            raise BrokenMessage(f"not a head: {head!r}")
        rows = [(name.decode().lower(), value.decode("latin-1")) for name, value in (row.groups() for row in fields)]
        message = Message(tuple(group.decode() for group in start.groups()), rows)
        if has_content(message):
            message.content = self.content(message)
        return message


@dataclass
class Answers:
    """Everything received on a connection until it ended."""

    messages: list = field(default_factory=list)
    is_cut: bool = False  # the connection ended within a message

    @property
    def statuses(self):
        return [message.status for message in self.messages]


def trusting_any():
    """A TLS client that takes any certificate: those of tests are signed by nobody."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def connect(url):
    """A socket to `http://host:port`, or with TLS to `https://host:port`."""
    scheme, _, address = url.partition("://")
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host, int(port)), PATIENCE_SECONDS)
    return trusting_any().wrap_socket(connection, suppress_ragged_eofs=False) if scheme == "https" else connection


def exchange(url, data, heads=()):
    """Send bytes to `http://host:port` or `https://host:port` and read answers until the other side closes. `heads`: indexes of
    the answers to HEAD requests, which have no content."""
    answers = Answers()

    def has_content(message):
        return message.status >= 200 and message.status not in (204, 304) and len(answers.messages) not in heads

    with connect(url) as connection:
        reader = Reader(connection, START_ANSWER)
        try:
            connection.sendall(data)
        except (ConnectionError, ssl.SSLError):
            pass  # the server may answer and close before everything is sent
        try:
            while message := reader.message(has_content):
                answers.messages.append(message)
        except (BrokenMessage, ConnectionError, ssl.SSLError):
            answers.is_cut = True
    return answers


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"


class RawService:
    """A service that records requests and answers with fixed bytes.

    `answer` is sent for each request; with `ends` "close" or "reset" the connection then ends. `requests` are Messages;
    `faults` are descriptions of bytes that were not a valid request.
    """

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.connections = 0
        self.forget()
        threading.Thread(target=self.accept, daemon=True).start()

    def forget(self):
        """Reset everything for the next test."""
        self.requests, self.faults = [], []
        self.answer, self.ends = OK, None

    @property
    def seen(self):
        """(method, target, content) of each request."""
        return [(*request.start, request.content) for request in self.requests]

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.settimeout(PATIENCE_SECONDS)
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        reader = Reader(connection, START_REQUEST)
        with connection:
            try:
                while request := reader.message():
                    self.requests.append(request)
                    if reader.unread:
                        self.faults.append(f"bytes after a request: {reader.unread!r}")
                    connection.sendall(self.answer)
                    if self.ends:
                        self.end(connection)
                        return
            except (CutMessage, OSError):
                pass  # the gateway has closed the connection
            except BrokenMessage as error:
                self.faults.append(str(error))

    def end(self, connection):
        if self.ends == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def close(self):
        self.listener.close()
