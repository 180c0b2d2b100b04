"""Servers on loopback whose TLS is at fault in one way each, with certificates made by the `openssl` command.

All but the self-signed one are issued by an authority of the zoo, which `SSL_CERT_FILE` has clients trust. The servers
run in threads: asyncio's drop the connection where TLS demands an alert.
"""

from __future__ import annotations

import ssl
import subprocess
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket

from tests.support.http_server import NOT_FOUND
from tests.support.loopback import Handler, Server, running

Answers = Callable[[str], "bytes | None"]
"""Target → the whole answer; None: 404."""

_HERE = "subjectAltName=IP:127.0.0.1"
_LONG = "36500"
_CA = "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"
_KEYS = "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
"""With the use of an authority's key, what Python 3.13 demands of certificates (RFC 5280, section 4.2.1)."""


@dataclass(frozen=True)
class Animal:
    """A server's TLS."""

    certificate: str
    deviation: str
    """What a probe records of it; '' for nothing."""
    newest: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED


ANIMALS: Mapping[str, Animal] = {
    "good": Animal("good", ""),
    "expired": Animal("expired", "tls-expired"),
    "self-signed": Animal("self-signed", "tls-self-signed"),
    "wrong name": Animal("elsewhere", "tls-name"),
    "missing intermediate": Animal("under", "tls-chain"),
    "weak key": Animal("weak", "tls-protocol"),
    "TLS 1.0": Animal("good", "tls-protocol", ssl.TLSVersion.TLSv1),
    "TLS 1.1": Animal("good", "tls-protocol", ssl.TLSVersion.TLSv1_1),
}


def make_zoo(folder: Path) -> Path:
    """Make all keys and certificates in a folder; return the file of the authority that clients are to trust."""
    _self_sign(folder, "authority", *_CA)
    _self_sign(folder, "self-signed", _HERE)
    _issue(folder, "good", _HERE)
    _issue(folder, "expired", _HERE, days="-1")
    _issue(folder, "elsewhere", "subjectAltName=DNS:maps.example.org")
    _issue(folder, "weak", _HERE, bits="1024")
    _issue(folder, "between", *_CA)
    _issue(folder, "under", _HERE, issuer="between")
    return folder / "authority.pem"


class Cage(Server):
    """A server with the TLS of one animal; it records what was asked over connections whose handshake succeeded."""

    def __init__(self, tls: ssl.SSLContext, answers: Answers) -> None:
        super().__init__(_Handler)
        self._tls = tls
        self.answers = answers
        self.targets: list[str] = []
        self.fields: list[dict[str, str]] = []
        self.base = f"https://127.0.0.1:{self.server_port}"

    def get_request(self) -> tuple[socket, object]:
        """Accept a connection; its handshake is made in its own thread, by the first read."""
        accepted, address = super().get_request()
        return self._tls.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False), address


class _Handler(Handler):
    def respond(self) -> None:
        assert isinstance(self.server, Cage)
        self.server.targets.append(self.path)
        self.server.fields.append({name.lower(): value for name, value in self.headers.items()})
        self.write(self.server.answers(self.path) or NOT_FOUND)


@contextmanager
def housed(name: str, folder: Path, answers: Answers) -> Iterator[Cage]:
    """Serve answers with the TLS of an animal whose certificate is in the folder."""
    with running(Cage(tls_of(name, folder), answers)) as cage:
        yield cage


def tls_of(name: str, folder: Path) -> ssl.SSLContext:
    """Return the context of a server with the TLS of an animal whose certificate is in the folder."""
    animal = ANIMALS[name]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.load_cert_chain(folder / f"{animal.certificate}.pem", folder / f"{animal.certificate}.key")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.maximum_version = animal.newest
    return context


def is_spoken(name: str, folder: Path) -> bool:
    """Return whether this machine's OpenSSL speaks the TLS of an animal: some distributions have no old versions."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    client.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    client.set_ciphers("DEFAULT:@SECLEVEL=0")
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server),
        tls_of(name, folder).wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(4):  # each end speaks twice, in TLS before 1.3
        waiting = []
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                waiting.append(end)
            except ssl.SSLError:
                return False
    return not waiting


def _self_sign(folder: Path, name: str, *extensions: str) -> None:
    _openssl(folder, "req", "-x509", "-days", _LONG, *_key(name), *_added(extensions), "-out", f"{name}.pem")


def _issue(
    folder: Path, name: str, *extensions: str, issuer: str = "authority", days: str = _LONG, bits: str = "2048"
) -> None:
    _openssl(folder, "req", *_key(name, bits), *_added(extensions), "-out", f"{name}.csr")
    (folder / "keys.cnf").write_text(_KEYS)
    signed_by = ("-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key", "-CAcreateserial")
    extended = ("-copy_extensions", "copy", "-extfile", "keys.cnf")
    _openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signed_by, *extended, "-days", days, "-out", f"{name}.pem")


def _added(extensions: tuple[str, ...]) -> list[str]:
    return [word for extension in extensions for word in ("-addext", extension)]


def _key(name: str, bits: str = "2048") -> tuple[str, ...]:
    return ("-newkey", f"rsa:{bits}", "-nodes", "-keyout", f"{name}.key", "-subj", f"/CN={name}")


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
