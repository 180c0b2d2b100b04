"""Settings of one host or one origin."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.setting_fields import setting


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """Settings of one host, `[sites."maps.example.org"]` in TOML; a single origin can only have user and password."""

    user: str = setting(
        "", "user name for HTTP basic authentication; of a host: sent only over https to its default port"
    )
    password: str = setting("", "password for HTTP basic authentication", secret=True)
    proxy: str = setting("", "HTTP proxy for this host, or 'direct' for none", empty="the common proxy", secret=True)
    delay_s: float | None = setting(
        None,
        "delay between two requests to this host, instead of the common delay; a longer Crawl-delay still applies",
        unit="s",
    )
    max_pages: int = setting(
        0, "most pages of this host, instead of max_pages_per_host", unit="pages", empty="the common limit"
    )
    requests_per_day: int = setting(
        0, "most requests to this host a day, instead of requests_per_host_per_day", empty="the common limit"
    )
    max_body_bytes: int = setting(0, "longest body read from this host", unit="bytes", empty="the common limits")
    not_before: str = setting("", "skip pages with an older Last-Modified (YYYY-MM-DD)")
    not_after: str = setting("", "skip pages with a newer Last-Modified (YYYY-MM-DD)")
    types: tuple[str, ...] = setting((), "media types of the pages to read, such as text/html or text/*", empty="any")
