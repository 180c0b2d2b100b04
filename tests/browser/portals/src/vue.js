// A map portal as Vue developers write one: a configuration names a back end on another host, which has the layers.
import { createApp, h, onMounted, ref } from "vue";

const Portal = {
  setup() {
    const layers = ref([]);
    onMounted(async () => {
      const settings = await (await fetch("settings")).json();
      const catalog = await (await fetch(`${settings.backend}/catalog/layers`)).json();
      layers.value = catalog.layers;
    });
    return () =>
      h("div", [
        h("h1", "Map portal"),
        h("ul", layers.value.map((layer) => h("li", [layer.title, " (", layer.service.type, ") ", layer.service.url]))),
      ]);
  },
};

createApp(Portal).mount("#app");
