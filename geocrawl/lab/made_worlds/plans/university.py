"""Plan a university: groups and people with pages of their own making, publications, courses, exercises."""

from __future__ import annotations

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import WAYS, kind, organisation
from geocrawl.lab.made_worlds.parts import Anchor, Listing, Page, Prose, Service, Site
from geocrawl.lab.made_worlds.planner import Planner, link

_TERMS = ("ws", "ss", "fall", "spring")
_TEXT = ("text", "href-getcapabilities", "href-getmap")


def university(planner: Planner, pages: int) -> None:
    """Plan a university with about `pages` pages; services stand in exercises, on projects' and on people's pages."""
    rng, mixture = planner.rng, planner.mixture
    head = planner.site(rng.choice(mixture.leisure), host=rng.choice(("uni", "campus", "college")))
    home = Page(head.home, head, head.name, [Prose(2)])
    planner.web.add(home)
    planner.web.seeds.append(head.home)
    groups = max(3, min(12, pages // 130))
    relevant = max(1, groups // 3)
    themes = [
        *(rng.choice(mixture.vocabularies) for _ in range(relevant)),
        *(rng.choice(mixture.leisure) for _ in range(groups - relevant)),
    ]
    services = max(8, round(pages * rng.uniform(0.025, 0.06)))
    doors = []
    sizes = [0.5 + rng.expovariate(1.0) for _ in themes]
    bodies = [organisation(planner, theme, 6, rng.choice((0, 1))).site for theme in mixture.vocabularies[:2]]
    room = int(pages * 0.95) - planner.web.pages
    for number, theme in enumerate(themes):
        site = planner.beside(head, f"inst{number + 1}", theme) if rng.random() < 0.6 else planner.in_theme(head, theme)
        site.design = rng.choice(mixture.designs)
        group = _Group(planner, site, f"/g{number + 1}" if site.host == head.host else "", bodies)
        doors.append(
            group.fill(int(room * sizes[number] / sum(sizes)), services // relevant if number < relevant else 0)
        )
    rng.shuffle(doors)
    faculties = [
        planner.put(
            head,
            f"/faculty{n + 1}/",
            f"{head.label('projects')} {n + 1}",
            Prose(1),
            Listing("", tuple(map(link, doors[n::3]))),
        )
        for n in range(min(3, len(doors)))
    ]
    home.blocks.append(Listing(head.label("about"), tuple(map(link, faculties))))
    home.blocks.append(Listing(head.label("links"), tuple(Anchor(body.home, body.name) for body in bodies)))
    head.footer = (traps.calendar(planner, head, max(6, pages // 60)),)
    planner.outskirts = home


class _Group:
    """The pages of one group."""

    def __init__(self, planner: Planner, site: Site, prefix: str, bodies: list[Site]) -> None:
        self._planner, self._site, self._prefix, self._lot = planner, site, prefix, planner.rng
        self._bodies = bodies
        self.home = planner.put(site, f"{prefix}/", f"{site.words.name} - {site.label('home')}", Prose(1))

    def fill(self, pages: int, services: int) -> Page:
        """Write about `pages` pages that name `services` services; return the first page."""
        planner, rng, site = self._planner, self._lot, self._site
        people = [self._person() for _ in range(max(2, pages // 9))]
        courses, exercises = self._courses(max(1, pages // 26))
        projects = planner.articles(site, "project", max(2, pages // 12), jargon=0.1)
        papers = planner.articles(
            site, "paper", max(2, pages - len(people) - len(courses) - len(exercises) - len(projects) - 14)
        )
        site_lists = [
            planner.listed(site, word, site.label(label), list(map(link, some)), size)
            for word, label, some, size in (
                ("people", "staff", people, 40),
                ("courses", "events", courses, 30),
                ("projects", "projects", projects, 20),
                ("publications", "publications", papers, 100),
            )
        ]
        self.home.blocks.append(Listing("", tuple(map(link, site_lists))))
        for page in papers:
            page.blocks.append(Listing("", (link(rng.choice(people)),)))
        places = (
            rng.sample(exercises, max(1, len(exercises) // 3)),
            rng.sample(projects, max(1, len(projects) // 4)),
            people[:2],
        )
        made: list[Service] = []
        while len(made) < services:
            number = rng.choices(range(3), (3.0, 2.0, 1.0))[0]
            page = rng.choice(places[number])
            page.jargon = 0.35
            for _ in range(rng.choice((1, 1, 2, 5))):
                made.append(planner.services.make(rng.choice([site, *self._bodies]), kind(planner)))
                planner.name(page, made[-1], _TEXT if number == 0 else WAYS)
        traps.noise(planner, site, [*people, *papers, *courses], pages)
        return self.home

    def _person(self) -> Page:
        planner, rng, site = self._planner, self._lot, self._site
        name = f"{rng.choice(site.names.places)} {rng.choice(site.names.places)[:3]}"
        return planner.put(site, f"{self._prefix}/~{planner.number()}/", name, Prose(rng.randint(1, 3)))

    def _courses(self, count: int) -> tuple[list[Page], list[Page]]:
        """Add courses with a page for each exercise and lecture; return (courses, exercises)."""
        planner, rng, site = self._planner, self._lot, self._site
        word = rng.choice(("teaching", "lehre", "courses", "kurs"))
        courses, exercises = [], []
        for _ in range(count):
            path = f"{self._prefix}/{word}/{rng.choice(_TERMS)}{rng.randint(8, 24):02}/{planner.number()}"
            course = planner.put(site, f"{path}/index.html", planner.title(site, placed=False), Prose(2))
            for number in range(rng.randint(3, 9)):
                part = planner.put(
                    site,
                    f"{path}/{rng.choice(('ex', 'lec', 'lab'))}{number + 1}.html",
                    f"{course.title} {number + 1}",
                    Prose(1),
                )
                course.blocks.append(Listing("", (link(part, str(number + 1)),)))
                exercises.append(part)
            courses.append(course)
        return courses, exercises
