"""Declare the signs of WMS. An address is of the first form of path that it fits."""

from __future__ import annotations

from geocrawl.model import Kind
from geocrawl.model.kinds import KindDeclaration, ParameterForm, PathForm, QgisLayer, program_in_folder

PATHS = (
    PathForm(
        name="a path that ends in wms",
        hint="wms",
        path="[/_.]wms[0-9]{0,3}(?:/v?1[.0-9]*)?/?$",
        example="https://maps.example.org/geology/wms",
    ),
    PathForm(
        name="a path that ends in ows (GeoServer, OneGeology, MapServer rewritten)",
        hint="ows",
        path="[/.]ows/?$",
        example="https://maps.example.org/geoserver/topp/ows",
    ),
    PathForm(
        name="wms as a program or page (CGI, ASP, ASP.NET, PHP, Java, ISAPI)",
        hint="wms",
        path=r"/[a-z0-9_-]{0,20}wms[a-z0-9]{0,4}\.(?:cgi|fcgi|pl|py|exe|dll|asp|aspx|ashx|php|jsp|map)$",
        example="https://gibs.example.org/wms/epsg4326/best/wms.cgi",
    ),
    program_in_folder("wms", "https://maps.example.org/roads/wms/service"),
    PathForm(
        name="GeoServer: workspace or layer before the service",
        hint="geoserver/",
        path="/geoserver/(?:[^/]+/){0,3}(?:ows|wms|gwc/service/wms)/?$",
        example="http://maps.example.org/geoserver/topp/states/wms",
    ),
    PathForm(
        name="MapServer",
        hint="mapserv",
        path=r"/(?:mapserv|(?:cgi|fcgi)(?:-bin)?/(?:[^/]+/)?mapserver)[0-9_.]{0,6}(?:_proxy|_wms)?(?:\.exe|\.fcgi|\.cgi|\.pl|\.sh|\.map)?/?$",
        example="http://maps.example.org/cgi-bin/mapserv?map=/data/roads.map",
    ),
    PathForm(
        name="MapServer: the map's name behind the program",
        hint="mapserv",
        path=r"/mapserv(?:\.exe|\.fcgi|\.cgi)?/[^/]+/?$",
        example="http://maps.example.org/cgi-bin/mapserv/roads",
    ),
    PathForm(
        name="QGIS Server",
        hint="qgis",
        path=r"/qgis[-_]?(?:server|mapserv)(?:\.fcgi|\.cgi)?(?:/[^/.]+)?/?$",
        example="http://maps.example.org/cgi-bin/qgis_mapserv.fcgi?map=/data/roads.qgs",
    ),
    PathForm(
        name="Lizmap",
        hint="lizmap/service",
        path=r"/index\.php/lizmap/service/?$",
        example="https://maps.example.org/lizmap/www/index.php/lizmap/service?repository=a&project=b",
    ),
    PathForm(
        name="ArcGIS Server",
        hint="wmsserver",
        path="/wmsserver/?$",
        example="https://gis.example.org/arcgis/services/Roads/MapServer/WMSServer",
    ),
    PathForm(
        name="ArcGIS for INSPIRE, views",
        hint="/exts/inspireview/",
        path="/exts/inspireview/(?:[a-z]{2,3}/)?service/?$",
        example="https://gis.example.org/arcgis/rest/services/Roads/MapServer/exts/InspireView/service",
    ),
    PathForm(
        name="ArcIMS WMS connector",
        hint="esrimap",
        path=r"/com\.esri\.wms\.esrimap(?:/[^/]+)?$",
        example="http://gis.example.org/wmsconnector/com.esri.wms.Esrimap?ServiceName=roads",
    ),
    PathForm(
        name="ArcIMS WMS connector, its servlet's folder alone",
        hint="wmsconnector",
        path="/wmsconnector/[^/]+$",
        example="http://gis.example.org/wmsconnector/roads",
    ),
    PathForm(
        name="SuperMap iServer",
        hint="/wms1",
        path="/services/[^/]+/wms1(?:11|30)(?:/[^/]+)?/?$",
        example="http://map.example.cn:8090/iserver/services/map-china400/wms111/China",
    ),
    PathForm(
        name="MapGIS IGServer",
        hint="/igs/rest/ogc/",
        path="/igs/rest/ogc/.*(?:wms|wmsserver|doc/[^/]+)/?$",
        example="http://map.example.cn:6163/igs/rest/ogc/doc/roads/WMSServer",
    ),
    PathForm(
        name="deegree",
        hint="/services",
        path="/(?:deegree[a-z0-9-]*|[a-z0-9-]+-workspace)/services(?:/[a-z0-9_-]*wms[a-z0-9_-]*)?/?$",
        example="http://maps.example.org/deegree-webservices/services/inspire_wms",
    ),
    PathForm(
        name="MapProxy",
        hint="mapproxy",
        path="/mapproxy(?:/[^/]+)?/service/?$",
        example="https://maps.example.org/mapproxy/service",
    ),
    PathForm(
        name="MapCache",
        hint="mapcache",
        path="/mapcache(?:/wms)?/?$",
        example="https://maps.example.org/mapcache/",
    ),
    PathForm(
        name="TileCache",
        hint="tilecache",
        path=r"/tilecache(?:\.cgi|\.py|\.fcgi)?/?$",
        example="http://maps.example.org/cgi-bin/tilecache.cgi",
    ),
    PathForm(
        name="THREDDS, a data set's map service",
        hint="/thredds/wms/",
        path="/thredds/wms/.+[^/]$",
        example="https://data.example.org/thredds/wms/ocean/sst.nc",
    ),
    PathForm(
        name="ERDDAP, a data set's map service",
        hint="/erddap/wms/",
        path="/erddap/wms/[^/]+/request$",
        example="https://data.example.org/erddap/wms/sst/request",
    ),
    PathForm(
        name="ERDAS Apollo",
        hint="erdas-iws/",
        path="/erdas-iws/ogc/wms/?[^/]*$",
        example="https://images.example.org/erdas-iws/ogc/wms/orthophotos",
    ),
    PathForm(
        name="ERDAS and ER Mapper image web server",
        hint="ecw_wms",
        path=r"/ecw_wms\.dll$",
        example="http://images.example.org/ecwp/ecw_wms.dll?orthophotos",
    ),
    PathForm(
        name="ESRI and Intergraph GeoMedia WebMap",
        hint="/request.asp",
        path=r"/[^/]*(?:wms|ogc|map|geomedia)[^/]*/request\.aspx?$",
        example="http://gis.example.org/wms_roads/request.asp",
    ),
    PathForm(
        name="CubeWerx",
        hint="cubeserv",
        path=r"/cubeserv(?:\.cgi)?/?$",
        example="http://maps.example.org/cubewerx/cubeserv.cgi",
    ),
    PathForm(
        name="a path that ends in wxs (all services of one program)",
        hint="wxs",
        path="/wxs/?$",
        example="https://maps.example.org/cgi-bin/wxs",
    ),
    PathForm(
        name="a folder of OGC services",
        hint="/ogc/",
        path="/ogc/wms(?:/[^/.]+)?/?$",
        example="https://maps.example.org/ogc/wms/roads",
    ),
    PathForm(
        name="a capabilities document in a file",
        hint="wms",
        path=r"/[^/]*wms[^/]*(?:capabilities|getcap|caps)[^/]*\.xml$",
        example="https://maps.example.org/wms_capabilities.xml",
    ),
)

