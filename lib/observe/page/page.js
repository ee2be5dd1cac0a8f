/* report.js: shows the data of the page. Names from inputs become text nodes and attributes, never HTML. */
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const CLASSES = ["code", "constants", "data", "records", "debug", "tables"];
  const MOST_ROWS = 300;

  /* ---- making elements ---- */

  function add(parent, children) {
    for (const child of children) {
      if (child === null || child === undefined || child === "") continue;
      parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return parent;
  }
  function set(node, attributes) {
    for (const key in attributes) {
      const value = attributes[key];
      if (value === undefined || value === null || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (key === "style") Object.assign(node.style, value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    return node;
  }
  const el = (tag, attributes, ...children) => add(set(document.createElement(tag), attributes), children);
  const svg = (tag, attributes, ...children) => add(set(document.createElementNS(SVG, tag), attributes), children);

  /* ---- numbers and names ---- */

  const count = (n, word) => n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s");
  const plain = (n) => n.toLocaleString("en");
  function bytes(n) {
    const units = ["B", "KiB", "MiB", "GiB"];
    let unit = 0;
    while (n >= 1024 && unit < 3) { n /= 1024; unit++; }
    return (unit ? n.toFixed(n < 10 ? 2 : 1) : plain(n)) + " " + units[unit];
  }
  function time(ms) {
    if (ms >= 1000) return (ms / 1000).toFixed(2) + " s";
    if (ms >= 1) return ms.toFixed(ms < 10 ? 2 : 1) + " ms";
    return (ms * 1000).toFixed(ms < 0.01 ? 1 : 0) + " \u00b5s";
  }
  const tick = (ms) => (ms === 0 ? "0" : time(ms).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " "));
  const label = (f) => f.readable || f.name;
  const memberName = (i) => (i === undefined ? "" : data.members[i].name);
  const chunkName = (i) => "chunk " + i;

  /* ---- what the page's address remembers ---- */

  const state = { sort: {}, kernel: null, chunk: null, filter: "", all: false };
  function readHash() {
    const text = location.hash.slice(1);
    if (!text.includes("=")) return false;
    const map = new URLSearchParams(text);
    for (const [key, value] of map)
      if (key.startsWith("sort-")) state.sort[key.slice(5)] = value;
    state.kernel = map.get("kernel");
    state.chunk = map.has("chunk") ? Number(map.get("chunk")) : null;
    state.filter = map.get("filter") || "";
    state.all = map.has("all");
    return true;
  }
  function writeHash() {
    const map = new URLSearchParams();
    for (const key in state.sort) map.set("sort-" + key, state.sort[key]);
    if (state.kernel) map.set("kernel", state.kernel);
    if (state.chunk !== null) map.set("chunk", state.chunk);
    if (state.filter) map.set("filter", state.filter);
    if (state.all) map.set("all", "1");
    try { history.replaceState(null, "", "#" + map); } catch (e) { /* the page works without */ }
  }

  /* ---- the tip beside the pointer ---- */

  const tip = $("tip");
  function showTip(event, title, lines) {
    tip.replaceChildren(el("b", {}, title), ...lines.filter(Boolean).map((line) => el("div", {}, line)));
    tip.hidden = false;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const y = event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 16;
    tip.style.left = Math.max(4, x) + "px";
    tip.style.top = Math.max(4, y) + "px";
  }
  const hideTip = () => { tip.hidden = true; };
  const tipped = (title, lines) => ({ onmousemove: (e) => showTip(e, title, lines()), onmouseleave: hideTip });

  /* ---- tables: columns are {key, title, value(row), show(row), right, bar, class} ---- */

  function table(place, name, columns, rows, options) {
    options = options || {};
    const box = $(place);
    let limit = MOST_ROWS;
    function order() {
      const wanted = state.sort[name] || options.sort;
      if (!wanted) return rows.slice();
      const down = wanted.startsWith("-"), column = columns.find((c) => c.key === wanted.replace("-", ""));
      if (!column) return rows.slice();
      const keyed = rows.map((row, i) => ({ row, i, value: column.value(row) }));
      keyed.sort((a, b) => {
        const none = (a.value === undefined) - (b.value === undefined);
        if (none || a.value === undefined) return none || a.i - b.i;
        const way = typeof a.value === "string" ? a.value.localeCompare(b.value) : a.value - b.value;
        return (down ? -way : way) || a.i - b.i;
      });
      return keyed.map((k) => k.row);
    }
    function head(column) {
      const wanted = state.sort[name] || options.sort || "";
      const sorted = wanted.replace("-", "") === column.key ? (wanted.startsWith("-") ? "descending" : "ascending") : null;
      const turn = () => {
        const first = column.right ? "-" + column.key : column.key, second = column.right ? column.key : "-" + column.key;
        state.sort[name] = (state.sort[name] || options.sort) === first ? second : first;
        writeHash();
        draw();
        const again = box.querySelector('th[data-key="' + column.key + '"] button');
        if (again) again.focus();
      };
      return el("th", { class: column.right ? "right" : "", "aria-sort": sorted, "data-key": column.key, scope: "col", title: column.about },
        el("button", { type: "button", onclick: turn }, column.title));
    }
    function cell(column, row, most) {
      const value = column.value(row), shown = column.show ? column.show(row) : value === undefined ? "\u2013" : value;
      const text = typeof shown === "number" ? plain(shown) : shown;
      const attributes = { class: ((column.right ? "right " : "") + (column.class || "")).trim(), title: column.full ? column.full(row) : null };
      if (!column.bar || value === undefined) return el("td", attributes, text);
      const width = most[column.key] ? Math.max(0, value) / most[column.key] * 40 : 0;
      return el("td", attributes, el("span", { class: "cell" }, el("i", { style: { width: width + "px", visibility: width ? "visible" : "hidden" } }), el("span", {}, text)));
    }
    function draw() {
      if (rows.length === 0) {
        box.replaceChildren(el("p", { class: "hint" }, options.none || "Nothing."));
        return;
      }
      const most = {};
      for (const column of columns)
        if (column.bar) most[column.key] = rows.reduce((max, row) => Math.max(max, column.value(row) || 0), 0);
      const list = order(), body = el("tbody", {});
      for (const row of list.slice(0, limit)) {
        const line = el("tr", options.row ? options.row(row) : {});
        for (const column of columns) line.append(cell(column, row, most));
        body.append(line);
      }
      box.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...columns.map(head))), body));
      if (list.length > limit)
        box.append(el("p", { class: "more" }, el("button", { type: "button", onclick: () => { limit = Infinity; draw(); } }, "Show all " + plain(list.length))));
    }
    draw();
  }

  /* A row that is chosen by a click, or by the return key. */
  const pickable = (isPicked, act) => ({ class: "pickable" + (isPicked ? " picked" : ""), tabindex: "0", onclick: act, onkeydown: (event) => { if (event.key === "Enter") act(); } });

  /* ---- head ---- */

  function head() {
    const kernels = data.functions.filter((f) => f.is_kernel).length;
    const total = data.stages.reduce((sum, s) => sum + s.ms, 0);
    const used = data.members.filter((m) => m.is_used && m.used_as !== "options").length;
    const name = data.output.path || "no output";
    document.title = name.replace(/^.*\//, "") + " \u2013 minilink report";
    $("title").textContent = name;
    const parts = [data.output.target, data.output.kind, data.output.bytes !== undefined ? bytes(data.output.bytes) : null,
      count(kernels, "kernel") + " of " + count(used, "member"), "linked in " + time(total) + " by minilink " + data.minilink];
    if (data.assembler) parts.push(count(data.chunks.length, "chunk") + " on " + count(data.assembler.threads, "thread") + " by assembler " + data.assembler.name);
    $("summary").textContent = parts.filter(Boolean).join(" \u00b7 ");
  }

  /* ---- stages ---- */

  const STAGES = ["open", "select", "agree", "lto", "link", "split", "assemble", "merge", "write"];
  const stageColour = (name) => "var(--stage-" + Math.max(0, STAGES.indexOf(name)) + ")";
  function stages() {
    const total = data.stages.reduce((sum, s) => sum + s.ms, 0) || 1;
    const bar = el("div", { class: "stack" }), legend = el("ul", { class: "legend" });
    data.stages.forEach((stage) => {
      const lines = () => [time(stage.ms) + ", " + (100 * stage.ms / total).toFixed(1) + " %", stage.unit ? plain(stage.items) + " " + stage.unit : null,
        stage.bytes ? bytes(stage.bytes) : null, "peak memory " + bytes(stage.peak_memory)];
      bar.append(el("span", Object.assign({ style: { width: 100 * stage.ms / total + "%", background: stageColour(stage.name) } }, tipped(stage.name, lines))));
      legend.append(el("li", {}, el("i", { class: "dot", style: { background: stageColour(stage.name) } }), stage.name, el("span", { class: "quiet number" }, time(stage.ms))));
    });
    $("stages").replaceChildren(bar, legend);
  }

  /* ---- time line ---- */

  const line = data.time_line;
  const LEFT = 100, TOP = 22, ROW = 34, GAP = 4, CURVE = 34;
  const whole = { from: 0, to: Math.max(0.001, ...data.stages.map((s) => s.start + s.ms), line.slices.reduce((m, s) => Math.max(m, s.start + s.ms), 0)) };
  let view = { from: whole.from, to: whole.to };

  function ticks(from, to, room) {
    const rough = (to - from) / Math.max(2, room / 110), power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) || rough;
    const list = [];
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) list.push(t);
    return list;
  }
  const stateName = (state) => (state === "hit" ? "from the cache" : state === "miss" ? "not in the cache" : state);
  function sliceColour(slice) {
    if (slice.state === "failed" || slice.state === "cancelled") return "var(--bad)";
    if (slice.kind === "stage") return stageColour(slice.name);
    if (slice.state === "hit") return "var(--data)";
    return slice.kind === "chunk" ? "var(--code)" : slice.kind === "function" ? "var(--records)" : "var(--constants)";
  }
  function sliceLines(slice) {
    const chunk = slice.kind === "chunk" ? data.chunks[slice.chunk] : null;
    const lines = [time(slice.ms) + ", from " + time(slice.start), slice.bytes ? bytes(slice.bytes) : null, slice.peak ? "peak memory " + bytes(slice.peak) : null, stateName(slice.state)];
    if (chunk) {
      lines.push("estimate " + time(chunk.estimate || 0) + ", " + count(chunk.functions, "function"));
      lines.push(...chunk.kernels.slice(0, 6).map((k) => label(data.functions[k])));
      if (chunk.kernels.length > 6) lines.push("and " + count(chunk.kernels.length - 6, "kernel") + " more");
    } else if (slice.chunk !== undefined) {
      lines.push(chunkName(slice.chunk));
    }
    return lines;
  }
  const functionByName = new Map();
  data.functions.forEach((f, i) => { if (!functionByName.has(f.name)) functionByName.set(f.name, i); });

  function clickSlice(slice) {
    if (slice.kind === "chunk") pickChunk(state.chunk === slice.chunk ? null : slice.chunk);
    else if (slice.kind === "function" && functionByName.has(slice.name)) pick(functionByName.get(slice.name));
  }
  /* A curve of values that hold until the next one. */
  function curve(title, points, top, x, width, show) {
    const group = svg("g", {}), most = Math.max(1, ...points.map((p) => p[1]));
    let path = "M" + x(view.from) + " " + (top + CURVE), last = 0;
    const y = (v) => top + CURVE - v / most * (CURVE - 4);
    for (const [at, value] of points) {
      if (at <= view.from) { last = value; continue; }
      if (at > view.to) break;
      path += " L" + x(Math.max(at, view.from)).toFixed(1) + " " + y(last).toFixed(1) + " L" + x(at).toFixed(1) + " " + y(value).toFixed(1);
      last = value;
    }
    path += " L" + x(view.to).toFixed(1) + " " + y(last).toFixed(1) + " L" + x(view.to) + " " + (top + CURVE) + " Z";
    group.append(svg("text", { x: 0, y: top + 14 }, title), svg("text", { x: 0, y: top + 29, class: "quiet" }, "up to " + show(most)),
      svg("line", { x1: LEFT, x2: width, y1: top + CURVE, y2: top + CURVE, class: "grid" }), svg("path", { d: path, class: "area" }));
    return group;
  }
  function running() {
    const edges = [];
    for (const s of line.slices) if (s.kind === "chunk") edges.push([s.start, 1], [s.start + s.ms, -1]);
    edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let now = 0;
    return edges.map(([at, by]) => [at, now += by]);
  }
  function put(group, slice, x, top, height, withLabel) {
    const left = x(slice.start), right = x(slice.start + slice.ms), width = Math.max(right - left, 1);
    group.append(svg("rect", Object.assign({ x: left.toFixed(2), y: top, width: width.toFixed(2), height, rx: width > 4 ? 2 : 0, class: "slice", fill: sliceColour(slice),
      opacity: slice.kind === "chunk" && state.chunk !== null && state.chunk !== slice.chunk ? 0.45 : 1, onclick: () => clickSlice(slice) }, tipped(slice.name, () => sliceLines(slice)))));
    if (withLabel && width > 7 * slice.name.length + 6)
      group.append(svg("text", { x: ((Math.max(left, LEFT) + right) / 2).toFixed(1), y: top + height / 2 + 4, "text-anchor": "middle", class: "inside" }, slice.name));
  }
  function timeLine() {
    const box = $("time-line"), width = Math.max(320, box.clientWidth || 1000), right = width - 4;
    const rows = line.rows.length, curves = [], run = running();
    if (run.length) curves.push(["running", run, plain]);
    if (line.memory.length > 1) curves.push(["own memory", line.memory.map((m) => [m.at, m.bytes]), bytes]);
    const height = TOP + rows * (ROW + GAP) + curves.length * (CURVE + 10) + 4;
    const x = (t) => LEFT + (t - view.from) / (view.to - view.from) * (right - LEFT);
    const picture = svg("svg", { width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Time line of the workers" });
    for (const t of ticks(view.from, view.to, right - LEFT))
      picture.append(svg("line", { x1: x(t), x2: x(t), y1: TOP - 6, y2: height, class: "grid" }), svg("text", { x: x(t), y: 11, "text-anchor": "middle", class: "quiet" }, tick(t)));
    const clip = svg("g", { "clip-path": "url(#clip)" });
    picture.append(svg("defs", {}, svg("clipPath", { id: "clip" }, svg("rect", { x: LEFT, y: 0, width: right - LEFT, height }))));
    line.rows.forEach((name, i) => {
      const top = TOP + i * (ROW + GAP);
      picture.append(svg("rect", { x: LEFT, y: top, width: right - LEFT, height: ROW, rx: 3, class: "row" }), svg("text", { x: 0, y: top + 21 }, name));
    });
    const lastEnd = new Map();
    for (const slice of line.slices) {
      if (slice.start + slice.ms < view.from || slice.start > view.to) continue;
      const top = TOP + slice.row * (ROW + GAP), isInner = slice.kind === "function";
      if (isInner) {
        /* What is narrower than a pixel and lies in one that is taken is not drawn. */
        const end = x(slice.start + slice.ms);
        if (end - (lastEnd.get(slice.row) || -1) < 0.7) continue;
        lastEnd.set(slice.row, Math.max(end, x(slice.start) + 1));
      }
      put(clip, slice, x, top + (isInner ? 22 : 1), isInner ? 10 : slice.kind === "stage" && rows > 1 ? ROW - 2 : 20, !isInner);
    }
    picture.append(clip);
    curves.forEach(([title, points, show], i) => picture.append(curve(title, points, TOP + rows * (ROW + GAP) + 8 + i * (CURVE + 10), x, right, show)));
    box.replaceChildren(picture);
    $("range").textContent = view.from === whole.from && view.to === whole.to ? "" : time(view.from) + " to " + time(view.to);
    choose(box, picture, x, right, height);
  }
  function look(from, to) {
    const least = (whole.to - whole.from) / 1e5;
    from = Math.max(whole.from, from);
    to = Math.min(whole.to, to);
    if (to - from < least) return;
    view = { from, to };
    timeLine();
  }
  function zoom(factor) {
    const middle = (view.from + view.to) / 2, half = (view.to - view.from) / 2 * factor;
    look(middle - half, middle + half);
  }
  /* A range is chosen by dragging. */
  function choose(box, picture, x, right, height) {
    let start = null, mark = null;
    const at = (event) => Math.min(right, Math.max(LEFT, event.clientX - picture.getBoundingClientRect().left));
    const time = (px) => view.from + (px - LEFT) / (right - LEFT) * (view.to - view.from);
    picture.addEventListener("pointerdown", (event) => { if (event.button === 0) start = at(event); });
    picture.addEventListener("pointermove", (event) => {
      if (start === null) return;
      const now = at(event);
      if (!mark && Math.abs(now - start) > 4) {
        mark = svg("rect", { y: 0, height, class: "chosen" });
        picture.append(mark);
        picture.setPointerCapture(event.pointerId);
      }
      if (mark) set(mark, { x: Math.min(start, now), width: Math.abs(now - start) });
    });
    picture.addEventListener("pointerup", (event) => {
      const from = start, now = at(event), dragged = mark;
      start = null;
      mark = null;
      if (dragged) look(time(Math.min(from, now)), time(Math.max(from, now)));
    });
    picture.addEventListener("dblclick", () => look(whole.from, whole.to));
  }

  function chunks() {
    const rowOf = new Map(), stateOf = new Map();
    for (const s of line.slices)
      if (s.kind === "chunk") { rowOf.set(s.chunk, line.rows[s.row]); stateOf.set(s.chunk, s.state); }
    const rows = data.chunks.map((chunk, i) => Object.assign({ number: i }, chunk));
    if (rows.length === 0) $("chunks-box").hidden = true;
    const difference = (c) => (c.ms === undefined || !c.estimate ? undefined : 100 * (c.ms / c.estimate - 1));
    table("chunks", "chunks", [
      { key: "number", title: "Chunk", value: (c) => c.number, show: (c) => chunkName(c.number), right: true },
      { key: "kernels", title: "Kernels", value: (c) => c.kernels.length, right: true },
      { key: "functions", title: "Functions", value: (c) => c.functions, right: true, about: "with copies that other chunks have too" },
      { key: "replicas", title: "Copies", value: (c) => c.replicas, right: true },
      { key: "ptx", title: "PTX", value: (c) => c.ptx_bytes, show: (c) => bytes(c.ptx_bytes), right: true, bar: true },
      { key: "cubin", title: "Cubin", value: (c) => c.cubin_bytes, show: (c) => (c.cubin_bytes === undefined ? "\u2013" : bytes(c.cubin_bytes)), right: true },
      { key: "estimate", title: "Estimate", value: (c) => c.estimate, show: (c) => (c.estimate === undefined ? "\u2013" : time(c.estimate)), right: true, about: "the share of the weight by which the program was split" },
      { key: "ms", title: "Time", value: (c) => c.ms, show: (c) => (c.ms === undefined ? "\u2013" : time(c.ms)), right: true, bar: true },
      { key: "difference", title: "Off by", value: difference, right: true, show: (c) => (difference(c) === undefined ? "\u2013" : (difference(c) > 0 ? "+" : "") + difference(c).toFixed(0) + " %") },
      { key: "worker", title: "Row", value: (c) => rowOf.get(c.number) || undefined },
      { key: "state", title: "Result", value: (c) => stateName(stateOf.get(c.number)) || "assembled" },
    ], rows, { sort: "number", row: (c) => pickable(state.chunk === c.number, () => pickChunk(c.number)) });
    if (data.single_chunk_reason) $("chunks").prepend(el("p", { class: "hint" }, "One chunk: " + data.single_chunk_reason + "."));
  }

  /* ---- kernels ---- */

  function functions() {
    const wanted = state.filter.toLowerCase();
    const rows = data.functions.filter((f) => (state.all || f.is_kernel) && (state.chunk === null || f.chunk === state.chunk) &&
      (!wanted || f.name.toLowerCase().includes(wanted) || label(f).toLowerCase().includes(wanted) || memberName(f.member).toLowerCase().includes(wanted)));
    const all = data.functions.filter((f) => state.all || f.is_kernel).length;
    $("found").textContent = rows.length < all ? plain(rows.length) + " of " + plain(all) : "";
    const hasTimes = data.functions.some((f) => f.ms !== undefined), hasChunks = data.chunks.length > 0;
    const columns = [
      { key: "name", title: "Name", value: label, class: "name long", full: (f) => f.name,
        show: (f) => (f.is_kernel ? label(f) : add(el("span", {}), [label(f), el("span", { class: "tag" }, "function")])) },
      { key: "member", title: "Member", value: (f) => (f.member === undefined ? undefined : memberName(f.member)), class: "long", full: (f) => memberName(f.member) },
      { key: "registers", title: "Registers", value: (f) => f.registers, right: true, bar: true },
      { key: "stack", title: "Stack", value: (f) => f.stack, right: true, bar: true, about: "bytes; a dash: without a bound, as with recursion" },
      { key: "shared", title: "Shared", value: (f) => f.shared, right: true, bar: true, about: "bytes of shared memory, with the driver's" },
      { key: "constants", title: "Constants", value: (f) => f.constants, right: true, bar: true, about: "bytes of bank 0: the parameters" },
      { key: "barriers", title: "Barriers", value: (f) => f.barriers, right: true },
      { key: "code", title: "Code", value: (f) => f.code, right: true, bar: true, about: "bytes" },
    ];
    if (hasChunks) columns.push({ key: "chunk", title: "Chunk", value: (f) => f.chunk, right: true });
    if (hasTimes) columns.push({ key: "ms", title: "Time", value: (f) => f.ms, show: (f) => (f.ms === undefined ? "\u2013" : time(f.ms)), right: true, bar: true });
    table("functions", "kernels", columns, rows, {
      sort: hasTimes ? "-ms" : "-code",
      none: data.functions.length ? "None with that." : "No output was made.",
      row: (f) => pickable(state.kernel === f.name, () => pick(data.functions.indexOf(f))),
    });
    $("chunk-filter").hidden = state.chunk === null;
    $("chunk-filter").textContent = state.chunk === null ? "" : chunkName(state.chunk) + " \u2715";
    $("filter").value = state.filter;
    $("with-functions").checked = state.all;
  }
  function pickChunk(chunk) {
    state.chunk = chunk;
    writeHash();
    timeLine();
    chunks();
    functions();
  }

  /* ---- call graph ---- */

  const callers = data.functions.map(() => []);
  data.functions.forEach((f, i) => {
    for (const to of f.calls) callers[to].push([i, false]);
    for (const to of f.may_call || []) callers[to].push([i, true]);
  });
  const MOST_NODES = 90, NODE = { width: 218, height: 38, across: 76, down: 12 };

  /* Layers by the shortest way from the chosen function, callers in front of it. */
  function layers(center) {
    const depth = new Map([[center, 0]]), queue = [center];
    let cut = 0;
    for (let i = 0; i < queue.length; i++) {
      const from = data.functions[queue[i]];
      for (const to of from.calls.concat(from.may_call || [])) {
        if (depth.has(to)) continue;
        if (depth.size >= MOST_NODES) { cut++; continue; }
        depth.set(to, depth.get(queue[i]) + 1);
        queue.push(to);
      }
    }
    for (const [from] of callers[center]) {
      if (depth.has(from)) continue;
      if (depth.size >= MOST_NODES + 12) { cut++; continue; }
      depth.set(from, -1);
    }
    const columns = new Map();
    for (const [node, d] of depth) columns.set(d, (columns.get(d) || []).concat(node));
    return { columns, depth, cut };
  }
  function clip(text, most) { return text.length > most ? text.slice(0, most - 1) + "\u2026" : text; }
  function graph(center) {
    const { columns, depth, cut } = layers(center), least = Math.min(...columns.keys());
    const tallest = Math.max(...[...columns.values()].map((c) => c.length));
    const height = tallest * (NODE.height + NODE.down) + 34, width = columns.size * (NODE.width + NODE.across);
    const place = new Map();
    for (const [d, list] of columns)
      list.forEach((node, i) => place.set(node, { x: (d - least) * (NODE.width + NODE.across) + 4,
        y: 8 + (tallest - list.length) / 2 * (NODE.height + NODE.down) + i * (NODE.height + NODE.down) }));
    const picture = svg("svg", { width, height, role: "img", "aria-label": "Call graph" });
    picture.append(svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0 L8 4 L0 8 Z", fill: "var(--quiet)" }))));
    const edge = (from, to, indirect) => {
      const a = place.get(from), b = place.get(to), middle = NODE.height / 2;
      if (!a || !b) return;
      let path;
      if (b.x > a.x) {
        const x1 = a.x + NODE.width, bend = Math.min(NODE.across, b.x - x1) * 0.6;
        path = "M" + x1 + " " + (a.y + middle) + " C" + (x1 + bend) + " " + (a.y + middle) + " " + (b.x - bend) + " " + (b.y + middle) + " " + (b.x - 1) + " " + (b.y + middle);
      } else if (b.x < a.x) {
        /* Back to an earlier column: below both. */
        const x1 = a.x + NODE.width / 2, x2 = b.x + NODE.width / 2 + 20, y1 = a.y + NODE.height, y2 = b.y + NODE.height, low = Math.max(y1, y2) + 26;
        path = "M" + x1 + " " + y1 + " C" + x1 + " " + low + " " + x2 + " " + low + " " + x2 + " " + (y2 + 1);
      } else {
        const x1 = a.x + NODE.width, out = x1 + 40, apart = from === to ? 8 : 4;
        path = "M" + x1 + " " + (a.y + middle + apart) + " C" + out + " " + (a.y + middle + apart * 3) + " " + out + " " + (b.y + middle - apart * 3) + " " + (x1 + 1) + " " + (b.y + middle - apart);
      }
      picture.append(svg("path", { d: path, class: "edge" + (indirect ? " indirect" : ""), "marker-end": "url(#arrow)" }));
    };
    for (const node of depth.keys()) {
      if (depth.get(node) < 0) {
        for (const [from, indirect] of callers[center]) if (from === node) edge(node, center, indirect);
        continue;
      }
      for (const to of data.functions[node].calls) edge(node, to, false);
      for (const to of data.functions[node].may_call || []) edge(node, to, true);
    }
    for (const [node, at] of place) {
      const f = data.functions[node];
      picture.append(svg("g", Object.assign({ class: "node" + (f.is_kernel ? " kernel" : "") + (node === center ? " center" : ""), transform: "translate(" + at.x + " " + at.y + ")", onclick: () => pick(node) },
        tipped(label(f), () => [f.name === label(f) ? null : f.name, memberName(f.member)])),
        svg("rect", { width: NODE.width, height: NODE.height, rx: 6 }), svg("text", { x: 10, y: 16 }, clip(label(f), 32)),
        svg("text", { x: 10, y: 31, class: "quiet" }, count(f.registers, "register") + ", " + bytes(f.code))));
    }
    $("graph").replaceChildren(picture);
    if (cut) $("graph").append(el("p", { class: "hint" }, "and " + count(cut, "call") + " to more functions"));
  }
  function pick(index) {
    state.kernel = data.functions[index].name;
    writeHash();
    functions();
    selected();
  }
  function selected() {
    const index = state.kernel === null ? undefined : functionByName.get(state.kernel);
    $("calls-hint").hidden = index !== undefined;
    $("selected").replaceChildren();
    $("graph").replaceChildren();
    if (index === undefined) {
      if (data.functions.length === 0) $("calls-hint").textContent = "No output was made.";
      return;
    }
    const f = data.functions[index], fact = (title, value) => el("li", {}, el("span", { class: "quiet" }, title + " "), el("b", {}, value));
    $("selected").append(el("div", { class: "name" }, label(f)), f.name === label(f) ? "" : el("div", { class: "mono quiet" }, f.name),
      el("ul", { class: "facts" }, fact("from", memberName(f.member) || "no member"), fact("registers", plain(f.registers)),
        fact("stack", f.stack === undefined ? "no bound" : bytes(f.stack)), fact("code", bytes(f.code)),
        f.calls.length || f.may_call ? fact("calls", plain(f.calls.length + (f.may_call || []).length)) : fact("calls", "nothing"),
        fact("called by", plain(callers[index].length)), f.may_call ? el("li", { class: "quiet" }, "dashed: through a pointer, it may") : ""));
    graph(index);
  }

  /* ---- sizes ---- */

  function stack(sizes, whole, thin) {
    const bar = el("div", { class: "stack" + (thin ? " thin" : "") });
    for (const name of CLASSES)
      if (sizes[name]) bar.append(el("span", Object.assign({ style: { width: 100 * sizes[name] / (whole || 1) + "%", background: "var(--" + name + ")" } }, tipped(name, () => [bytes(sizes[name])]))));
    return bar;
  }
  const sum = (sizes) => CLASSES.reduce((total, name) => total + (sizes[name] || 0), 0);
  function family(name) {
    const found = /^(\.text|\.rela?\.text|\.nv\.info|\.nv\.constant\d+|\.nv\.shared|\.nv\.local|\.nv\.capmerc\.text|\.nv\.merc\.[a-z]+(?:\.[a-z]+)?)\../.exec(name);
    return found ? found[1] + ".*" : name;
  }
  function sizes() {
    const classes = {}, families = new Map();
    for (const section of data.sections) {
      const key = family(section.name), isFile = section.offset !== undefined;
      const entry = families.get(key) || { name: key, for: section.for, count: 0, bytes: 0, is_file: isFile };
      entry.count++;
      entry.bytes += section.bytes;
      families.set(key, entry);
      if (isFile) classes[section.for] = (classes[section.for] || 0) + section.bytes;
    }
    const whole = sum(classes);
    const legend = el("ul", { class: "legend" });
    for (const name of CLASSES)
      if (classes[name]) legend.append(el("li", {}, el("i", { class: "dot", style: { background: "var(--" + name + ")" } }), name, el("span", { class: "quiet number" }, bytes(classes[name]))));
    if (whole) $("classes").replaceChildren(stack(classes, whole), legend);
    table("sections", "sections", [
      { key: "name", title: "Section", value: (s) => s.name, class: "name" },
      { key: "for", title: "For", value: (s) => s.for, show: (s) => add(el("span", {}), [el("i", { class: "dot", style: { background: "var(--" + s.for + ")" } }), " " + s.for]) },
      { key: "count", title: "Sections", value: (s) => s.count, right: true },
      { key: "bytes", title: "Bytes", value: (s) => s.bytes, right: true, bar: true, show: (s) => (s.is_file ? bytes(s.bytes) : el("span", { class: "quiet", title: "not in the file" }, "(" + bytes(s.bytes) + ")")) },
    ], [...families.values()], { sort: "-bytes", none: "No output was made." });
    const members = data.members.filter((m) => m.output_bytes && sum(m.output_bytes)), most = Math.max(1, ...members.map((m) => sum(m.output_bytes)));
    const made = {};
    for (const name of CLASSES) made[name] = Math.max(0, (classes[name] || 0) - members.reduce((total, m) => total + (m.output_bytes[name] || 0), 0));
    const rest = sum(made);
    const rows = members.map((m) => ({ name: m.name, bytes: sum(m.output_bytes), sizes: m.output_bytes }));
    if (rest > 0 && rows.length) rows.push({ name: "made by the link", bytes: rest, sizes: made, is_link: true });
    table("member-sizes", "member-sizes", [
      { key: "name", title: "Member", value: (m) => m.name, class: "long", full: (m) => m.name, show: (m) => (m.is_link ? el("span", { class: "quiet" }, m.name) : m.name) },
      { key: "bytes", title: "Bytes", value: (m) => m.bytes, right: true, show: (m) => bytes(m.bytes) },
      { key: "bar", title: "", value: (m) => m.bytes, show: (m) => stack(m.sizes, Math.max(most, rest), true) },
    ], rows, { sort: "-bytes", none: "No output was made." });
  }

  /* ---- members, options, what was left out ---- */

  function members() {
    table("member-list", "members", [
      { key: "name", title: "Member", value: (m) => m.name, class: "long", full: (m) => m.name },
      { key: "kind", title: "Kind", value: (m) => m.kind },
      { key: "target", title: "Target", value: (m) => m.target || undefined },
      { key: "use", title: "Used as", value: (m) => m.used_as, show: (m) => (m.is_used ? m.used_as : el("span", { class: "quiet" }, m.used_as)) },
      { key: "bytes", title: "Stored bytes", value: (m) => m.bytes, right: true, bar: true, show: (m) => (m.bytes === undefined ? "\u2013" : bytes(m.bytes)) },
      { key: "reason", title: "Why", value: (m) => m.reason || undefined, class: "wrapped" },
    ], data.members);
  }
  function options() {
    const box = $("consensus"), list = data.options, with_ = list.length ? list[0].members.map((m) => m.member) : [];
    if (with_.length === 0) {
      box.replaceChildren(el("p", { class: "hint" }, "No member brings options: only LTO-IR does."));
    } else {
      const states = { present: "all agree", mixed: "some have it", conflict: "they differ", absent: "none has it", none: "none has it" };
      const body = el("tbody", {});
      for (const option of list) {
        const row = el("tr", {}, el("td", { class: "name" }, option.name), el("td", { class: option.state === "conflict" ? "bad" : option.state === "present" ? "good" : "quiet" }, states[option.state]),
          el("td", { class: "right" }, option.value === undefined ? "\u2013" : option.value));
        for (const m of option.members.slice(0, 40)) row.append(el("td", { class: "right" + (m.value !== undefined && m.value !== option.value ? " bad" : "") }, m.value === undefined ? "\u2013" : m.value));
        body.append(row);
      }
      box.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "Option"), el("th", {}, "Members"), el("th", { class: "right" }, "Value"),
        ...with_.slice(0, 40).map((i) => el("th", { class: "right long", title: memberName(i) }, clip(memberName(i).replace(/^.*\//, ""), 22))))), body));
      if (with_.length > 40) box.append(el("p", { class: "hint" }, "and " + count(with_.length - 40, "member") + " more"));
    }
    if (data.in_force) {
      const facts = el("ul", { class: "facts" });
      for (const key in data.in_force) facts.append(el("li", {}, el("span", { class: "quiet mono" }, key + " "), el("b", {}, String(data.in_force[key]))));
      box.append(el("h3", {}, "In force"), facts);
    }
  }
  function drops() {
    table("drops", "left-out", [
      { key: "what", title: "What", value: (d) => d.what },
      { key: "name", title: "Name", value: (d) => d.name, class: "name long", full: (d) => d.name },
      { key: "member", title: "Of", value: (d) => d.member || undefined, class: "long", full: (d) => d.member },
      { key: "why", title: "Why", value: (d) => d.why, class: "wrapped" },
    ], data.left_out, { none: "Nothing: all that was given is in the output." });
  }

  /* ---- all of it ---- */

  function draw() {
    head();
    stages();
    timeLine();
    chunks();
    functions();
    selected();
    sizes();
    members();
    options();
    drops();
  }
  readHash();
  draw();
  addEventListener("hashchange", () => { if (readHash()) draw(); });
  let resizing = null;
  addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(timeLine, 80); });
  $("zoom-in").addEventListener("click", () => zoom(0.5));
  $("zoom-out").addEventListener("click", () => zoom(2));
  $("zoom-all").addEventListener("click", () => look(whole.from, whole.to));
  $("chunk-filter").addEventListener("click", () => pickChunk(null));
  $("filter").addEventListener("input", (event) => { state.filter = event.target.value; writeHash(); functions(); });
  $("with-functions").addEventListener("change", (event) => { state.all = event.target.checked; writeHash(); functions(); });
  document.documentElement.setAttribute("data-ready", "");
})();
