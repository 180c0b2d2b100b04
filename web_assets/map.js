// The maps of geocrawl's pages: extents of services on a base map, drawing of a box, previews of layers, which are drawn
// here of what the page's server relays.
// Built into geocrawl/web/static/map.js by `make web-assets`. Everything it asks for comes from the page's own server.
import Feature from "ol/Feature.js";
import OlMap from "ol/Map.js";
import View from "ol/View.js";
import { defaults as defaultControls } from "ol/control/defaults.js";
import Attribution from "ol/control/Attribution.js";
import { createEmpty, extend, getCenter, getHeight, getWidth, isEmpty } from "ol/extent.js";
import GeoJSON from "ol/format/GeoJSON.js";
import { defaults as defaultInteractions } from "ol/interaction/defaults.js";
import DragBox from "ol/interaction/DragBox.js";
import ImageLayer from "ol/layer/Image.js";
import LayerGroup from "ol/layer/Group.js";
import TileLayer from "ol/layer/Tile.js";
import VectorLayer from "ol/layer/Vector.js";
import Polygon, { fromExtent } from "ol/geom/Polygon.js";
import MultiPolygon from "ol/geom/MultiPolygon.js";
import { get as projectionOf, transformExtent } from "ol/proj.js";
import ImageSource from "ol/source/Image.js";
import VectorSource from "ol/source/Vector.js";
import XYZ from "ol/source/XYZ.js";
import Circle from "ol/style/Circle.js";
import Fill from "ol/style/Fill.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";

const WORLD = [-180, -85, 180, 85];
const HALF_WORLD = 180;
const SMALL_PIXELS = 9;

/** Return a colour of the style sheet, so that the map follows the light and the dark look. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Return the base map: tiles that the operator chose (setting base_map), else the shipped outlines of countries. */
function baseLayer(projection) {
  const { baseMap, baseMapCredit } = document.documentElement.dataset;
  if (baseMap) {
    const credit = document.createElement("span");
    credit.textContent = baseMapCredit;
    return new TileLayer({ source: new XYZ({ url: baseMap, attributions: credit.innerHTML, crossOrigin: "anonymous" }) });
  }
  const format = new GeoJSON({ dataProjection: "EPSG:4326", featureProjection: projection });
  const source = new VectorSource({
    format,
    url: document.documentElement.dataset.world,
    attributions: "Natural Earth",
  });
  const style = () =>
    new Style({
      fill: new Fill({ color: colour("--land") }),
      stroke: new Stroke({ color: colour("--border-of-land"), width: 0.6 }),
    });
  return new VectorLayer({ source, style, declutter: false });
}

/** Return the geometry of a box in degrees; two parts when it crosses the antimeridian. */
function geometryOf(box, projection) {
  const [west, south, east, north] = box;
  const parts = west <= east ? [[west, south, east, north]] : [[west, south, 180, north], [-180, south, east, north]];
  const clipped = parts.map(([w, s, e, n]) => [w, Math.max(s, -85.06), e, Math.min(n, 85.06)]);
  const rings = clipped.map((each) => fromExtent(transformExtent(each, "EPSG:4326", projection)).getCoordinates());
  return rings.length === 1 ? new Polygon(rings[0]) : new MultiPolygon(rings);
}

function extentStyle(feature, resolution) {
  const strong = feature.get("strong");
  const line = colour(feature.get("chosen") ? "--chosen" : "--accent");
  const extent = feature.getGeometry().getExtent();
  let geometry = feature.getGeometry();
  if (Math.max(getWidth(extent), getHeight(extent)) / resolution < SMALL_PIXELS) {
    const [x, y] = getCenter(extent);
    const half = (SMALL_PIXELS / 2) * resolution;
    geometry = fromExtent([x - half, y - half, x + half, y + half]);
  }
  return new Style({
    geometry,
    stroke: new Stroke({ color: line, width: strong ? 2.5 : 1.2 }),
    fill: new Fill({ color: strong ? `${line}38` : `${line}06` }),
    zIndex: strong ? 2 : 1,
  });
}

