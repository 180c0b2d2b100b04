"""Load the certificates by which servers prove who they are: those that the environment names, or certifi's."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from pathlib import Path

import certifi

from geocrawl.errors import EnvironmentFault

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
