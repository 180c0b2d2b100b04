"""Keep the cookies that redirects of one fetch set, and send those that apply to the next address (RFC 6265)."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import Message
from http.cookiejar import CookieJar
from urllib.request import Request


class Cookies:
    """The cookies of one fetch."""

    def __init__(self) -> None:
        self._jar = CookieJar()

    def take(self, address: str, set_cookies: Sequence[bytes]) -> None:
        """Keep what an answer from `address` sets: the values of its fields Set-Cookie, as sent."""
        if set_cookies:
            self._jar.extract_cookies(_Setting(set_cookies), _request(address))  # type: ignore[arg-type]

    def field(self, address: str) -> bytes:
        """Return the value of the field Cookie for a request for `address`; b'' for none."""
        request = _request(address)
        self._jar.add_cookie_header(request)
        return str(request.get_header("Cookie", "")).encode("latin-1", "replace")

    def names_and_values(self) -> tuple[str, ...]:
        """Return all cookies as `name=value`, sorted: two equal ones mean that nothing was set anew."""
        return tuple(sorted(f"{cookie.name}={cookie.value}" for cookie in self._jar))


def _request(address: str) -> Request:
    """Return a request as `CookieJar` reads it; it is not sent."""
    return Request(address)  # noqa: S310 - any scheme: nothing is opened


class _Setting:
    """What `CookieJar` reads of an answer."""

    def __init__(self, set_cookies: Sequence[bytes]) -> None:
        self._message = Message()
        for value in set_cookies:
            self._message["Set-Cookie"] = value.decode("latin-1")

    def info(self) -> Message:
        return self._message
