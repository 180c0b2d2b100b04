"""Probe a WMS: request GetCapabilities in the order 1.3.0, no version, 1.1.1, 1.0.0 (WMS 1.3.0, 6.2.4).

The request of version 1.0.0 has other parameters (WMTVER, REQUEST=capabilities), and is made only if an answer hints at
that version, or does not know the request. To a server that misses a parameter which it was sent, the names are sent in
lower case.

An answer is accepted as in the gws paper (Shen et al. 2015): the root is `WMS_Capabilities` or `WMT_MS_Capabilities`
and has `Service` and `Capability`, after tolerant reading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, local_name, namespace_of
from geocrawl.model import Candidate, Deviation, Kind, Service, Url
from geocrawl.ports import Interview
from geocrawl.probe.interview import Answer, Question, is_file, run
from geocrawl.probe.kinds.wms.layers import LAYERS, layer_spec
from geocrawl.probe.ows.capabilities import Form, OwsProbe, Part, Said, examine, version_of, with_layers
from geocrawl.probe.stream import ItemSpec
from geocrawl.urls import capabilities_url, read_url

_NAMESPACE = "http://www.opengis.net/wms"
_ROOTS = {"wms_capabilities": "WMS_Capabilities", "wmt_ms_capabilities": "WMT_MS_Capabilities"}
_OLD = re.compile(r"wmtver|request=capabilities|request=map\b|\b1\.0\.0\b", re.IGNORECASE)
_UNKNOWN_REQUEST = re.compile(
    r"(?:unknown|invalid|unsupported|illegal|unrecogni[sz]ed|bad)\W+(?:wms\W+)?(?:request|operation)\b"
    r"|\b(?:request|operation)\b.{0,40}(?:unknown|not (?:supported|recogni[sz]ed|known)|invalid)",
    re.IGNORECASE,
)
_OLDEST = "oldest-dialect"


class WmsForm(Form):
    """The form of the capabilities of a WMS, which are older than OWS Common."""

    def item_spec(self) -> ItemSpec[Part]:
        """Return how the layers of one document are read, with a cache for that document."""
        return layer_spec()

    def version_of_root(self, root: etree._Element) -> str:
        """Return the version that the root's name stands for."""
        return "1.3.0" if local_name(root).lower() == "wms_capabilities" else "1.1.1"

    def missing(self, root: etree._Element) -> str:
        """Return which of the two sections a document lacks; '' when neither."""
        return " and ".join(part for part in sorted(self.sections, reverse=True) if child(root, part) is None)

    def root_deviations(self, root: etree._Element) -> list[Deviation]:
        """Return departures in name, version and namespace (WMS 1.3.0, 7.2.4.1 and annex E; 1.1.1, annex A)."""
        found = []
        name, version = local_name(root), version_of(root)
        if name != _ROOTS[name.lower()]:
            found.append(Deviation("root-case", name))
        if not version:
            found.append(Deviation("no-version", f"taken for {self.version_of_root(root)}"))
        if version and (name.lower() == "wms_capabilities") != version.startswith("1.3"):
            found.append(Deviation("root-name", f"{name} for version {version}"))
        expected = _NAMESPACE if (version or self.version_of_root(root)).startswith("1.3") else None
        namespace = namespace_of(root) or None
        if namespace != expected:
            code = "namespace-missing" if namespace is None else "namespace-wrong"
            found.append(Deviation(code, f"{namespace or 'none'} instead of {expected or 'none'}"))
        return found


def _finish(said: Said, parts: Sequence[Part]) -> Service:
    """Add layers, and formats and address of GetMap, which is called Map before 1.1.0."""
    formats = said.operations.values("GetMap", "format") or said.operations.values("Map", "format")
    address = said.operations.address("GetMap", "Map")
    return replace(with_layers(said, parts), formats=formats, content_address=address)


FORM = WmsForm(
    kind=Kind.WMS,
    sections=frozenset({"Service", "Capability"}),
    contents=frozenset({"Capability"}),
    items=LAYERS,
    finish=_finish,
    usual_version="1.3.0",
    noun="layers",
)


class WmsProbe(OwsProbe):
    """Proves WMS endpoints, at most five requests (`ports.Probe`)."""

    def __init__(self) -> None:
        super().__init__(FORM, ("1.3.0", None, "1.1.1"), lower_case=True)

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide, the oldest version only after a hint at it."""

        def can_help(question: Question, answers: Sequence[Answer]) -> bool:
            texts = (candidate.evidence.link, *(each.finding.detail for each in answers))
            if question.deviation == _OLDEST:
                return any(_OLD.search(text) or _UNKNOWN_REQUEST.search(text) for text in texts)
            return True

        questions = self.questions(candidate.endpoint.url)
        return run(candidate, questions, lambda page: examine(page, FORM), can_help)

    def questions(self, endpoint: Url) -> tuple[Question, ...]:
        """Return all requests that may be made, in order: that of 1.0.0 before the one in lower case."""
        questions = super().questions(endpoint)
        if is_file(endpoint):
            return questions
        oldest = Question("1.0.0", _oldest_request(endpoint), deviation=_OLDEST)
        return (*questions[:-1], oldest, questions[-1])


def _oldest_request(endpoint: Url) -> Url:
    """Return the GetCapabilities request of WMS 1.0.0 (6.2.5)."""
    modern = capabilities_url(endpoint).address
    old = modern.replace("REQUEST=GetCapabilities", "WMTVER=1.0.0&REQUEST=capabilities")
    return read_url(old) or endpoint


interview = WmsProbe().interview
