"""Probe an ArcGIS Server: request `?f=json` of a folder, a map, image or feature service, or a layer.

A folder is a service here, too: its items are the services and folders that it lists, and each readable item is probed
later. A service leads to the OGC services that it also offers (`supportedExtensions`; WMTS, if it has a cache of
tiles), a layer to its service. Source: ArcGIS REST API: Catalog, Map Service, Feature Service, Image Service, Layer.
"""

from __future__ import annotations

from dataclasses import replace

from geocrawl.model import Candidate, Kind, Status
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.arcgis.leads import leads_of
from geocrawl.probe.arcgis.reader import read_arcgis
from geocrawl.probe.json.answer import verdict_on
from geocrawl.probe.json.interview import FOR_PEOPLE, in_turn
from geocrawl.urls import with_parameters

_ANOTHER_FORM_MAY_HELP = FOR_PEOPLE | {"http-400", "http-500", "http-501"}


class ArcGisProbe:
    """Proves ArcGIS folders and services (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.ARCGIS

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.ARCGIS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request `f=json`, and if that is refused `f=pjson`. Two requests at most."""
        forms = (with_parameters(candidate.endpoint.url, {"f": form}) for form in ("json", "pjson"))
        answers = yield from in_turn(forms, read_arcgis, _ANOTHER_FORM_MAY_HELP)
        verdict = verdict_on(answers, candidate)
        if verdict.status is not Status.VALID:
            return verdict
        return replace(verdict, leads=leads_of(answers[-1].value, answers[-1].base))
