"""Make the TLS contexts of connections, and decide which faults of a server's TLS a probe may pass over.

Servers are verified by the certificates that the environment names, or certifi's.
Many public map servers have an expired certificate, one that they signed themselves, or a program from before TLS 1.2,
and a person with a GIS still gets a map from them. Such a fault is a deviation with its own code.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from pathlib import Path

import certifi

from geocrawl.errors import EnvironmentFault
from geocrawl.model import Deviation
from geocrawl.resources import causes_of
from geocrawl.sanitize import plain

_DETAIL_CHARS = 200
# X509_V_ERR_… of OpenSSL (openssl-verification-options(1), x509_vfy.h). A certificate that was revoked (23) is in no
# row: its owner says that it must not be trusted.
_OF_VERIFY_CODE: Mapping[int, str] = {
    **dict.fromkeys((9, 10), "tls-expired"),  # not yet, or no longer valid
    **dict.fromkeys((18, 19), "tls-self-signed"),
    **dict.fromkeys((2, 20, 21, 22, 24, 25, 79), "tls-chain"),  # an issuer is missing, or may not issue certificates
    **dict.fromkeys((62, 64), "tls-name"),
    **dict.fromkeys((66, 67, 68), "tls-protocol"),  # keys and hashes that are too weak today
}
_OLD_PROTOCOL = frozenset(
    {
        "UNSUPPORTED_PROTOCOL",
        "TLSV1_ALERT_PROTOCOL_VERSION",
        "TLSV1_ALERT_INSUFFICIENT_SECURITY",
        "SSLV3_ALERT_HANDSHAKE_FAILURE",  # no cipher in common
        "NO_CIPHERS_AVAILABLE",
        "DH_KEY_TOO_SMALL",
        "EE_KEY_TOO_SMALL",
        "CA_KEY_TOO_SMALL",
        "CA_MD_TOO_WEAK",
        "WRONG_SIGNATURE_TYPE",
        "LEGACY_SIGALG_DISALLOWED_OR_UNSUPPORTED",
        "UNSAFE_LEGACY_RENEGOTIATION_DISABLED",
    }
)
"""Reasons of OpenSSL for a handshake that fails because the server knows only what is considered insecure today."""
_TEXT_OF_REASON = re.compile(r"\[SSL\] (.+?) \(_ssl\.c:\d+\)")
_LEGACY_SERVER_CONNECT = 0x4
"""SSL_OP_LEGACY_SERVER_CONNECT, which Python 3.11 has no name for: servers from before RFC 5746."""


def tls_deviation(error: BaseException) -> Deviation | None:
    """Return the fault of the server's TLS that ended an exchange; None for any other error."""
    for one in causes_of(error):
        code = _OF_VERIFY_CODE.get(getattr(one, "verify_code", 0))
        if code is not None:
            return Deviation(code, plain(str(getattr(one, "verify_message", "")), _DETAIL_CHARS))
        if isinstance(one, ssl.SSLError) and (reason := _reason(one)) in _OLD_PROTOCOL:
            return Deviation("tls-protocol", reason.replace("_", " ").lower())
    return None


def _reason(error: ssl.SSLError) -> str:
    """Return the name of OpenSSL's reason for an error.

    A Python that is older than its OpenSSL knows no name for a new reason, and has its text alone:
    "[SSL] legacy sigalg disallowed or unsupported (_ssl.c:992)".
    """
    if error.reason:
        return error.reason
    text = _TEXT_OF_REASON.search(str(error))
    return text[1].replace(" ", "_").upper() if text else ""


def unverified_context() -> ssl.SSLContext:
    """Return a context that accepts every certificate, and TLS from version 1.0 on with its ciphers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED  # SSL 2 and 3 stay excluded by the default options
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.options |= _LEGACY_SERVER_CONNECT
    return context


_HASHED = re.compile(r"[0-9a-f]{8}\.\d+")
"""Name under which OpenSSL looks a certificate up in a folder (`openssl rehash`)."""


def trusted_certificates(environment: Mapping[str, str] = os.environ) -> ssl.SSLContext:
    """Return the TLS set-up of all connections.

    Raise EnvironmentFault when SSL_CERT_FILE or SSL_CERT_DIR names no certificates: no https server could prove itself,
    and each would be recorded as failed.
    """
    file, folder = environment.get("SSL_CERT_FILE"), environment.get("SSL_CERT_DIR")
    try:
        if not file and folder and not any(_HASHED.fullmatch(path.name) for path in Path(folder).iterdir()):
            raise _fault("SSL_CERT_DIR", folder, "it contains no certificates under the names of `openssl rehash`")
        if file or not folder:
            return ssl.create_default_context(cafile=file or certifi.where())
        return ssl.create_default_context(capath=folder)
    except OSError as error:  # ssl.SSLError is one
        name, value = ("SSL_CERT_FILE", file) if file else ("SSL_CERT_DIR", folder)
        if not value:
            raise
        raise _fault(name, value, error.strerror or str(error)) from error


def _fault(name: str, value: str, why: str) -> EnvironmentFault:
    return EnvironmentFault(
        f"no certificates of authorities can be read from {value} ({why}): correct {name}, or unset it"
    )
