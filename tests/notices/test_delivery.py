"""Messages arrive signed, whole and harmless; what does not arrive says why, and no private network is reached."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geocrawl import notices
from geocrawl.errors import UsageError
from geocrawl.model.watches import Delivery, Notice, Watch, What
from geocrawl.notices import as_json, as_text, deliver, read_recipient, subject
from geocrawl.settings import Settings
from tests.support.published import HOSTILE
from tests.support.receivers import Hook, MailServer
from tests.support.tls_zoo import tls_of

WATCH = Watch(3, None, "roads kind:wms", "", "key", 1e9, 5, None, 2, 0, 0.0, "")
DIED = Notice(1, 1.7e9, What.DIED, 7, "wms", "Roads", "http://a.example/wms?token=***")
LOST = replace(DIED, id=2, what=What.LAYERS_REMOVED, layers=("a", "b"), more_layers=4)
PRIVATE, PUBLIC = Settings(allow_private=True), Settings()
DATABASE = Path("/nonexistent/crawl.db")


def delivery(recipient: str, *notices: Notice) -> Delivery:
    return Delivery(replace(WATCH, recipient=recipient), notices or (DIED, LOST))


async def test_a_webhook_is_received_once_and_signed(hook: Hook) -> None:
    assert await deliver(delivery(hook.address), PRIVATE, DATABASE, 1.7e9) == ""
    ((path, headers, body),) = hook.received
    assert path == "/hook?token=sesame" and headers["content-type"] == "application/json"
    expected = "sha256=" + hmac.new(b"key", body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(headers["geocrawl-signature"], expected)
    message = json.loads(body)
    assert message["watch"] == {"id": 3, "query": "roads kind:wms"} and message["waiting"] == 0
    assert [(each["id"], each["what"]) for each in message["notices"]] == [(1, "died"), (2, "layers-removed")]
    assert message["notices"][1]["layers"] == ["a", "b"] and message["notices"][1]["more_layers"] == 4
    assert message["notices"][0]["service"]["url"] == "http://a.example/wms?token=***"


@pytest.mark.parametrize(("status", "error"), [(200, ""), (500, "answered with status 500"), (404, "with status 404")])
async def test_the_status_decides(hook: Hook, status: int, error: str) -> None:
    hook.status = status
    assert error in (said := await deliver(delivery(hook.address), PRIVATE, DATABASE, 1.7e9)) and bool(said) == bool(
        error
    )


async def test_a_redirect_is_not_followed(hook: Hook) -> None:
    hook.status, hook.location = 307, hook.address
    assert "status 307" in await deliver(delivery(hook.address), PRIVATE, DATABASE, 1.7e9)
    assert len(hook.received) == 1


async def test_a_server_that_hangs_is_left(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_WEBHOOK_TIMEOUT_S", 0.3)
    hook.answers.clear()
    assert "did not answer within 0.3 s" in await deliver(delivery(hook.address), PRIVATE, DATABASE, 1.7e9)


async def test_a_server_that_is_away_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        assert "cannot be reached" in await deliver(delivery(address), PRIVATE, DATABASE, 1.7e9)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "router.local", "2130706433"])
async def test_private_addresses_are_refused(hook: Hook, host: str) -> None:
    address = f"http://{host}:{hook.port}/"
    assert "private network" in await deliver(delivery(address), PUBLIC, DATABASE, 1.7e9)
    with pytest.raises(UsageError, match="private network"):
        read_recipient(address, PUBLIC, DATABASE)
    assert hook.received == []


async def test_a_name_that_leads_to_a_private_address_is_refused(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    def lookup(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", int(port)))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    address = f"http://hooks.example.org:{hook.port}/"
    assert read_recipient(address, PUBLIC, DATABASE) == address
    assert "private network" in await deliver(delivery(address), PUBLIC, DATABASE, 1.7e9)
    assert hook.received == []
    assert await deliver(delivery(address), PRIVATE, DATABASE, 1.7e9) == "", "the name leads to the server"


async def test_a_mail_is_received_once(mails: MailServer) -> None:
    settings = Settings(mail_server=mails.address, mail_security="none", mail_from="geocrawl@example.org")
    assert await deliver(delivery("mail:anna@example.org"), settings, DATABASE, 1.7e9) == ""
    ((recipient, mail),) = mails.received
    assert recipient == mail["To"] == "anna@example.org" and mail["From"] == "geocrawl@example.org"
    assert mail["Subject"] == "geocrawl: Roads no longer answers, and 1 more notice"
    assert mail["Auto-Submitted"] == "auto-generated"
    text = mail.get_payload()
    assert isinstance(text, str) and "token=***" in text and "layers: a, b and 4 more" in text
    assert "geocrawl watch remove 3" in text


async def test_a_mail_server_that_refuses_is_quoted(mails: MailServer) -> None:
    mails.refusal = "554 no such thing"
    settings = Settings(mail_server=mails.address, mail_security="none")
    said = await deliver(delivery("mail:anna@example.org"), settings, DATABASE, 1.7e9)
    assert "did not take the mail: 554 no such thing" in said and mails.received == []
    encrypted = replace(settings, mail_security="starttls")
    assert "did not take the mail" in await deliver(delivery("mail:anna@example.org"), encrypted, DATABASE, 1.7e9)


@pytest.mark.parametrize(("certificate", "taken"), [("good", True), ("self-signed", False), ("wrong name", False)])
async def test_a_mail_is_sent_encrypted_or_not_at_all(
    certificate: str, taken: bool, mails: MailServer, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "authority.pem"))
    mails.tls = tls_of(certificate, certificates)
    settings = Settings(mail_server=mails.address, mail_security="starttls", mail_user="", mail_from="g@example.org")
    said = await deliver(delivery("mail:anna@example.org"), settings, DATABASE, 1.7e9)
    assert (said == "", len(mails.received)) == (taken, int(taken)), said
    assert taken or "certificate" in said
    assert {each for each in mails.commands if each.startswith(("MAIL", "RCPT", "DATA"))} == (
        {"MAIL encrypted", "RCPT encrypted", "DATA encrypted"} if taken else set()
    )


async def test_a_file_gets_a_line_for_each_message(tmp_path: Path) -> None:
    recipient = read_recipient(f"file:{tmp_path}/notices.jsonl", PUBLIC, DATABASE)
    for _ in range(2):
        assert await deliver(delivery(recipient), PUBLIC, DATABASE, 1.7e9) == ""
    lines = (tmp_path / "notices.jsonl").read_text("utf-8").splitlines()
    assert [len(json.loads(line)["notices"]) for line in lines] == [2, 2]
    assert (tmp_path / "notices.jsonl").stat().st_mode & 0o007 == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
async def test_a_file_on_a_full_disk_says_so() -> None:
    assert "No space left" in await deliver(delivery("file:/dev/full"), PUBLIC, DATABASE, 1.7e9)


async def test_the_catalogue_is_no_journal(tmp_path: Path) -> None:
    database = tmp_path / "crawl.db"
    database.write_bytes(b"SQLite format 3\0")
    with pytest.raises(UsageError, match="catalogue itself"):
        read_recipient(f"file:{database}", PUBLIC, database)
    assert "catalogue itself" in await deliver(delivery(f"file:{database}"), PUBLIC, database, 1.7e9)
    assert database.read_bytes() == b"SQLite format 3\0"


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        ("anna@example.org", "is no web address; expected a web address, mail:ADDRESS or file:PATH$"),
        ("ftp://example.org/", "is no web address"),
        ("mail:anna", "is no mail address"),
        ("mail:a@b.example\r\nBcc: c@d.example", "is no mail address"),
        ("mail:anna@example.org", "mail_server names no server; set it in .* GEOCRAWL_MAIL_SERVER$"),
        ("file:/nonexistent/folder/a.jsonl", "is in no folder that exists"),
        ("file:/", "is a folder"),
        (f"file:/tmp/{'x' * 300}", "x…: cannot be a file: File name too long$"),
        ("file:/tmp/a\0b", "has control characters"),
        ("file:/tmp/a\nb", "has control characters"),
        ("https://example.org/\r\nX: y", "has control characters"),
        (f"https://example.org/{'x' * 9_000}", "x…: has control characters, or more than 2,000 in all$"),
    ],
)
def test_a_recipient_that_cannot_be_told_is_one_clear_line(text: str, clear: str) -> None:
    with pytest.raises(UsageError, match=clear):
        read_recipient(text, PUBLIC, DATABASE)


def test_links_in_a_circle_are_no_file(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UsageError, match=r"loop: cannot be a file: "):
        read_recipient(f"file:{tmp_path}/loop", PUBLIC, DATABASE)


@pytest.mark.parametrize("title", HOSTILE)
async def test_hostile_titles_are_text(title: str, mails: MailServer) -> None:
    notice = replace(LOST, title=f"{title}\r\nBcc: evil@evil.example", layers=(title, f"{title}\n.\nQUIT"))
    assert "\n" not in subject(delivery("", notice)) and len(subject(delivery("", notice))) <= 200
    assert "\r" not in as_text(delivery("", notice), 1.7e9)
    json.dumps(as_json(delivery("", notice), 1.7e9)).encode("ascii")
    settings = Settings(mail_server=mails.address, mail_security="none")
    assert await deliver(delivery("mail:a@b.example", notice), settings, DATABASE, 1.7e9) == ""
    ((recipient, mail),) = mails.received
    assert recipient == "a@b.example" and mail["Bcc"] is None
