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
    const id = controls.dataset.for;
    const table = document.getElementById(id);
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
    const changed = () => {
      filter();
      remember({ [id]: text.value.trim(), [`${id}.kind`]: kind ? kind.value : "" });
    };
    const state = new URLSearchParams(location.search);
    text.value = state.get(id) || "";
    if (kind) kind.value = state.get(`${id}.kind`) || "";
    if (kind && kind.selectedIndex < 0) kind.value = "";
    if (text.value || (kind && kind.value)) filter();
    text.addEventListener("input", changed);
    if (kind) kind.addEventListener("change", changed);
    table.addEventListener("showall", () => {
      text.value = "";
      if (kind) kind.value = "";
      changed();
    });
    controls.hidden = false;
  }

  // ---- addresses: filters are part of a page's address, and places are shown that were hidden ----

  function remember(values) {
    const state = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(values)) {
      if (value) state.set(name, value);
      else state.delete(name);
    }
    const query = state.toString();
    try {
      history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}${location.hash}`);
    } catch {
      // some browsers keep the address of a file as it is
    }
  }

  function showTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    target.querySelectorAll("details.folded").forEach((part) => { part.open = true; });
    const row = target.closest("tr");
    if (row && row.hidden) row.closest("table").dispatchEvent(new Event("showall"));
    target.scrollIntoView();
  }

  // A cell's own link comes when it is pointed at; from a row's, the arrow keys lead along the row.
  function addressable(table) {
    const link = document.createElement("a");
    link.className = "anchor";
    const at = (cell) => {
      link.href = `#${cell.id}`;
      link.setAttribute("aria-label", `Link to ${cell.dataset.head || "this number"}`);
      if (link.parentNode !== cell) cell.append(link);
    };
    table.addEventListener("pointerover", (event) => {
      const cell = event.target.closest("td[id]");
      if (cell) at(cell);
    });
    table.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const here = event.target.closest(".anchor");
      if (!step || !here) return;
      const row = here.closest("tr");
      const stops = [row.querySelector("th .anchor"), ...row.querySelectorAll("td[id]")].filter(Boolean);
      const next = stops[stops.indexOf(here === link ? here.parentNode : here) + step];
      if (!next) return;
      event.preventDefault();
      if (next.tagName === "TD") at(next);
      (next.tagName === "TD" ? link : next).focus();
    });
  }

  // A table that is wider than the page puts deviations and reported numbers below the means;
  // if that is not enough, its rows are cards. Others say that they are wider.
  const NARROWER = ["stacked", "tight", "as-cards"];

  function fitted(frame) {
    const table = frame.querySelector("table");
    const written = NARROWER.filter((name) => table.classList.contains(name));
    const isWide = () => frame.scrollWidth > frame.clientWidth + 1;
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "The table is wider than the page: scroll it sideways.";
    hint.hidden = true;
    frame.before(hint);
    let room = 0;
    new ResizeObserver(() => {
      if (frame.clientWidth && frame.clientWidth !== room) {
        room = frame.clientWidth;
        table.classList.remove(...NARROWER);
        table.classList.add(...written);
        if (table.classList.contains("cards")) {
          for (const name of NARROWER) if (isWide()) table.classList.add(name);
        }
      }
      hint.hidden = !isWide();
    }).observe(frame);
  }

  // ---- charts: one after the other, so that the page can be used meanwhile ----

  async function drawCharts(charts) {
    if (!window.vegaEmbed) return;
    for (const chart of charts) {
      try {
        await draw(chart);
        chart.dataset.drawn = "yes";
      } catch (error) {
        // the picture stays
        console.error(`${chart.dataset.spec}: ${error}`);
      }
    }
    let width = document.body.clientWidth;
    let waiting;
    window.addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        if (Math.abs(document.body.clientWidth - width) < 20) return;
        width = document.body.clientWidth;
        charts.forEach((chart) => draw(chart).catch(() => {}));
      }, 250);
    });
  }

  // What stands beside the panels is known once they are drawn: then they take the rest.
  async function draw(chart) {
    const text = document.getElementById(chart.dataset.spec).textContent;
    const room = chart.clientWidth;
    let beside = 66;
    for (const last of [false, true]) {
      const { spec, across, panel } = spread(JSON.parse(text), room, beside, chart.dataset.kind);
      const place = document.createElement("div");
      place.style.cssText = "position: absolute; visibility: hidden";
      chart.append(place);
      try {
        await window.vegaEmbed(place, spec, { renderer: "svg", actions: false, mode: "vega-lite" });
        const width = Number(place.querySelector("svg").getAttribute("width"));
        beside += (width - room) / across;
        if (last || (width <= room && width > room - 12) || panel >= MOST) {
          place.style.cssText = "";
          chart.replaceChildren(place);
          return;
        }
      } finally {
        if (place.style.cssText) place.remove();
      }
    }
  }

  // Pixels: the least and the most that a panel takes, and the space between two.
  const LEAST = 190;
  const MOST = 900;
  const BETWEEN = 24;

  // As many panels side by side as there is room for, which share it.
  function spread(spec, room, beside, kind) {
    const groups = spec.vconcat || [spec];
    const most = Math.max(...groups.map((group) => group.columns ? Math.min(group.columns, group.concat.length) : 1));
    const fits = Math.max(1, Math.floor((room + BETWEEN) / (LEAST + beside + BETWEEN)));
    const rows = Math.ceil(most / fits);
    const across = Math.ceil(most / rows);
    const panel = Math.min(MOST, Math.max(140, Math.floor((room - (across - 1) * BETWEEN) / across - beside)));
    for (const group of groups) {
      if (group.columns) group.columns = Math.min(group.columns, across);
      for (const part of group.concat || [group]) {
        part.width = panel;
        if (kind === "figure") part.height = Math.round(Math.min(320, Math.max(150, panel * 0.62)));
      }
    }
    const columns = Math.max(1, Math.floor(room / 170));
    spec.config.legend = { ...spec.config.legend, orient: "bottom", columns };
    return { spec, across, panel };
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
  document.querySelectorAll("table.results").forEach(addressable);
  document.querySelectorAll(".scroll").forEach(fitted);
  document.querySelectorAll(".controls").forEach(filterable);
  document.querySelectorAll("button.theme").forEach(themed);
  unfoldForPrint();
  showTarget();
  window.addEventListener("hashchange", showTarget);
  drawCharts(document.querySelectorAll(".chart"));
})();
