// A map viewer as OpenLayers' examples write one: an image of a WMS, tiles of a WMTS, features of a WFS.
import Map from "ol/Map.js";
import View from "ol/View.js";
import GeoJSON from "ol/format/GeoJSON.js";
import WMTSCapabilities from "ol/format/WMTSCapabilities.js";
import ImageLayer from "ol/layer/Image.js";
import TileLayer from "ol/layer/Tile.js";
import VectorLayer from "ol/layer/Vector.js";
import ImageWMS from "ol/source/ImageWMS.js";
import VectorSource from "ol/source/Vector.js";
import WMTS, { optionsFromCapabilities } from "ol/source/WMTS.js";

const target = document.createElement("div");
target.style.cssText = "width: 600px; height: 400px";
document.body.append(target);
const map = new Map({ target, view: new View({ center: [0, 0], zoom: 2 }) });

const project = await (await fetch("project")).json();
const at = (name) => `${project.root}/${name}`;
map.addLayer(new ImageLayer({ source: new ImageWMS({ url: at(project.image), params: { LAYERS: "a" } }) }));
map.addLayer(
  new VectorLayer({
    source: new VectorSource({
      format: new GeoJSON(),
      url: `${at(project.features)}?service=WFS&version=2.0.0&request=GetFeature&typeNames=a&outputFormat=application/json`,
    }),
  }),
);
const text = await (await fetch(`${at(project.tiles)}?SERVICE=WMTS&REQUEST=GetCapabilities`)).text();
const options = optionsFromCapabilities(new WMTSCapabilities().read(text), { layer: "a", matrixSet: "a" });
if (options) map.addLayer(new TileLayer({ source: new WMTS(options) }));