PARAMETERS = (
    ParameterForm(
        name="map", value=r"\.(?:map|qgs|qgz)$", example="https://maps.example.org/cgi-bin/roads?map=/data/roads.map"
    ),
)


KIND = KindDeclaration(
    kind=Kind.WMS,
    name="OGC Web Map Service",
    proof="capabilities 1.0.0 to 1.3.0 with Service and Capability",
    services=frozenset({"wms", "ogc:wms"}),
    requests=frozenset({"getmap", "getfeatureinfo", "getlegendgraphic", "describelayer", "getstyles"}),
    old_requests=frozenset({"capabilities", "map", "feature_info"}),
    paths=PATHS,
    parameters=PARAMETERS,
    # A request without parameters is answered with an exception report (WMS 1.3.0, annex E.2). The first versions of
    # WFS and WCS send the same report, and are usually next to a WMS.
    roots=frozenset({"wms_capabilities", "wmt_ms_capabilities"}),
    error_roots=frozenset({"serviceexceptionreport", "wmtexception"}),
    instead=Kind.WFS,
    client="owslib.wms:WebMapService",
    client_versions=("1.1.1", "1.3.0"),
    connections={"": "wms"},
    qgis_layers=(
        QgisLayer(
            provider="wms",
            type="raster",
            source="crs={crs}&dpiMode=7&format=image/png&layers={name_quoted}&styles=&url={address_quoted}",
        ),
    ),
    web_maps={"openlayers": "wms", "leaflet": "wms"},
    layers_by_name=True,
    snippets={
        "openlayers": """\
import ImageLayer from 'ol/layer/Image.js';
import ImageWMS from 'ol/source/ImageWMS.js';

const source = new ImageWMS({url: $url, params: {LAYERS: $layer}});
const layer = new ImageLayer({source});""",
        "leaflet": "L.tileLayer.wms($url, {layers: $layer, format: 'image/png', transparent: true}).addTo(map);",
    },
)
