"""Make what the services of a made web answer to GetCapabilities, by the demo's writers."""

from __future__ import annotations

import random

from geocrawl.demo.ows_documents import Box, CapabilitiesContents, capabilities, ows_document
from geocrawl.demo.rest_documents import BY_PATH, as_json
from geocrawl.lab.made_worlds.parts import Service
from geocrawl.lab.made_worlds.seeded_random import seeded_rng
from geocrawl.model.kinds import facts_of


def document(service: Service, seed: int) -> str:
    """Return the document of a service as text: XML, or JSON for REST services."""
    rng = seeded_rng("document", seed, service.id)
    nouns = service.site.words.nouns
    described = CapabilitiesContents(
        title=service.title,
        abstract=f"{service.title}: {', '.join(rng.sample(nouns, 4))}",
        keywords=tuple(rng.sample(nouns, 3)),
        provider=service.site.names.organisation,
        address=service.base,
        layers=layers(service),
        box=_box(rng),
    )
    if service.kind == "wms":
        return capabilities(described, rng.choice(("1.1.1", "1.3.0")))
    if service.kind in BY_PATH:
        return as_json(BY_PATH[service.kind](described, "")).decode()
    return ows_document(service.kind, described)


def suffix(service: Service) -> str:
    """Return the suffix of the service's file: .xml or .json."""
    return ".json" if facts_of(service.kind).by_path else ".xml"


def layers(service: Service) -> tuple[tuple[str, str], ...]:
    """Return (name, title) of the service's layers: one to six of the site's data sets."""
    rng = seeded_rng("layers", service.id, service.base)
    titles = rng.sample(service.site.words.titles, min(rng.randint(1, 6), len(service.site.words.titles)))
    titles = [service.title, *(title for title in titles if title != service.title)]
    return tuple((f"{service.site.theme.name}_{number}", title) for number, title in enumerate(titles))


def _box(rng: random.Random) -> Box:
    west, south = round(rng.uniform(-120, 140), 3), round(rng.uniform(-40, 60), 3)
    return west, south, round(west + rng.uniform(0.5, 9), 3), round(south + rng.uniform(0.5, 9), 3)
