// The search of a published site: loads the parts of the index that hold a query's words, and the cards of its hits.
// `web/static_site/words.py` writes the index and says how.
"use strict";

(() => {
  const FIELDS = 3;
  const WEIGHTS = [4, 2, 1];
  const PREFIX_WEIGHT = 0.6;
  const MOST_PARTS = 4;
  const HITS = 10;
  const WORKING = 32;
  const RANKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const LETTERS = { ß: "ss", ø: "o", æ: "ae", œ: "oe", ł: "l", đ: "d", ı: "i" };
  const HAN = /([\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)/;
  const texts = JSON.parse(document.getElementById("texts").textContent);
  const form = document.getElementById("search");
  const FACETS = Array.from(form.querySelectorAll("select"), (each) => each.name);
  const element = (id) => document.getElementById(id);

  // ------------------------------------------------------------------------- parts of the index

  const parts = new Map();
  const loading = new Map();
  window.geocrawlPart = (name, value) => parts.set(name, value);

  function load(name) {
    if (!loading.has(name)) {
      loading.set(
        name,
        new Promise((done, fail) => {
          const script = document.createElement("script");
          script.src = `search/${name}.js`;
          script.onload = () => (parts.has(name) ? done(parts.get(name)) : fail(new Error(name)));
          script.onerror = () => {
            loading.delete(name);
            fail(new Error(name));
          };
          document.head.append(script);
        })
      );
    }
    return loading.get(name);
  }

  function wordsOf(text) {
    const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[ßøæœłđı]/g, (each) => LETTERS[each]);
    const words = [];
    for (const run of plain.match(/[\p{L}\p{N}]+/gu) ?? []) {
      run.split(HAN).forEach((part, number) => {
        if (number % 2 === 0) {
          if (part) words.push([...part].slice(0, 40).join(""));
          return;
        }
        const characters = [...part];
        if (characters.length === 1) words.push(part);
        for (let at = 0; at + 1 < characters.length; at++) words.push(characters[at] + characters[at + 1]);
      });
    }
    return [...new Set(words)];
  }
  window.geocrawlWordsOf = wordsOf;

  // Calls `take` with each number of a word.
  function unpack(packed, take) {
    const bytes = atob(packed);
    let number = 0;
    for (let at = 0, rest = 0, unit = 1; at < bytes.length; at++) {
      const byte = bytes.charCodeAt(at);
      rest += (byte & 127) * unit;
      unit *= 128;
      if (byte < 128) {
        number += rest;
        take(number);
        rest = 0;
        unit = 1;
      }
    }
  }

  // Code points decide the order of words, as in Python.
  function isAfter(one, other) {
    const [a, b] = [[...one], [...other]];
    for (let at = 0; at < Math.min(a.length, b.length); at++) {
      if (a[at] !== b[at]) return a[at].codePointAt(0) > b[at].codePointAt(0);
    }
    return a.length > b.length;
  }

  function partsWith(index, word, isPrefix) {
    let low = 0;
    let high = index.firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAfter(index.firsts[middle], word)) high = middle;
      else low = middle + 1;
    }
    let last = Math.max(low - 1, 0);
    const names = [index.names[last]];
    while (isPrefix && names.length < MOST_PARTS && index.firsts[last + 1]?.startsWith(word)) names.push(index.names[++last]);
    return names.filter(Boolean);
  }

  // The weight of a word in each service; whole words count more than words that begin so.
  async function weightsOf(index, word, isPrefix) {
    const found = new Float32Array(index.last + 1);
    const every = await Promise.all(partsWith(index, word, isPrefix).map((name) => load(`words/${name}`)));
    for (const part of every) {
      const fitting = isPrefix ? Object.keys(part).filter((each) => each.startsWith(word)) : Object.hasOwn(part, word) ? [word] : [];
      for (const each of fitting) {
        const factor = each === word ? 1 : PREFIX_WEIGHT;
        unpack(part[each], (number) => {
          const service = Math.floor(number / FIELDS);
          const weight = WEIGHTS[number % FIELDS] * factor;
          if (weight > found[service]) found[service] = weight;
        });
      }
    }
    return found;
  }

  // ------------------------------------------------------------------------- a search

  async function ranked() {
    const index = await load(form.dataset.index);
    return [index, await load(index.ranks)];
  }

  async function search(asked) {
    const [index, ranks] = await ranked();
    const words = wordsOf(asked.q);
    const filters = [...FACETS, "cell"].filter((name) => asked[name]).map((name) => `${name}:${asked[name]}`);
    const [byWord, byFilter] = await Promise.all([
      Promise.all(words.map((word) => weightsOf(index, word, word.length > 2 || HAN.test(word)))),
      Promise.all(filters.map((word) => weightsOf(index, word, false))),
    ]);
    const rarity = byWord.map((weights) => {
      let count = 0;
      for (const each of weights) if (each) count++;
      return Math.log(1 + index.services / count);
    });
    const scores = new Float64Array(index.last + 1);
    let best = [];
    let most = 0;
    for (let service = 1; service <= index.last; service++) {
      let score = 0;
      let count = 0;
      for (let number = 0; number < byWord.length; number++) {
        const weight = byWord[number][service];
        if (!weight) continue;
        count++;
        score += weight * rarity[number];
      }
      if (count < most || (words.length && !count)) continue;
      const rank = RANKS.indexOf(ranks[service] ?? "A");
      if (rank < 1 || (asked.working && rank < WORKING) || byFilter.some((weights) => !weights[service])) continue;
      if (count > most) best = [];
      most = count;
      const quality = (rank % WORKING) / WORKING;
      scores[service] = (words.length ? score : 1) * (0.7 + 0.3 * quality) * (rank < WORKING ? 0.6 : 1);
      best.push(service);
    }
    best.sort((one, other) => scores[other] - scores[one] || one - other);
    return { services: best, isWhole: most === words.length };
  }

  async function cardsOf(services) {
    const loaded = await Promise.all(services.map((service) => load(cardsName(service))));
    return loaded.map((cards, number) => [services[number], cards[services[number]]]).filter(([, card]) => card);
  }

  const cardsName = (service) => `cards/${Math.floor(service / 1000)}/${Math.floor(service / 10)}`;
  const pageOf = (service) => `services/${Math.floor(service / 500)}/${service}.html`;

  // ------------------------------------------------------------------------- what is shown

  // As `toLocaleString("en")`, which loads the rules of all languages first.
  const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const counted = (text, number) =>
    text.replace(/\{n(?::(\w+))?\}/, (_, noun) => thousands(number) + (noun ? ` ${noun}${number === 1 ? "" : "s"}` : ""));

  function made(name, className, text) {
    const node = document.createElement(name);
    node.className = className;
    node.textContent = text;
    return node;
  }

  function thumbnail(service) {
    const picture = made("img", "thumb", "");
    Object.assign(picture, { loading: "lazy", width: 72, height: 72, alt: "", src: pageOf(service).replace(/html$/, "png") });
    return picture;
  }

  function hit([service, card]) {
    const [title, kind, provider, country, health, level, layers, abstract, , hasThumbnail] = card;
    const item = made("li", "hit", "");
    for (const name of ["pointerenter", "focusin"]) item.addEventListener(name, () => strengthen(service));
    item.append(hasThumbnail ? thumbnail(service) : made("span", "thumb none", texts.kind[kind] ?? kind));
    item.firstChild.setAttribute("aria-hidden", "true");
    const body = made("div", "body", "");
    const heading = made("h2", "", "");
    const link = made("a", "", title);
    link.href = pageOf(service);
    heading.append(link);
    const facts = made("p", "facts", "");
    facts.append(made("span", `kind k-${kind}`, texts.kind[kind] ?? kind), made("span", `health h-${health}`, texts.health[health] ?? health));
    if (level) facts.append(made("span", `level l-${level}`, texts.level[level] ?? level));
    if (layers) facts.append(made("span", "", counted(texts.layers, layers)));
    if (country) facts.append(made("span", "", country));
    if (provider) facts.append(made("span", "provider", provider));
    body.append(heading, facts, made("p", "abstract", abstract));
    item.append(body);
    return item;
  }

  // The part of the world with all boxes but those of half the world and more: [x, y, width, height] in degrees.
  function viewOf(boxes) {
    const places = boxes.filter(([west, , east]) => east - west < 180);
    if (!places.length) return [-180, -90, 360, 180];
    const side = (number, least) => least(...places.map((each) => each[number]));
    const [west, south, east, north] = [side(0, Math.min), side(1, Math.min), side(2, Math.max), side(3, Math.max)];
    const width = Math.min(1.2 * Math.max(east - west, 2 * (north - south), 30), 360);
    const within = (least, value, most) => Math.max(least, Math.min(value, most));
    return [within(-180, (west + east - width) / 2, 180 - width), within(-90, -(north + south) / 2 - width / 4, 90 - width / 2), width, width / 2];
  }

  function strengthen(service) {
    for (const box of element("map").querySelectorAll("rect.extent")) box.classList.toggle("strong", box.dataset.of === String(service));
  }

  function drawOnMap(cards, cell) {
    const map = element("map");
    map.querySelectorAll("rect").forEach((each) => each.remove());
    const view = viewOf(cards.flatMap(([, card]) => card[8]));
    map.setAttribute("viewBox", view.join(" "));
    const least = view[2] / 100;
    const draw = (className, x, y, width, height, service = "") => {
      const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      Object.entries({ class: className, x, y, width, height, "data-of": service }).forEach(([name, value]) => box.setAttribute(name, value));
      map.append(box);
    };
    for (const [service, card] of cards) {
      for (const [west, south, east, north] of card[8]) {
        draw("extent", west, -north, Math.max(east - west, least), Math.max(north - south, least), service);
      }
    }
    if (cell) {
      const [column, row] = cell.split(".").map(Number);
      draw("cell", column * 10 - 180, row * 10 - 90, 10, 10);
    }
  }

  function pageButton(text, page) {
    const button = made("button", "", text);
    button.type = "button";
    button.onclick = () => {
      show(page, true);
      element("found").scrollIntoView();
    };
    return button;
  }

  function asked() {
    const values = Object.fromEntries(["q", ...FACETS, "cell"].map((name) => [name, element(name).value.trim()]));
    return { ...values, working: element("working").checked ? "1" : "" };
  }

  let turn = 0;

  async function show(page, remember) {
    const own = ++turn;
    const wanted = asked();
    const query = new URLSearchParams(Object.entries({ ...wanted, page: page > 1 ? String(page) : "" }).filter(([, value]) => value));
    if (remember) {
      try {
        history.pushState(null, "", query.size ? `?${query}` : location.pathname);
      } catch {
        // a browser may refuse it for a file
      }
    }
    try {
      if (query.size) {
        const found = await search(wanted);
        const cards = await cardsOf(found.services.slice((page - 1) * HITS, page * HITS));
        if (own === turn) fill(found, cards, page, wanted.cell);
      }
    } catch {
      if (own === turn) element("summary").textContent = texts.failed;
    }
    if (own !== turn) return;
    element("chosen").textContent = FACETS.map((name) => wanted[name]).filter(Boolean).join(", "); // where they are folded
    element("found").hidden = !query.size; // not before all is there: the page is drawn once
    element("home").hidden = query.size > 0;
    document.querySelector(".hero").classList.toggle("small", query.size > 0);
  }

  function fill(found, cards, page, cell) {
    const count = found.services.length;
    element("summary").textContent = counted(texts.found, count);
    if (count && !found.isWhole) element("summary").append(" ", made("span", "faint", texts.most));
    if (cell) element("summary").append(" ", buttonWithout("chip", `${texts.square} ×`, ["cell"]));
    element("hits").start = (page - 1) * HITS + 1;
    element("hits").replaceChildren(...(count ? cards.map(hit) : [nothing()]));
    element("pages").replaceChildren();
    if (page > 1) element("pages").append(pageButton(`← ${texts.previous}`, page - 1));
    if (page * HITS < count) element("pages").append(pageButton(`${texts.next} →`, page + 1));
    drawOnMap(cards, cell);
  }

  function buttonWithout(className, text, names) {
    const button = made("button", className, text);
    button.type = "button";
    button.onclick = () => {
      names.forEach((name) => (element(name).value = ""));
      show(1, true);
    };
    return button;
  }

  function nothing() {
    const item = made("li", "nothing", "");
    item.append(made("p", "", form.dataset.services === "0" ? texts.empty : texts.nothing));
    if ([...FACETS, "cell"].some((name) => element(name).value)) item.append(buttonWithout("", texts.remove, [...FACETS, "cell"]));
    return item;
  }

  // ------------------------------------------------------------------------- what a visitor does

  // A value that is rarer than those to choose from is added to them.
  function choose(select, value) {
    const known = [...select.options].find((each) => each.value.toLowerCase() === value.toLowerCase());
    if (!known) select.add(new Option(value));
    select.value = known?.value ?? value;
  }

  function fromAddress() {
    const given = new URLSearchParams(location.search);
    for (const name of ["q", "cell"]) element(name).value = given.get(name) ?? "";
    for (const name of FACETS) choose(element(name), given.get(name) ?? "");
    element("working").checked = given.get("working") === "1";
    show(Math.max(Number.parseInt(given.get("page"), 10) || 1, 1), false);
  }

  let waiting = 0;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    show(1, true);
  });
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => show(1, true), event.target.id === "q" ? 250 : 0);
  });
  form.addEventListener("focusin", () => ranked().catch(() => {}), { once: true }); // loads while a visitor types
  element("map").addEventListener("click", (event) => {
    const place = element("map").getBoundingClientRect();
    const [x, y, width, height] = element("map").getAttribute("viewBox").split(" ").map(Number);
    const column = Math.floor((x + 180 + ((event.clientX - place.left) / place.width) * width) / 10);
    const row = Math.floor((y + 90 + ((event.clientY - place.top) / place.height) * height) / 10);
    element("cell").value = `${Math.min(column, 35)}.${Math.min(row, 17)}`;
    show(1, true);
  });
  addEventListener("popstate", fromAddress);
  fromAddress();
})();
