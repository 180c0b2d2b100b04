"""Load what each kind of service declares and does, and recognise by their signs what kind a document describes.

A kind is a member of `Kind` and the module of its name in `kinds`. The order of `Kind` decides where signs of several
kinds fit an address or a document: the first kind counts, but WMS, the kind of most addresses without any other sign,
comes last. Modules are imported when a function is called, because they import what recognises documents of all kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from lxml import etree

from geocrawl.formats.json import JsonObject
from geocrawl.formats.xml import attribute, child, children, local_name, namespace_of
from geocrawl.model import Candidate, ContentOutcome, Endpoint, Kind, Page, Purpose, Service, stored_kind
from geocrawl.model.kinds import OWS_ROOT, KindDeclaration, RootIndex
from geocrawl.ports import Ask, AskFields, ContentInterview, Interview
from geocrawl.probe.previews import PreviewOf

_IN_ORDER = (*(kind for kind in Kind if kind is not Kind.WMS), Kind.WMS)


@dataclass(frozen=True, slots=True)
class KindProbe:
    """Proves services of a kind (`ports.Probe`)."""

    kind: Kind
    interview: Callable[[Candidate], Interview]


@dataclass(frozen=True, slots=True)
class KindContentCheck:
    """Checks services of a kind for content (`ports.ContentCheck`)."""

    kind: Kind
    check: Callable[[Endpoint, Service, int], ContentInterview]
    layers: int
    """Most content items of a service that are tried; kinds without a list of contents request one thing."""
    ask_fields: AskFields | None = None

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Request content of a service until some is delivered, then the fields of its features."""
        report = yield from self.check(endpoint, service, self.layers)
        proof = next((each for each in report.attempts if each.outcome is ContentOutcome.OK), None)
        question = self.ask_fields(endpoint, service, proof) if self.ask_fields and proof else None
        if question is None:
            return report
        answer = yield Ask(question.url, Purpose.MAP)
        return replace(report, fields=question.read(answer)) if isinstance(answer, Page) else report


@lru_cache(maxsize=1)
def declarations() -> tuple[KindDeclaration, ...]:
    """Return the declarations of all kinds, in the order in which signs count."""
    return tuple(map(declaration, _IN_ORDER))


def declaration(kind: Kind) -> KindDeclaration:
    """Return the declaration of one kind."""
    known: KindDeclaration = _module(kind).KIND
    return known


@cache
def declared(kind: str) -> KindDeclaration:
    """Return the declaration of a kind by its name in the catalogue; one without properties for an unknown name."""
    return (
        declaration(Kind(kind)) if kind in _IN_ORDER else KindDeclaration(kind=stored_kind(kind), name=kind, proof="")
    )


def probe_of(kind: Kind) -> KindProbe:
    """Return the probe of one kind."""
    return KindProbe(kind, _module(kind).interview)


def probes() -> tuple[KindProbe, ...]:
    """Return one probe for each kind."""
    return tuple(map(probe_of, _IN_ORDER))


def kinds_with_content() -> frozenset[Kind]:
    """Return the kinds that have a content check."""
    return frozenset(kind for kind in Kind if hasattr(_module(kind), "check_content"))


def content_check_of(kind: Kind, *, layers: int = 3) -> KindContentCheck:
    """Return the content check of a kind that has one; `layers`: items of a service tried at most."""
    return KindContentCheck(kind, _module(kind).check_content, layers)


def content_checks(*, layers: int) -> tuple[KindContentCheck, ...]:
    """Return one content check for each kind that has one, which asks for fields, too; `layers`: items of a service
    tried at most."""
    checks = (content_check_of(kind, layers=layers) for kind in _IN_ORDER if kind in kinds_with_content())
    return tuple(replace(each, ask_fields=getattr(_module(each.kind), "ask_fields", None)) for each in checks)


def preview_of(kind: str) -> PreviewOf | None:
    """Return what says how a layer of a kind is shown, by the kind's name in the catalogue; None for one not shown."""
    known: PreviewOf | None = getattr(_module(Kind(kind)), "preview", None) if kind in _IN_ORDER else None
    return known


def _module(kind: Kind) -> Any:
    return import_module(f"geocrawl.probe.kinds.{kind}")


# --------------------------------------------------------------------------- kinds of documents
# `RootIndex` recognises XML; without a namespace, the operations or the content of sections of OWS Common's documents
# decide. Documents in JSON are recognised by their keys.


@lru_cache(maxsize=1)
def _roots() -> RootIndex:
    return RootIndex.of(declarations())


def is_capabilities(root: etree._Element) -> bool:
    """Return whether a root is a capabilities document of any kind, known or not."""
    name = local_name(root)
    return name.endswith("Capabilities") and name != "GetCapabilities"


def kind_of_root(root: etree._Element) -> Kind | None:
    """Return the kind of service that the document describes; None for any other document."""
    name, namespace = local_name(root), namespace_of(root)
    if name.lower() == OWS_ROOT and not namespace:
        return _by_operations(root) or _by_sections(root)
    return _roots().kind(name, namespace)


def is_usual_namespace(namespace: str) -> bool:
    """Return whether a root's namespace is spelt as in a standard."""
    return _roots().is_standard(namespace)


def _by_operations(root: etree._Element) -> Kind | None:
    kinds = {known.operation: known.kind for known in declarations() if known.operation}
    names = (
        attribute(operation, "name").strip() for operation in children(child(root, "OperationsMetadata"), "Operation")
    )
    return next((kinds[name] for name in names if name in kinds), None)


def _by_sections(root: etree._Element) -> Kind | None:
    sections = ((path, known.kind) for known in declarations() for path in known.sections)
    return next((kind for path, kind in sections if child(root, *path) is not None), None)


_SCHEMA = "$schema"


def kind_of_json(value: JsonObject) -> Kind | None:
    """Return the kind of service that the object describes, whole or in part; None for any other object."""
    if _SCHEMA in value and "properties" in value:
        return None
    for declared in declarations():
        if declared.is_document is not None and declared.is_document(value):
            return declared.kind
    return None
