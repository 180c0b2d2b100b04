"""Send a message as a mail, through the operator's mail server (settings `mail_…`)."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from geocrawl.settings import Settings
from geocrawl.wording import is_mail_address

_TIMEOUT_S = 30.0
_PORTS = {"starttls": 587, "tls": 465, "none": 25}


def refusal_of(address: str, settings: Settings) -> str:
    """Return why no mail can be sent to an address; '' when one can be tried."""
    if not is_mail_address(address):
        return "is no mail address"
    if not settings.mail_server:
        missing = "cannot get mail: the setting mail_server names no server"
        return f"{missing}; set it in the configuration file or by GEOCRAWL_MAIL_SERVER"
    return ""


def send(address: str, subject: str, text: str, settings: Settings) -> str:
    """Send a mail; return '' when the server took it, else what went wrong. Blocks for at most half a minute a step."""
    if refused := refusal_of(address, settings):
        return refused
    message = EmailMessage()
    message["From"] = settings.mail_from or address
    message["To"] = address
    message["Subject"] = subject
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain="geocrawl.invalid")
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic answers
    message.set_content(text)
    try:
        with _connected(settings) as server:
            if settings.mail_user:
                server.login(settings.mail_user, settings.mail_password)
            server.send_message(message)
    except (smtplib.SMTPException, OSError) as error:
        return f"the mail server {settings.mail_server} did not take the mail: {_said(error)}"
    return ""


def _connected(settings: Settings) -> smtplib.SMTP:
    """Return a connection to the mail server, encrypted unless `mail_security` is none."""
    security = settings.mail_security
    host, _, port = settings.mail_server.partition(":")
    number = int(port) if port.isdecimal() else _PORTS[security]
    if security == "tls":
        return smtplib.SMTP_SSL(host, number, timeout=_TIMEOUT_S, context=ssl.create_default_context())
    server = smtplib.SMTP(host, number, timeout=_TIMEOUT_S)
    if security == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server


def _said(error: Exception) -> str:
    """Return what a server or the system said, in one line."""
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        return f"{error.smtp_code} {said.decode('utf-8', 'replace') if isinstance(said, bytes) else said}"
    return " ".join(str(error).split()) or type(error).__name__
