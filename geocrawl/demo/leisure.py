"""Make the sites that are not about maps: a newspaper with an endless calendar, a shop with session ids in links."""

from __future__ import annotations

import datetime
import hashlib

from geocrawl.demo.pages import DemoPage, Site

CALENDAR_PATH = "/calendar"
_SECTIONS = ("world", "sport", "culture", "business")
_GOODS = ("Lantern", "Candle", "Wick", "Lamp oil", "Matches", "Paper shade", "Hook", "Glass chimney")
_NEWSPAPER = "http://www.norvale-courier.example"
_SHOP = "http://shop.lanternlane.example"


def newspaper() -> Site:
    """Make a newspaper: sections with articles that link to each other, and a link to the calendar."""
    navigation = [("/", "Front page"), *((f"/{name}", name.title()) for name in _SECTIONS), (CALENDAR_PATH, "Calendar")]
    site = Site(_NEWSPAPER, "The Norvale Courier", navigation, relevant=False)
    site.add("/", "The Norvale Courier", "News of the day.", links=[(f"{_SHOP}/", "Our advertisers: Lantern Lane")])
    for section in _SECTIONS:
        articles = [(f"/{section}/{number}.html", f"{section.title()} story {number}") for number in range(1, 7)]
        site.add(f"/{section}", section.title(), f"All about {section}.", links=articles)
        for number, (path, title) in enumerate(articles):
            text = f"{title}: the council met, the team won, the concert was long. Read more tomorrow."
            site.add(
                path, title, text, links=[articles[(number + 1) % 6], (f"/{section}/gone-{number}.html", "Yesterday")]
            )
    return site


def calendar_page(today: datetime.date, year: int | None, month: int | None) -> DemoPage:
    """Make a month of the endless calendar; without year and month the entry page, which shows this month."""
    shown = datetime.date(year or today.year, month or today.month, 1)
    months = [_add_months(shown, step) for step in (-1, 1)]
    links = [
        (f"{CALENDAR_PATH}?year={day.year}&month={day.month}", f"{day:%B %Y}") for day in months if day is not None
    ]
    query = f"?year={shown.year}&month={shown.month}" if year else ""
    site = Site(_NEWSPAPER, "The Norvale Courier", [("/", "Front page")], relevant=False)
    site.add(CALENDAR_PATH + query, f"Calendar, {shown:%B %Y}", "No events this month.", links=links)
    return site.pages[0]


def _add_months(day: datetime.date, step: int) -> datetime.date | None:
    year, month = divmod(day.year * 12 + day.month - 1 + step, 12)
    return datetime.date(year, month + 1, 1) if 1 <= year <= 9999 else None


def shop() -> Site:
    """Make a shop that adds a session id to every link, a new one on every page."""
    site = Site(_SHOP, "Lantern Lane", [], relevant=False)

    def links(path: str) -> list[tuple[str, str]]:
        drawn = hashlib.sha256(path.encode()).hexdigest()[:24].upper()
        listed = [("/", "Shop"), ("/cart", "Cart"), *((f"/goods/{number}", name) for number, name in enumerate(_GOODS))]
        if path.startswith("/goods/"):
            listed.append((f"{path}/reviews", "Reviews"))
        return [(f"{href};jsessionid={drawn}", text) for href, text in listed]

    site.add("/", "Lantern Lane", "Lamps, lanterns and everything that glows.", links=links("/"))
    site.add("/cart", "Your cart", "Your cart is empty.", links=links("/cart"))
    for number, name in enumerate(_GOODS):
        path = f"/goods/{number}"
        site.add(path, name, f"{name}, hand made. Sent within two days.", links=links(path))
        site.add(
            f"{path}/reviews", f"Reviews of {name}", "Five stars, says everybody.", links=links(f"{path}/reviews")[:2]
        )
    return site
