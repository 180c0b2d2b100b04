"""Probe a kind of OWS Common: request its capabilities, read an answer as such, or classify it by its fault.

Each kind passes its `CapabilitiesForm`: the sections of its document, how a content item is read, and what of the rest
belongs to the service. A document is accepted if its root is one of the kind (`roots`) and contains at least one of its
sections. OWS Common lets a server omit any section (OGC 06-121r9, 7.2.3 and table 11), so missing ones are noted and
tolerated; a root without sections must have the kind's namespace and a version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from lxml import etree

from geocrawl.formats.xml import Cut, attribute, child, children, first, local_name, namespace_of, text_of
from geocrawl.model import Candidate, Deviation, Kind, Layer, Page, Service, Url
from geocrawl.model.kinds import service_parameter
from geocrawl.ports import Interview
from geocrawl.probe.answer import Classification, answer_deviations, rejection, without_body
from geocrawl.probe.interview import Question, as_linked, by_version, is_file, lower_case_question, run
from geocrawl.probe.ows.addresses import address_deviations
from geocrawl.probe.ows.owslib_reader import Operations, read_operations, read_service
from geocrawl.probe.registry import is_usual_namespace, kind_of_root
from geocrawl.probe.stream import STREAM_BYTES, Items, ItemSpec, read_items
from geocrawl.sanitize import ending_of

_ROOTS = frozenset({"Capabilities", "WFS_Capabilities", "WCS_Capabilities"})
_MAX_DETAIL_CHARS = 200


@dataclass(frozen=True, slots=True)
class Part:
    """A content item as read from the document."""

    layer: Layer
    codes: tuple[str, ...] = ()
    """Codes of deviations in the item."""
    refers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of objects that the document describes elsewhere, such as the tile matrix sets of a WMTS layer, each with
    the names of those of its parts that are meant: () for all."""


@dataclass(frozen=True, slots=True)
class ServiceMetadata:
    """A document's root with what it says about its service and operations."""

    root: etree._Element
    service: Service
    """The service without formats and content items."""
    operations: Operations


def with_layers(metadata: ServiceMetadata, parts: Sequence[Part]) -> Service:
    """Return the service with its content items as layers."""
    return replace(metadata.service, layers=tuple(part.layer for part in parts))


@dataclass(frozen=True, slots=True)
class CapabilitiesForm:
    """The form of the capabilities of one kind of OWS Common. A kind whose documents are older overrides methods."""

    kind: Kind
    sections: frozenset[str]
    """Sections; a document must have at least one."""
    contents: frozenset[str]
    """The section with the content items, by any of its names; empty for a kind without one."""
    items: ItemSpec[Part]
    usual_version: str
    """Version that is assumed if the document names none."""
    finish: Callable[[ServiceMetadata, Sequence[Part]], Service] = with_layers
    """Function of (what the document says, its items) that returns the service with layers and formats."""
    noun: str = "items"
    """What content items are called in the details of deviations."""

    def item_spec(self) -> ItemSpec[Part]:
        """Return how the items of one document are read."""
        return self.items

    def describe(self, root: etree._Element) -> ServiceMetadata:
        """Return what a document says about its service and operations."""
        service = read_service(root, self.kind, version_of(root) or self.version_of_root(root))
        return ServiceMetadata(root, replace(service, language=_language(root)), read_operations(root, self.kind))

    def version_of_root(self, root: etree._Element) -> str:
        """Return the version of a document that names none."""
        return self.usual_version

    def missing(self, root: etree._Element) -> str:
        """Return what a document lacks that capabilities of the kind must have; '' when nothing."""
        if self._present(root) or (version_of(root) and namespace_of(root)):
            return ""
        return f"any of {', '.join(sorted(self.sections))}"

    def root_deviations(self, root: etree._Element) -> list[Deviation]:
        """Return the departures of a document's root and sections."""
        deviations = []
        if not version_of(root):
            deviations.append(Deviation("no-version", f"taken for {self.usual_version}"))
        if local_name(root) not in _ROOTS:
            deviations.append(Deviation("root-case", local_name(root)))
        if not (namespace := namespace_of(root)):
            deviations.append(Deviation("namespace-missing", local_name(root)))
        elif not is_usual_namespace(namespace):
            deviations.append(Deviation("namespace-wrong", namespace[:_MAX_DETAIL_CHARS]))
        if self.contents and not self._present(root) & self.contents:
            deviations.append(Deviation("section-missing", f"no {' or '.join(sorted(self.contents))}"))
        elif child(root, "ServiceIdentification") is None and child(root, "Service") is None:
            deviations.append(Deviation("section-missing", "no ServiceIdentification"))
        return deviations

    def _present(self, root: etree._Element) -> frozenset[str]:
        return self.sections & {local_name(section) for section in root}