function outlineStyle() {
  const stroke = new Stroke({ color: colour("--accent"), width: 2 });
  const fill = new Fill({ color: `${colour("--accent")}3c` });
  return new Style({ stroke, fill, image: new Circle({ radius: 4, fill: new Fill({ color: colour("--accent") }) }) });
}

function makeMap(target, layers, projection, interactions = []) {
  const world = transformExtent(WORLD, "EPSG:4326", projection);
  const map = new OlMap({
    target,
    layers: [baseLayer(projection), ...layers],
    controls: defaultControls({ attribution: false, rotate: false }).extend([
      new Attribution({ collapsible: false }),
    ]),
    interactions: defaultInteractions({ altShiftDragRotate: false, pinchRotate: false, onFocusOnly: false }).extend(
      interactions,
    ),
    view: new View({ projection, extent: world, showFullExtent: true, center: getCenter(world), zoom: 0, maxZoom: 20 }),
  });
  map.getView().fit(world);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    map.getLayers().forEach((layer) => layer.changed()),
  );
  return map;
}

function fitTo(map, extent) {
  if (extent && !isEmpty(extent)) {
    map.getView().fit(extent, { padding: [24, 24, 24, 24], maxZoom: 12, duration: 0 });
  }
}

// ---------------------------------------------------------------------------------------------- results

function extentsOnPage() {
  const element = document.getElementById("extents");
  return element ? JSON.parse(element.textContent) : [];
}

function resultsMap(element) {
  const projection = "EPSG:4326";
  const source = new VectorSource();
  const drawn = new VectorSource();
  const layers = [
    new VectorLayer({ source, style: extentStyle }),
    new VectorLayer({ source: drawn, style: extentStyle }),
  ];
  const box = new DragBox({ condition: (event) => drawing || event.originalEvent.shiftKey, className: "drawn-box" });
  const map = makeMap(element, layers, projection, [box]);
  const field = document.getElementById("bbox");
  const button = document.querySelector("[data-draw]");
  let drawing = false;

  function setDrawing(wanted) {
    drawing = wanted;
    button?.setAttribute("aria-pressed", String(wanted));
    element.classList.toggle("is-drawing", wanted);
  }

  function showBox() {
    drawn.clear();
    const sides = (field?.value || "").split(",").map(Number);
    if (sides.length === 4 && sides.every(Number.isFinite)) {
      drawn.addFeature(new Feature({ geometry: geometryOf(sides, projection), chosen: true }));
    }
  }

  function show({ fit }) {
    source.clear();
    for (const { id, box: sides, title } of extentsOnPage()) {
      source.addFeature(new Feature({ geometry: geometryOf(sides, projection), service: id, title }));
    }
    showBox();
    if (!fit) return;
    fitTo(map, drawn.getFeatures().length ? drawn.getExtent() : extentOf(source.getFeatures()));
  }

  function strengthen(id) {
    for (const feature of source.getFeatures()) feature.set("strong", String(feature.get("service")) === id);
    for (const item of document.querySelectorAll("[data-service]")) {
      item.classList.toggle("is-pointed-at", item.dataset.service === id);
    }
  }

  box.on("boxend", () => {
    const [w, s, e, n] = transformExtent(box.getGeometry().getExtent(), projection, "EPSG:4326");
    const rounded = [Math.max(w, -180), Math.max(s, -90), Math.min(e, 180), Math.min(n, 90)].map((x) =>
      Number(x.toFixed(4)),
    );
    setDrawing(false);
    if (field) {
      field.value = rounded.join(",");
      field.form.requestSubmit();
    }
  });
  button?.addEventListener("click", () => setDrawing(!drawing));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") setDrawing(false);
  });
  map.on("pointermove", (event) => {
    if (event.dragging || drawing) return;
    const found = map.getFeaturesAtPixel(event.pixel, { layerFilter: (layer) => layer === layers[0] });
    const smallest = smallestOf(found);
    map.getTargetElement().classList.toggle("is-over", Boolean(smallest));
    strengthen(smallest ? String(smallest.get("service")) : "");
  });
  map.on("singleclick", (event) => {
    const found = smallestOf(map.getFeaturesAtPixel(event.pixel, { layerFilter: (layer) => layer === layers[0] }));
    const item = found && document.querySelector(`[data-service="${found.get("service")}"] a`);
    if (item) {
      item.scrollIntoView({ block: "center" });
      item.focus();
      strengthen(String(found.get("service")));
    }
  });
  for (const type of ["pointerover", "focusin"]) {
    document.addEventListener(type, (event) => {
      const item = event.target.closest?.("[data-service]");
      if (item) strengthen(item.dataset.service);
    });
  }
  document.body.addEventListener("htmx:afterSettle", () => show({ fit: true }));
  show({ fit: true });
}

