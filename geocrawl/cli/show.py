"""`geocrawl show`: print everything known about one service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.masking import show_in_full
from geocrawl.sanitize import plain
from geocrawl.utc import moment
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.store import EndpointRow, Queries, ServiceDetail


def show(
    overrides: opt.Overrides,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Its number (see search), or an address of it.")],
    json: opt.Json = False,
) -> None:
    """Print everything known about one service: its layers, its addresses, how it was found."""
    show_in_full(opt.settings_from(overrides).export_secrets)
    with opt.reading(overrides) as queries:
        if service.isdecimal():
            found = queries.service(int(service)) if len(service) < 19 else None
        else:
            found = _service_at(queries, service)
    if found is None:
        typer.echo(f"geocrawl: no service {service} in the catalogue (`geocrawl search` lists services)", err=True)
        raise typer.Exit(1)
    if json:
        output.echo_json(asdict(found))
        return
    for line in service_lines(found):
        typer.echo(line)


def _service_at(queries: Queries, text: str) -> ServiceDetail | None:
    """Return the service at an address; of several, the one of the kind that the address names."""
    from geocrawl.cli.addresses import service_address
    from geocrawl.detect import Detector
    from geocrawl.probe.registry import declarations
    from geocrawl.urls import service_keys

    url = service_address(text)
    candidate = Detector(declarations()).of_url(url)
    kind = str(candidate.endpoint.kind) if candidate else ""
    found = (queries.service_at(key, kind) for key in service_keys(url))
    return next((service for service in found if service is not None), None)


def service_lines(service: ServiceDetail) -> Iterator[str]:
    """Yield the lines of `geocrawl show`: the service, its layers as a tree, its endpoints with their evidence."""
    yield f"{service.kind.upper()} {service.version}  {plain(service.title, 200)}   (service {service.id})"
    facts = {
        "abstract": service.abstract,
        "keywords": ", ".join(service.keywords),
        "provider": service.provider,
        "contact": ", ".join(str(value) for value in service.contact.values()),
        "fees": service.fees,
        "access": service.access_constraints,
        "formats": ", ".join(service.formats),
        "extent": ", ".join(f"{side:g}" for side in service.box) if service.box else "",
    }
    for name, value in facts.items():
        if value:
            yield f"  {name:<9} {plain(value, 600)}"
    yield f"  first seen {moment(service.first_seen)}, last valid {moment(service.last_ok)} UTC"
    yield f"  {counted(service.layer_count, 'named layer')}"
    depth: dict[int, int] = {}
    for layer in service.layers[:200]:
        depth[layer.position] = depth.get(layer.parent, 0) + 1 if layer.parent is not None else 0
        indent = "  " * min(depth[layer.position], 12)
        yield f"    {indent}{plain(layer.name or '(group)', 80)}  {plain(layer.title, 120)}"
    if len(service.layers) > 200:
        yield f"    … and {len(service.layers) - 200:,} more (--json has all)"
    if len(service.endpoints) > 1 or service.same:
        yield from _same_lines(service)
    for endpoint in service.endpoints:
        yield from endpoint_lines(endpoint)


def _same_lines(service: ServiceDetail) -> Iterator[str]:
    """Yield why several addresses are one service, and which is the best."""
    yield f"  {counted(len(service.endpoints), 'address')}; the best is {service.best}"
    for each in service.same[:20]:
        joined = "is" if each.same else "is not"
        yield f"    {each.first} {joined} {each.second}"
        yield f"      {each.signal}: {plain(each.detail, 200)}"


def endpoint_lines(endpoint: EndpointRow) -> Iterator[str]:
    verdict = f"{endpoint.status or 'no verdict'}" + (f" ({endpoint.reason})" if endpoint.reason else "")
    yield f"  {plain(endpoint.url, 300)}"
    probed = counted(endpoint.probes, "time")
    yield f"    {endpoint.kind} {verdict}, probed {probed}, last {moment(endpoint.last_probe)} UTC"
    if request := _capabilities_request(endpoint):
        yield f"    capabilities: {request}"
    if endpoint.detail:
        yield f"    {plain(endpoint.detail, 300)}"
    if endpoint.entry_id is not None:
        yield f"    in the log: visit={endpoint.entry_id}.…"
    if endpoint.level:
        yield f"    {endpoint.level}, content checked {moment(endpoint.proved_at)} UTC"
    for each in endpoint.proof:
        layer, detail = plain(str(each["layer"]), 60), plain(str(each["detail"]), 120)
        yield f"      {each['outcome']}  {layer}  {each['crs']}  {each['milliseconds']} ms  {detail}"
    if endpoint.deviations:
        yield "    tolerated: " + ", ".join(plain(str(d.get("code", "")), 60) for d in endpoint.deviations)
    for evidence in endpoint.evidence[:5]:
        anchor = f" “{plain(str(evidence['anchor']), 80)}”" if evidence["anchor"] else ""
        where = plain(str(evidence["page"]), 200) or "the command line"
        yield f"    found by {evidence['signal']}{anchor} on {where}"


_ASKED_BY_KEY_AND_VALUE = ("wms", "wfs", "wcs", "csw", "wps", "sos")


def _capabilities_request(endpoint: EndpointRow) -> str:
    """Return the address that map clients accept for a valid OGC service; '' for other kinds, and without a verdict."""
    from geocrawl.urls import capabilities_url, read_url

    url = read_url(endpoint.url)
    if url is None or endpoint.status != "valid" or endpoint.kind not in _ASKED_BY_KEY_AND_VALUE:
        return ""
    if url.address.partition("?")[0].lower().endswith(".xml"):  # a static file: it accepts no parameters
        return ""
    return plain(capabilities_url(url, service=endpoint.kind.upper()).address, 400)