class OwsProbe:
    """Proves services of a kind by their capabilities (`ports.Probe`)."""

    def __init__(self, form: CapabilitiesForm, versions: Sequence[str | None], *, lower_case: bool = False) -> None:
        """Make a probe that requests these versions in order; None: without VERSION.

        `lower_case`: whether a server that misses a parameter, although it was sent, gets the names in lower case.
        """
        self.kind = form.kind
        self._form, self._versions, self._lower_case = form, versions, lower_case

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide: one request a version at most, one in lower case, and one as
        the link spells it."""
        questions = (*self.questions(candidate.endpoint.url), *as_linked(candidate))
        return run(candidate, questions, partial(examine, form=self._form))

    def questions(self, endpoint: Url) -> tuple[Question, ...]:
        """Return all requests that may be made, in order."""
        service = service_parameter(self.kind)
        questions = by_version(endpoint, service, self._versions)
        if not self._lower_case or is_file(endpoint):
            return questions
        return (*questions, lower_case_question(endpoint, service))


_EXTENSIONS = ("ExtendedCapabilities", "_ExtendedCapabilities", "VendorSpecificCapabilities")


def _language(root: etree._Element) -> str:
    """Return the language in which a document says that it answers (INSPIRE's extended capabilities); '' for none."""
    section = child(root, "Capability")
    parts = children(child(root, "OperationsMetadata") if section is None else section)
    stated = (first(part, "ResponseLanguage", "Language") for part in parts if local_name(part) in _EXTENSIONS)
    return next((text_of(element) for element in stated if element is not None), "")


def version_of(root: etree._Element) -> str:
    """Return the root's `version`; '' without one."""
    return attribute(root, "version").strip()


def examine(page: Page, form: CapabilitiesForm, *, above: int = STREAM_BYTES) -> Classification:
    """Classify an answer; a body of more than `above` bytes is streamed. Never raises, whatever the body."""
    if (found := without_body(page)) is not None:
        return found
    read = read_items(page.body, page.headers.get("content-type", ""), form.item_spec(), cut=page.cut, above=above)
    root = read.reading.root
    if root is None or kind_of_root(root) is not form.kind:
        return rejection(page, read.reading)
    return _capabilities(page, form, root, read)


def _capabilities(page: Page, form: CapabilitiesForm, root: etree._Element, read: Items[Part]) -> Classification:
    reading, parts = read.reading, read.items
    if reading.cut is Cut.INSIDE:
        return Classification("truncated", ending_of(page.body), deviations=reading.deviations)
    if missing := form.missing(root):
        return Classification("not-capabilities", f"{local_name(root)} without {missing}")
    if reading.cut is Cut.OVER_LIMIT and form.contents and not parts:
        return Classification(
            "over-limit", f"the limit was reached before any {form.noun}", deviations=reading.deviations
        )
    metadata = form.describe(root)
    of_root = (*form.root_deviations(root), *address_deviations(metadata.operations, page.final))
    return Classification(
        "ok",
        "",
        form.finish(metadata, parts),
        (*answer_deviations(page), *reading.deviations, *of_root, *_item_deviations(parts, form.noun)),
    )


def _item_deviations(parts: Sequence[Part], noun: str) -> list[Deviation]:
    """Return one deviation for each code, with a count and the first item's name."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for part in parts:
        for code in part.codes:
            counts[code] += 1
            first.setdefault(code, part.layer.name or part.layer.title)
    return [Deviation(code, f"{n} {noun}, first: {first[code]}"[:_MAX_DETAIL_CHARS]) for code, n in counts.items()]


def union(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return all entries of the lists, each once, in order."""
    return tuple(dict.fromkeys(entry for list_ in lists for entry in list_))
