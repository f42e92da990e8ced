// Tables that sort and filter, charts, and the choice of light or dark. Without it every page
// still shows all its text, tables and pictures.
"use strict";
(() => {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // ---- sorting: by a button in each head; ascending, descending, as written ----

  function sortable(table) {
    const body = table.tBodies[0];
    const written = [...body.rows];
    const heads = [...table.querySelectorAll("thead tr.heads > th")];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      const note = head.querySelector("a.note");
      button.append(...[...head.childNodes].filter((node) => node !== note));
      head.prepend(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const after = { ascending: "descending", descending: null }[before];
        const order = after === undefined ? "ascending" : after;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (order) head.setAttribute("aria-sort", order);
        body.append(...(order ? sorted(written, column, order) : written));
        table.toggleAttribute("data-sorted", order !== null);
        mark(table);
      });
    });
  }

  // Numbers before words, and what is empty last in either order.
  function sorted(rows, column, order) {
    const sign = order === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => ({ row, key: keyOf(row.cells[column]) }));
    keyed.sort((a, b) => {
      if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
      const numbers = (typeof b.key === "number") - (typeof a.key === "number");
      if (numbers) return numbers;
      if (typeof a.key === "number") return sign * (a.key - b.key);
      return sign * collator.compare(a.key, b.key);
    });
    return keyed.map(({ row }) => row);
  }

  function keyOf(cell) {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const numeric = cell.closest("table").classList.contains("results") && cell.tagName === "TD";
    return numeric && !cell.classList.contains("text") ? "" : cell.textContent.trim();
  }

  // A label that is that of the row above is dimmed only while rows stand as written.
  function mark(table) {
    const changed = table.hasAttribute("data-sorted") || table.hasAttribute("data-filtered");
    table.toggleAttribute("data-changed", changed);
  }

  // ---- filtering: every word must occur in the row's text; one verdict or outcome ----

  function filterable(controls) {
    const table = document.getElementById(controls.dataset.for);
    const text = controls.querySelector("input");
    const kind = controls.querySelector("select");
    const count = controls.querySelector(".count");
    const rows = [...table.tBodies[0].rows].map((row) => ({
      row,
      words: [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase(),
      kinds: (row.dataset.kinds || "").split(" "),
    }));
    const filter = () => {
      const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = kind ? kind.value : "";
      let shown = 0;
      for (const { row, words: own, kinds } of rows) {
        row.hidden = !words.every((w) => own.includes(w)) || (wanted && !kinds.includes(wanted));
        shown += !row.hidden;
      }
      const filtered = shown < rows.length;
      count.textContent = words.length || wanted ? `${shown} of ${rows.length} rows` : "";
      table.toggleAttribute("data-filtered", filtered);
      mark(table);
    };
    text.addEventListener("input", filter);
    if (kind) kind.addEventListener("change", filter);
    controls.hidden = false;
  }

  // ---- charts: one after the other, so that the page can be used meanwhile ----

  async function drawCharts(charts) {
    if (!window.vegaEmbed) return;
    for (const chart of charts) {
      const spec = JSON.parse(document.getElementById(chart.dataset.spec).textContent);
      const place = document.createElement("div");
      try {
        await window.vegaEmbed(place, fitted(spec, chart.clientWidth), {
          renderer: "svg", actions: false, mode: "vega-lite",
        });
        chart.replaceChildren(place);
        chart.dataset.drawn = "yes";
      } catch (error) {
        // the picture stays
        console.error(`${chart.dataset.spec}: ${error}`);
      }
    }
  }

  // As many panels side by side as there is room for, and none wider than that.
  function fitted(spec, width) {
    const across = Math.max(1, Math.floor((width - 90) / 310));
    const fit = (part) => {
      if (part.columns > across) {
        const panels = (part.concat || part.facet.sort).length;
        part.columns = Math.ceil(panels / Math.ceil(panels / across));
      }
      if (part.width) part.width = Math.max(150, Math.min(part.width, width - 110));
      [...(part.vconcat || []), ...(part.concat || []), part.spec].filter(Boolean).forEach(fit);
    };
    fit(spec);
    if (across === 1) spec.config.legend = { ...spec.config.legend, orient: "bottom", columns: 2 };
    return spec;
  }

  // ---- light or dark: the system's, until the reader chooses; nothing is remembered ----

  function themed(button) {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const root = document.documentElement;
    const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
    const say = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      say();
    });
    dark.addEventListener("change", say);
    say();
    button.hidden = false;
  }

  // On paper nothing can be unfolded.
  function unfoldForPrint() {
    let closed = [];
    window.addEventListener("beforeprint", () => {
      closed = [...document.querySelectorAll("details:not([open])")];
      closed.forEach((part) => { part.open = true; });
    });
    window.addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll(".controls").forEach(filterable);
  document.querySelectorAll("button.theme").forEach(themed);
  unfoldForPrint();
  drawCharts(document.querySelectorAll(".chart"));
})();
