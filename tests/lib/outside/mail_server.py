"""A mail server (aiosmtpd), and the mails that it has taken."""

import asyncio
import email.policy
import re
import ssl
import threading
from contextlib import contextmanager
from email.parser import BytesParser

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from lib.outside.certificate import make_certificate
from lib.system.servers import free_port
from lib.wait import wait_for

HOST = "127.0.0.1"
SENDER = "expops@example.org"
USER, PASSWORD = "expops", "a password of the mail server"
LINK = re.compile(r"https?://\S+/webhooks/(?:confirm|unsubscribe)/\S+")


class Mail:
    """A message as a mail program reads it. `recipient` is of the envelope."""

    def __init__(self, recipient, content, has_tls):
        self.recipient, self.content, self.has_tls = recipient, content, has_tls
        self.message = BytesParser(policy=email.policy.default).parsebytes(content)
        self.defects = list(self.message.defects)

    def __getitem__(self, name):
        return self.message[name]

    def address(self, name):
        (address,) = self.message[name].addresses
        return address.addr_spec

    def part(self, type):
        (part,) = [part for part in self.message.iter_parts() if part.get_content_type() == type]
        return part.get_content()

    @property
    def text(self):
        return self.part("text/plain")

    def link(self, page):
        (link,) = {link for link in LINK.findall(self.text) if f"/{page}/" in link}
        return link


def plain_settings(port):
    """Of svc-integrations, for a mail server without STARTTLS at a port."""
    return {"SMTP_URL": f"smtp://{HOST}:{port}", "SMTP_FROM": SENDER, "SMTP_TLS": "off"}


class MailServer:
    """Takes mails with STARTTLS and a log-in. `replies` has the reply to RCPT, or to the message, of some addresses; a message to one of
    `lost` is taken without a reply."""

    def __init__(self, folder=None, port=None):
        """Without a folder for its certificate it has neither STARTTLS nor a log-in."""
        self.mails, self.replies, self.recipients = [], {"RCPT": {}, "DATA": {}}, []
        self.certificate = self.context = None
        self.lost = set()
        self.is_held, self.held, self.most_held = False, 0, 0
        if folder:
            self.certificate, key = make_certificate(folder, HOST)
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(self.certificate, key)
        self.lock = threading.Lock()
        self.controller = Controller(self, hostname=HOST, port=port or free_port(), tls_context=self.context,
                                     require_starttls=bool(folder), auth_required=bool(folder), authenticator=self.authenticate,
                                     ready_timeout=20)  # fmt: skip
        self.controller.start()
        self.url = f"smtp://{HOST}:{self.controller.port}"

    def close(self):
        self.controller.stop()

    def settings(self):
        return {"SMTP_URL": self.url, "SMTP_FROM": SENDER, "SMTP_USER": USER, "SMTP_PASSWORD": PASSWORD,
                "SMTP_CA_FILE": str(self.certificate)}

    def authenticate(self, server, session, envelope, mechanism, data):
        return AuthResult(success=(data.login.decode(), data.password.decode()) == (USER, PASSWORD))

    @contextmanager
    def hold(self):
        """No address is answered meanwhile; `held` is how many clients wait, `most_held` how many have waited at once."""
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False

    async def wait_for_release(self):
        """Until the end of hold(), or until the client leaves."""
        if not self.is_held:
            return
        self.held += 1
        self.most_held = max(self.most_held, self.held)
        try:
            while self.is_held:
                await asyncio.sleep(0.02)
        finally:
            self.held -= 1

    async def handle_RCPT(self, server, session, envelope, address, options):
        self.recipients.append(address)
        await self.wait_for_release()
        reply = self.replies["RCPT"].get(address)
        if not reply:
            envelope.rcpt_tos.append(address)
        return reply or "250 OK"

    async def handle_DATA(self, server, session, envelope):
        (recipient,) = envelope.rcpt_tos
        reply = self.replies["DATA"].get(recipient)
        if not reply:
            with self.lock:
                self.mails.append(Mail(recipient, envelope.content, bool(session.ssl)))
        if recipient in self.lost:
            server.transport.abort()
        return reply or "250 taken"

    def to(self, address):
        with self.lock:
            return [mail for mail in self.mails if mail.recipient == address]

    def wait(self, address, count=1):
        """Wait until an address has so many mails; returns them."""
        return wait_for(lambda: len(mails := self.to(address)) >= count and mails, f"{count} mails to {address}")
