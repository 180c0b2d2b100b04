"""Every probe and every prover: a new kind is its file and its lines here."""

from __future__ import annotations

from geocrawl.ports import ContentCheck, Probe


def probes() -> tuple[Probe, ...]:
    """One a kind; of two that fit a candidate equally well, the first is asked."""
    from geocrawl.probe.arcgis import ArcGisProbe
    from geocrawl.probe.csw import CswProbe
    from geocrawl.probe.ogcapi import OgcApiProbe
    from geocrawl.probe.sos import SosProbe
    from geocrawl.probe.stac import StacProbe
    from geocrawl.probe.tilejson import TileJsonProbe
    from geocrawl.probe.tms import TmsProbe
    from geocrawl.probe.wcs import WcsProbe
    from geocrawl.probe.wfs import WfsProbe
    from geocrawl.probe.wms import WmsProbe
    from geocrawl.probe.wmsc import WmscProbe
    from geocrawl.probe.wmts import WmtsProbe
    from geocrawl.probe.wps import WpsProbe

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
    from geocrawl.probe.maps import WmsContentCheck
    from geocrawl.probe.proof_arcgis import ArcGisContentCheck
    from geocrawl.probe.proof_csw import CswContentCheck
    from geocrawl.probe.proof_ogcapi import OgcApiContentCheck
    from geocrawl.probe.proof_stac import StacContentCheck
    from geocrawl.probe.proof_tms import TmsContentCheck
    from geocrawl.probe.proof_wfs import WfsContentCheck
    from geocrawl.probe.proof_wmts import WmtsContentCheck

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