/** Return the extent of all features but those of half the world and more, which would hide where the others are. */
function extentOf(features) {
  const extents = features.map((feature) => feature.getGeometry().getExtent());
  const places = extents.filter((extent) => getWidth(extent) < HALF_WORLD);
  return (places.length ? places : extents).reduce((all, extent) => extend(all, extent), createEmpty());
}

/** Return the feature of the smallest extent: large ones lie under nearly every point. */
function smallestOf(features) {
  const size = (feature) => getWidth(feature.getGeometry().getExtent()) * getHeight(feature.getGeometry().getExtent());
  return features.slice().sort((one, other) => size(one) - size(other))[0];
}

// ---------------------------------------------------------------------------------------------- one service

function serviceMap(element) {
  const projection = projectionOf(element.dataset.projection || "EPSG:4326");
  const extents = new VectorSource();
  const previews = new LayerGroup();
  const shown = new Map();
  const map = makeMap(element, [previews, new VectorLayer({ source: extents, style: extentStyle })], projection);
  const status = document.getElementById("preview-status");
  const tools = document.getElementById("preview-tools");
  const opacity = document.getElementById("preview-opacity");
  const legends = document.getElementById("legends");
  const said = document.getElementById("point-info");
  const words = element.dataset;
  const sides = words.box ? words.box.split(",").map(Number) : null;
  if (sides) {
    extents.addFeature(new Feature({ geometry: geometryOf(sides, projection) }));
    fitTo(map, extents.getExtent());
  }

  function tell(text) {
    if (status) status.textContent = text;
  }

  /** Fetch what the server relays, with its media type; a problem is told to the visitor. */
  async function relayed(url) {
    const answer = await fetch(url, { headers: { Accept: "image/*,application/geo+json,application/json" } });
    if (!answer.ok) {
      const problem = await answer.json().catch(() => ({}));
      throw new Error(problem.detail || String(answer.status));
    }
    return answer;
  }

  /** Return an image in which tiles are drawn side by side in their places of an extent. */
  async function drawTiles(places, url, extent, width, height) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const pen = canvas.getContext("2d");
    const [across, down] = [width / getWidth(extent), height / getHeight(extent)];
    const bitmaps = places.map(async (place) => {
      const answer = await relayed(new URL(place.href, url));
      return createImageBitmap(await answer.blob());
    });
    for (const [index, drawn] of (await Promise.allSettled(bitmaps)).entries()) {
      if (drawn.status !== "fulfilled") continue; // a tile that cannot be drawn leaves a gap
      const [w, s, e, n] = places[index].extent;
      pen.drawImage(drawn.value, (w - extent[0]) * across, (extent[3] - n) * down, (e - w) * across, (n - s) * down);
    }
    return canvas;
  }

  /** Return the map's layers of a service's layer: for pictures and tiles, and for the outlines of features. `drawn` is
   *  called after each picture. */
  function layerOf(address, drawn) {
    const outlines = new VectorSource();
    const format = new GeoJSON({ dataProjection: "EPSG:4326", featureProjection: projection });
    let latest = 0;

    async function load(extent, resolution) {
      const number = ++latest;
      const [width, height] = [getWidth(extent), getHeight(extent)].map((side) =>
        Math.min(1024, Math.max(64, Math.round(side / resolution))),
      );
      const query = `&bbox=${extent.join(",")}&width=${width}&height=${height}`;
      const url = new URL(address + query, document.baseURI);
      tell(words.wordsLoading);
      let image = document.createElement("canvas");
      try {
        const answer = await relayed(url);
        const type = answer.headers.get("Content-Type") || "";
        const features = type.startsWith("application/geo+json") ? format.readFeatures(await answer.json()) : [];
        if (type.startsWith("application/json")) {
          image = await drawTiles((await answer.json()).tiles, url, extent, width, height);
        } else if (type.startsWith("image/")) {
          image = await createImageBitmap(await answer.blob());
        }
        if (number === latest) {
          outlines.clear();
          outlines.addFeatures(features);
        }
      } catch (error) {
        tell(`${words.wordsFailed} ${error.message}`);
        throw error;
      }
      tell(words.wordsShown);
      drawn();
      return { image, extent, pixelRatio: 1, resolution };
    }

    const pictures = new ImageSource({ loader: load, projection, interpolate: true });
    return new LayerGroup({
      layers: [new ImageLayer({ source: pictures }), new VectorLayer({ source: outlines, style: outlineStyle })],
    });
  }

  /** Show a layer, above those that are shown, or take it away. */
  function toggle(button) {
    const address = button.dataset.preview;
    const former = shown.get(address);
    button.setAttribute("aria-pressed", String(!former));
    if (former) {
      previews.getLayers().remove(former.layer);
      former.legend?.remove();
      shown.delete(address);
    } else {
      const item = { info: button.dataset.info };
      item.layer = layerOf(address, () => {
        // The picture comes first: a host is asked one thing after the other.
        if (shown.get(address) === item) item.legend ??= legendOf(button);
      });
      previews.getLayers().push(item.layer);
      shown.set(address, item);
      const box = button.dataset.box ? button.dataset.box.split(",").map(Number) : sides;
      if (box && shown.size === 1) fitTo(map, geometryOf(box, projection).getExtent());
    }
    if (tools) tools.hidden = !shown.size;
    if (said) said.hidden = true;
  }

  /** Show what the service says of a point in the uppermost layer that can be asked. The text is never markup. */
  async function ask(pixel) {
    const address = [...shown.values()].reverse().find((each) => each.info)?.info;
    if (!address || !said) return;
    const [width, height] = map.getSize().map((side) => Math.min(1024, Math.max(64, Math.round(side))));
    const [x, y] = pixel.map((part, index) => Math.floor((part * [width, height][index]) / map.getSize()[index]));
    const box = map.getView().calculateExtent(map.getSize()).join(",");
    said.hidden = false;
    said.textContent = words.wordsAsking;
    const url = `${address}&bbox=${box}&width=${width}&height=${height}&x=${x}&y=${y}`;
    try {
      const answer = await fetch(url, { headers: { Accept: "text/plain,application/problem+json" } });
      const text = answer.ok ? await answer.text() : (await answer.json()).detail;
      said.textContent = text.trim() || words.wordsNothing;
    } catch (error) {
      said.textContent = String(error.message);
    }
  }

  /** Put the legend of a layer below the map; a service that has none leaves nothing there. */
  function legendOf(button) {
    if (!button.dataset.legend || !legends) return null;
    const legend = document.createElement("figure");
    const picture = document.createElement("img");
    const caption = document.createElement("figcaption");
    picture.src = button.dataset.legend;
    picture.alt = "";
    picture.addEventListener("error", () => legend.remove());
    caption.textContent = button.dataset.title;
    legend.append(caption, picture);
    legends.append(legend);
    return legend;
  }

  map.on("singleclick", (event) => ask(event.pixel));
  opacity?.addEventListener("input", () => previews.setOpacity(Number(opacity.value) / 100));
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-preview]");
    if (button) {
      toggle(button);
      if (window.matchMedia("(max-width: 60rem)").matches) element.scrollIntoView({ block: "nearest" });
    }
  });
}

for (const element of document.querySelectorAll("[data-map=results]")) resultsMap(element);
for (const element of document.querySelectorAll("[data-map=service]")) serviceMap(element);
