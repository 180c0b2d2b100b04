"""Choose the proxy of a request: the site's own setting, then the common one, then the environment's."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # missing in typeshed

from geocrawl.errors import UsageError
from geocrawl.model import Url
from geocrawl.settings import Settings
from geocrawl.wording import read_proxy


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy of HTTP or of SOCKS 5 (RFC 1928)."""

    address: str
    """scheme://host:port, without user and password."""
    authorization: str
    """Value of Proxy-Authorization (RFC 7617) to send with every request; '' for none."""
    credentials: tuple[str, str] | None = None
    """User and password, for SOCKS."""

    @property
    def is_socks(self) -> bool:
        """Return whether the proxy speaks SOCKS 5, not HTTP."""
        return self.address.startswith("socks5")

    @property
    def host(self) -> str:
        """Return the name or IP address of the proxy, IPv6 without brackets."""
        return _host_of(self.address)


@lru_cache(maxsize=64)
def _host_of(address: str) -> str:
    return urlsplit(address).hostname or ""


@dataclass(frozen=True, slots=True)
class EnvironmentProxies:
    """The environment variables http_proxy, https_proxy and no_proxy; '' where unset."""

    http: str = ""
    https: str = ""
    no_proxy: str = ""


def proxy_from_environment(environ: Mapping[str, str]) -> EnvironmentProxies:
    """Return the environment's proxies; lower-case names take precedence over upper-case ones.

    HTTP_PROXY is ignored where REQUEST_METHOD is set: in a web server's CGI a stranger's header would set it. Raise
    UsageError for a proxy that cannot be used, such as ftp://.
    """

    def value(name: str) -> str:
        upper = "" if name == "http_proxy" and "REQUEST_METHOD" in environ else environ.get(name.upper(), "")
        return environ.get(name, upper).strip()

    proxies = EnvironmentProxies(value("http_proxy"), value("https_proxy"), value("no_proxy"))
    for name, text in (("http_proxy", proxies.http), ("https_proxy", proxies.https)):
        proxy_at(text, name)
    return proxies


class Routes:
    """The proxy for each address."""

    def __init__(self, settings: Settings, environment: EnvironmentProxies) -> None:
        """Raise UsageError for a proxy that cannot be used."""
        self._common = proxy_at(settings.proxy, "--proxy")
        self._sites = {
            name: None if site.proxy == "direct" else proxy_at(site.proxy, f"proxy of the site {name}")
            for name, site in settings.sites.items()
            if site.proxy
        }
        self._environment = {
            "http": proxy_at(environment.http, "http_proxy"),
            "https": proxy_at(environment.https, "https_proxy"),
        }
        self._bypass = {"no": environment.no_proxy}

    def proxy_for(self, url: Url) -> Proxy | None:
        """Return the proxy to use; None to connect directly."""
        if url.host in self._sites:
            return self._sites[url.host]
        if self._common is not None:
            return self._common
        proxy = self._environment[url.scheme]
        return None if proxy is None or self._is_bypassed(url) else proxy

    def _is_bypassed(self, url: Url) -> bool:
        """Return whether the environment's no_proxy names the host."""
        return bool(proxy_bypass_environment(url.origin.partition("://")[2], self._bypass))


@lru_cache(maxsize=64)
def proxy_at(text: str, what: str) -> Proxy | None:
    """Return the proxy of an address; None for ''. Raise UsageError, about `what`, for one that cannot be used."""
    if not text:
        return None
    try:
        address = read_proxy(text if "://" in text else f"http://{text}")
    except ValueError as error:
        raise UsageError(f"{what}: not {error}") from None
    parts = urlsplit(address)
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if parts.username is None:
        return Proxy(address, "")
    credentials = unquote(parts.username), unquote(parts.password or "")
    return Proxy(address, basic(":".join(credentials)), credentials)


def basic(secret: str) -> str:
    """Return the value of an authorization field for `user:password` (RFC 7617)."""
    return "Basic " + base64.b64encode(secret.encode()).decode("ascii")
