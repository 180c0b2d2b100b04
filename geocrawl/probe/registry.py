"""Every probe and every prover: a new kind is its file and its lines here."""

from __future__ import annotations

from geocrawl.ports import ContentCheck, Probe


def probes() -> tuple[Probe, ...]:
    """One a kind; of two that fit a candidate equally well, the first is asked."""
    from geocrawl.probe.arcgis.probe import ArcGisProbe
    from geocrawl.probe.csw.probe import CswProbe
    from geocrawl.probe.ogcapi.probe import OgcApiProbe
    from geocrawl.probe.sos.probe import SosProbe
    from geocrawl.probe.stac.probe import StacProbe
    from geocrawl.probe.tilejson.probe import TileJsonProbe
    from geocrawl.probe.tms.probe import TmsProbe
    from geocrawl.probe.wcs.probe import WcsProbe
    from geocrawl.probe.wfs.probe import WfsProbe
    from geocrawl.probe.wms.probe import WmsProbe
    from geocrawl.probe.wmsc.probe import WmscProbe
    from geocrawl.probe.wmts.probe import WmtsProbe
    from geocrawl.probe.wps.probe import WpsProbe

    return (
        WmsProbe(),
        WfsProbe(),
        WmtsProbe(),
        WcsProbe(),
        CswProbe(),
        WpsProbe(),
        SosProbe(),
        ArcGisProbe(),
        OgcApiProbe(),
        StacProbe(),
        TmsProbe(),
        TileJsonProbe(),
        WmscProbe(),
    )


def content_checks(*, layers: int) -> tuple[ContentCheck, ...]:
    """One a kind that can be asked for content; `layers`: items of a service tried at most."""
    from geocrawl.probe.arcgis.content import ArcGisContentCheck
    from geocrawl.probe.csw.content import CswContentCheck
    from geocrawl.probe.ogcapi.content import OgcApiContentCheck
    from geocrawl.probe.stac.content import StacContentCheck
    from geocrawl.probe.tms.content import TmsContentCheck
    from geocrawl.probe.wfs.content import WfsContentCheck
    from geocrawl.probe.wms.content import WmsContentCheck
    from geocrawl.probe.wmts.content import WmtsContentCheck

    return (
        WmsContentCheck(layers=layers),
        WfsContentCheck(layers=layers),
        WmtsContentCheck(layers=layers),
        CswContentCheck(),
        ArcGisContentCheck(layers=layers),
        OgcApiContentCheck(layers=layers),
        StacContentCheck(),
        TmsContentCheck(layers=layers),
    )
