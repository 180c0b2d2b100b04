"""Keep the cookies that redirects of one fetch set, and send those that apply to the next address (RFC 6265)."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import Message
from http.cookiejar import CookieJar
from urllib.request import Request

_MOST_COOKIES, _COOKIE_BYTES = 50, 4_096  # RFC 6265, 6.1: what a client should keep at least
_FIELD_BYTES = 16_384
"""Longest field Cookie: many servers refuse requests with longer header fields."""


class Cookies:
    """The cookies of one fetch."""

    def __init__(self) -> None:
        self._jar = CookieJar()

    def take(self, address: str, set_cookies: Sequence[bytes]) -> None:
        """Keep what an answer from `address` sets: the values of its fields Set-Cookie, as sent."""
        short = [each for each in set_cookies if len(each) <= _COOKIE_BYTES][:_MOST_COOKIES]
        if short and len(self._jar) < _MOST_COOKIES:
            self._jar.extract_cookies(_Setting(short), _request(address))  # type: ignore[arg-type]

    def field(self, address: str) -> bytes:
        """Return the value of the field Cookie for a request for `address`, as many cookies as it may have; b'' for
        none."""
        request = _request(address)
        self._jar.add_cookie_header(request)
        field = str(request.get_header("Cookie", "")).encode("latin-1", "replace")
        return field if len(field) <= _FIELD_BYTES else field[: field.rfind(b"; ", 0, _FIELD_BYTES)]

    def names_and_values(self) -> tuple[str, ...]:
        """Return all cookies as `name=value`, sorted: two equal ones mean that nothing was set again."""
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
