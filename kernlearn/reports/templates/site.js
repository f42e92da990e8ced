// Tables that sort and filter; without it every page still shows all that it has.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const written = [...body.rows];
  const sortable = written.filter((row) => row.className !== "group");
  const heads = [...table.tHead.rows].at(-1).cells;
  const key = (row, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.value ?? cell.textContent.trim();
    const number = value === "" ? NaN : Number(value);
    return Number.isNaN(number) ? value : number;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, "en", { numeric: true });
  };
  [...heads].forEach((head, column) => {
    head.dataset.sorts = "";
    head.tabIndex = 0;
    const sort = () => {
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
      const order = next === undefined ? "ascending" : next;
      for (const other of heads) other.removeAttribute("aria-sort");
      if (order) head.setAttribute("aria-sort", order);
      const sign = order === "descending" ? -1 : 1;
      const rows = sortable.map((row) => [key(row, column), row]);
      rows.sort((a, b) => sign * compare(a[0], b[0]));
      body.append(...(order ? rows.map(([, row]) => row) : written));
      table.toggleAttribute("data-sorted", order !== null);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
}
for (const label of document.querySelectorAll("label[data-for]")) {
  const table = document.getElementById(label.dataset.for);
  const input = label.querySelector("input");
  label.hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    table.toggleAttribute("data-filtered", words.length > 0);
  });
}
