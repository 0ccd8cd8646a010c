// The cost explorer. No library: numbers first, then drawings of them.
// The arithmetic is that of skewboost/plots/report/explorer.py, in the same order.
"use strict";
(function () {
  const root = document.getElementById("explorer");
  if (!root) return;
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const T = data.thresholds, K = data.lowest.length;

  // ------------------------------------------------------------------ numbers

  function cumulate(values) {
    const sums = [0];
    for (const value of values) sums.push(sums[sums.length - 1] + value);
    return sums;
  }

  const FN = cumulate(data.positives), TN = cumulate(data.negatives);
  const P = FN[K], N = TN[K];

  function costs(s) {
    const found = new Array(K + 1);
    for (let k = 0; k <= K; k++) {
      found[k] = s.miss * (s.prevalence * (FN[k] / P)) + s.alarm * ((1 - s.prevalence) * ((N - TN[k]) / N));
    }
    return found;
  }

  function bestOf(cost) { // of several the highest threshold, which flags the fewest
    let best = K;
    for (let k = K - 1; k >= 0; k--) if (cost[k] < cost[best]) best = k;
    return best;
  }

  function share(part, whole) { return whole === 0 ? NaN : part / whole; }

  function outcome(s) {
    const k = s.index, pi = s.prevalence, cost = costs(s), best = bestOf(cost);
    const tp = pi * ((P - FN[k]) / P), fp = (1 - pi) * ((N - TN[k]) / N);
    const fn = pi * (FN[k] / P), tn = (1 - pi) * (TN[k] / N);
    return {
      tp, fp, fn, tn, curve: cost, cost: cost[k], none: cost[K], all: cost[0], best,
      recall: share(tp, tp + fn), precision: share(tp, tp + fp), specificity: share(tn, tn + fp),
      f1: share(2 * tp, 2 * tp + fn + fp), flagged: share(tp + fp, tp + fn + (tn + fp)),
      savings: 1 - share(cost[k], Math.min(cost[K], cost[0])),
      savingsNone: 1 - share(cost[k], cost[K]), savingsAll: 1 - share(cost[k], cost[0]),
      bestCost: cost[best], bestThreshold: T[best],
    };
  }

  function indexAt(threshold) { // the first bin that is flagged as a whole
    let low = 0, high = K;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.lowest[middle] < threshold) low = middle + 1; else high = middle;
    }
    return low;
  }

  // ------------------------------------------------------------------ words

  const THIN = "\u202f", NONE = "\u2013";

  function digits(x, n) { // n significant digits, thousands apart, no exponent
    if (!isFinite(x)) return NONE;
    if (x === 0) return "0";
    const decimals = Math.max(0, Math.min(12, n - 1 - Math.floor(Math.log10(Math.abs(x)))));
    let text = Math.abs(x).toFixed(decimals);
    if (text.includes(".")) text = text.replace(/\.?0+$/, "");
    const parts = text.split(".");
    if (parts[0].length > 4) parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, THIN);
    return (x < 0 ? "\u2212" : "") + parts.join(".");
  }

  function count(x) { return x >= 100 ? digits(Math.round(x), 15) : digits(x, Math.abs(x) < 1 ? 2 : 3); }

  function percent(x) {
    if (!isFinite(x)) return NONE;
    const near = Math.min(Math.abs(x), Math.abs(1 - x));
    const n = near > 0 && near < 0.001 ? 5 : near < 0.1 ? 3 : 3;
    return digits(100 * x, Math.abs(x) > 0.99 && x !== 1 ? Math.max(n, 4) : n) + THIN + "%";
  }

  // ------------------------------------------------------------------ settings

  const start = {
    miss: data.miss, alarm: data.alarm, prevalence: P / (P + N),
    index: data.own === null ? bestOf(costs({ miss: data.miss, alarm: data.alarm, prevalence: P / (P + N) })) : data.own,
    per: data.per,
  };
  let state = Object.assign({}, start);
  const by = (name) => root.querySelector('[data-of="' + name + '"]');
  const LOG = { miss: [1e-3, 1e6], alarm: [1e-3, 1e6], prevalence: [1e-6, 0.999] };

  function fromSlider(name, value) {
    const [low, high] = LOG[name];
    return Number((low * Math.pow(high / low, value / 1000)).toPrecision(3));
  }

  function toSlider(name, x) {
    const [low, high] = LOG[name];
    return Math.round((1000 * Math.log(x / low)) / Math.log(high / low));
  }

  function valid(name, x) {
    if (!isFinite(x)) return false;
    return name === "prevalence" ? x > 0 && x < 1 : x > 0 && x <= 1e12;
  }

  function readHash() {
    const given = new URLSearchParams(location.hash.slice(1)), next = Object.assign({}, start);
    if (!given.has("miss") && !given.has("threshold")) return false; // an ordinary link within the page
    for (const name of ["miss", "alarm", "prevalence"]) {
      const x = Number(given.get(name));
      if (given.has(name) && valid(name, x)) next[name] = x;
    }
    const threshold = given.get("threshold");
    if (threshold !== null && threshold !== "" && isFinite(Number(threshold))) next.index = indexAt(Number(threshold));
    const per = root.querySelector('[name="per"]');
    if (given.has("per") && [...per.options].some((o) => o.value === given.get("per"))) next.per = given.get("per");
    state = next;
    return true;
  }

  function hash() {
    const s = state;
    return "#miss=" + s.miss + "&alarm=" + s.alarm + "&prevalence=" + s.prevalence + "&threshold=" + T[s.index] +
      "&per=" + s.per;
  }

  let timer = 0; // of the address bar
  function rememberHash() { // browsers limit how often the address may change
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", hash()), 150);
  }

  // ------------------------------------------------------------------ drawings

  const SVG = "http://www.w3.org/2000/svg"; // a name: nothing is requested from it

  function draw(name, attributes, parent, text) {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  }

  // Probabilities are drawn on a scale of log-odds, on which rare classes have room; other scores as they are.
  const probabilities = data.kind === "probability";
  // The scale ends where few scores are left beyond it.
  function end(beyond, ends) { // the first end beyond which there is less than 30 % of either class
    return ends.find((e) => {
      let p = 0, n = 0;
      for (let k = 0; k < K; k++) if (beyond(data.lowest[k], e)) { p += data.positives[k]; n += data.negatives[k]; }
      return p < 0.3 * P && n < 0.3 * N;
    }) || ends[ends.length - 1];
  }
  // Probabilities of exactly 0 and 1, as of forests, are drawn at the ends of the scale.
  const LOW = end((p, e) => p > 0 && p < e, [1e-4, 1e-6, 1e-9, 1e-15, 1e-30, 1e-60]);
  const HIGH = end((p, e) => p < 1 && 1 - p < e, [1e-4, 1e-6, 1e-9, 1e-15]);
  const logit = (p) => {
    if (p <= LOW) return Math.log(LOW);
    return 1 - p <= HIGH ? -Math.log(HIGH) : Math.log(p / (1 - p));
  };
  const scale = probabilities ? logit : (x) => x;
  let left = scale(data.lowest[0]), right = scale(data.lowest[K - 1]);
  if (!(right > left)) { left -= 1; right += 1; }
  const margin = 0.02 * (right - left);
  left -= margin; right += margin;

  const W = 640, INSET = { left: 54, right: 14 };
  const X = (x) => INSET.left + ((W - INSET.left - INSET.right) * (Math.min(right, Math.max(left, scale(x))) - left)) / (right - left);

  function scoreTicks() {
    if (probabilities) {
      const all = [1e-60, 1e-30, 1e-20, 1e-15, 1e-10, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.999999];
      const inside = all.filter((p) => p >= LOW && 1 - p >= HIGH && logit(p) >= left && logit(p) <= right);
      const apart = [];
      for (const p of inside) if (!apart.length || X(p) - X(apart[apart.length - 1]) > 62) apart.push(p);
      return apart.length > 2 ? apart : niceTicks(data.lowest[0], data.lowest[K - 1], 5);
    }
    return niceTicks(left, right, 7);
  }

  function niceTicks(low, high, n) {
    const raw = (high - low) / n || 1, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw);
    const ticks = [];
    for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) ticks.push(Number((k * step).toPrecision(12)));
    return ticks;
  }

  function scoreAxis(svg, y, labelled) {
    draw("line", { x1: INSET.left, x2: W - INSET.right, y1: y, y2: y, class: "axis" }, svg);
    for (const tick of scoreTicks()) {
      const x = X(tick);
      draw("line", { x1: x, x2: x, y1: y, y2: y + 4, class: "axis" }, svg);
      if (labelled) draw("text", { x, y: y + 17, "text-anchor": "middle" }, svg, tick > 0 && tick < 1e-3 ? tick.toExponential() : String(tick));
    }
  }

  function histogram() { // positives upwards, negatives downwards, as proportions of their class
    const svg = root.querySelector("#plot-scores"), cells = 64, H = 250, middle = 126;
    const width = (W - INSET.left - INSET.right) / cells;
    const up = new Array(cells).fill(0), down = new Array(cells).fill(0);
    for (let k = 0; k < K; k++) {
      const cell = Math.min(cells - 1, Math.floor((X(data.lowest[k]) - INSET.left) / width));
      up[cell] += data.positives[k] / P;
      down[cell] += data.negatives[k] / N;
    }
    // square roots, so that many easy negatives do not hide the other bars
    const height = (v, most) => 92 * Math.min(1, Math.sqrt(v / most));
    const most = (cellsOf) => Math.max(...cellsOf.slice(1, -1)) || Math.max(...cellsOf); // the ends hold all beyond
    const mostUp = most(up), mostDown = most(down);
    const bars = [];
    for (let c = 0; c < cells; c++) {
      const x = INSET.left + c * width;
      const h = height(up[c], mostUp), d = height(down[c], mostDown);
      const box = { x: x + 0.5, width: width - 1 };
      const top = draw("rect", Object.assign({ y: middle - h, height: h, class: "positive" }, box), svg);
      const low = draw("rect", Object.assign({ y: middle, height: d, class: "negative" }, box), svg);
      bars.push([x + width / 2, top, low]);
    }
    draw("line", { x1: INSET.left, x2: W - INSET.right, y1: middle, y2: middle, class: "axis" }, svg);
    scoreAxis(svg, H - 26, true);
    draw("text", { x: INSET.left + 2, y: 14, class: "label positive-text" }, svg, "\u25b2 " + data.positiveName);
    draw("text", { x: W - INSET.right - 2, y: H - 34, "text-anchor": "end", class: "label negative-text" }, svg, "\u25bc " + data.negativeName);
    const grip = draw("g", { class: "grip" }, svg);
    draw("line", { x1: 0, x2: 0, y1: 4, y2: H - 26, class: "threshold" }, grip);
    draw("path", { d: "M-7 2h14l-7 9z", class: "handle" }, grip);
    draw("rect", { x: -12, width: 24, y: 0, height: H - 26, fill: "transparent" }, grip);
    const side = draw("text", { y: 29, class: "hint" }, svg, "flagged \u2192");
    const move = (event) => {
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) * W) / box.width;
      let nearest = 0;
      for (let k = 1; k <= K; k++) if (Math.abs(X(T[k]) - at) < Math.abs(X(T[nearest]) - at)) nearest = k;
      change({ index: nearest });
    };
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      move(event);
      svg.addEventListener("pointermove", move);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      svg.addEventListener(end, () => svg.removeEventListener("pointermove", move));
    }
    return function (s) {
      const x = X(T[s.index]);
      grip.setAttribute("transform", "translate(" + x + " 0)");
      const late = x > W - 90;
      side.setAttribute("x", late ? x - 8 : x + 8);
      side.setAttribute("text-anchor", late ? "end" : "start");
      for (const [at, top, low] of bars) {
        top.classList.toggle("off", at < x);
        low.classList.toggle("off", at < x);
      }
    };
  }

  function clear(element) { while (element.firstChild) element.removeChild(element.firstChild); }

  function line(points) { return points.map((p, k) => (k ? "L" : "M") + p[0].toFixed(1) + " " + p[1].toFixed(1)).join(""); }

  function costPlot() {
    const svg = root.querySelector("#plot-cost"), layer = draw("g", {}, svg), H = 200, top = 14, bottom = H - 30;
    scoreAxis(svg, bottom, true);
    return function (s, o) {
      clear(layer);
      const high = 1.6 * Math.min(o.none, o.all) || 1;
      const Y = (v) => bottom - ((bottom - top) * Math.min(v, high)) / high;
      for (const tick of niceTicks(0, high, 4)) {
        draw("line", { x1: INSET.left, x2: W - INSET.right, y1: Y(tick), y2: Y(tick), class: "grid" }, layer);
        draw("text", { x: INSET.left - 6, y: Y(tick) + 4, "text-anchor": "end" }, layer, digits(tick, 3));
      }
      const rules = [[o.none, "flag none"], [o.all, "flag all"]];
      for (const [v, words] of rules) {
        if (v > high) continue;
        draw("line", { x1: INSET.left, x2: W - INSET.right, y1: Y(v), y2: Y(v), class: "rule" }, layer);
        draw("text", { x: words === "flag none" ? INSET.left + 4 : W - INSET.right - 4, y: Y(v) - 4, class: "hint",
          "text-anchor": words === "flag none" ? "start" : "end" }, layer, words);
      }
      const points = [];
      for (let k = 0; k <= K; k++) points.push([X(T[k]), Y(o.curve[k])]);
      draw("path", { d: line(points), class: "curve" }, layer);
      draw("path", { d: "M0 -8L7 5H-7z", class: "best", transform: "translate(" + X(T[o.best]) + " " + (Y(o.bestCost) + 10) + ")" }, layer);
      draw("line", { x1: X(T[s.index]), x2: X(T[s.index]), y1: top, y2: bottom, class: "threshold" }, layer);
      draw("circle", { cx: X(T[s.index]), cy: Y(o.cost), r: 5, class: "here" }, layer);
    };
  }

  function square(id, xName, yName) { // axes from 0 to 1
    const svg = root.querySelector(id), S = 300, low = 40, high = S - 12, span = high - low;
    const at = (x, y) => [low + span * x, S - low - span * y];
    for (const v of [0, 0.25, 0.5, 0.75, 1]) {
      const [x] = at(v, 0), [, y] = at(0, v);
      draw("line", { x1: x, x2: x, y1: at(0, 0)[1], y2: at(0, 1)[1], class: "grid" }, svg);
      draw("line", { x1: at(0, 0)[0], x2: at(1, 0)[0], y1: y, y2: y, class: "grid" }, svg);
      if (v === 0.25 || v === 0.75) continue;
      draw("text", { x, y: S - low + 16, "text-anchor": "middle" }, svg, String(v));
      draw("text", { x: low - 6, y: y + 4, "text-anchor": "end" }, svg, String(v));
    }
    draw("text", { x: low + span / 2, y: S - 6, "text-anchor": "middle", class: "label" }, svg, xName);
    draw("text", { x: 12, y: S / 2 - 14, transform: "rotate(-90 12 " + (S / 2 - 14) + ")", "text-anchor": "middle", class: "label" }, svg, yName);
    return [draw("g", {}, svg), at];
  }

  function mark(layer, at, o, s, pointOf) {
    const best = pointOf(o.best), own = data.own === null ? null : pointOf(data.own), here = pointOf(s.index);
    if (own) { const [x, y] = at(...own); draw("path", { d: "M-5 -5L5 5M-5 5L5 -5", class: "own", transform: "translate(" + x + " " + y + ")" }, layer); }
    if (best) { const [x, y] = at(...best); draw("path", { d: "M0 -7L6 4H-6z", class: "best", transform: "translate(" + x + " " + y + ")" }, layer); }
    if (here) { const [cx, cy] = at(...here); draw("circle", { cx, cy, r: 5, class: "here" }, layer); }
  }

  function rocPlot() {
    const [layer, at] = square("#plot-roc", "false-alarm rate", "recall");
    const pointOf = (k) => [(N - TN[k]) / N, (P - FN[k]) / P];
    const points = [];
    for (let k = 0; k <= K; k++) points.push(at(...pointOf(k)));
    draw("path", { d: line([at(0, 0), at(1, 1)]), class: "rule" }, layer);
    draw("path", { d: line(points), class: "curve" }, layer);
    const marks = draw("g", {}, layer);
    return function (s, o) { clear(marks); mark(marks, at, o, s, pointOf); };
  }

  function prPlot() {
    const [layer, at] = square("#plot-pr", "recall", "precision");
    return function (s, o) {
      clear(layer);
      const pi = s.prevalence;
      const pointOf = (k) => {
        const tp = pi * ((P - FN[k]) / P), fp = (1 - pi) * ((N - TN[k]) / N);
        return tp + fp > 0 ? [(P - FN[k]) / P, tp / (tp + fp)] : null;
      };
      const points = [];
      for (let k = 0; k <= K; k++) { const p = pointOf(k); if (p) points.push(at(...p)); }
      draw("path", { d: line([at(0, pi), at(1, pi)]), class: "rule" }, layer);
      draw("path", { d: line(points), class: "curve" }, layer);
      mark(layer, at, o, s, pointOf);
    };
  }

  const plots = [histogram(), costPlot(), rocPlot(), prPlot()];

  // ------------------------------------------------------------------ the page follows

  function setText(name, text, value) {
    const element = by(name);
    element.textContent = text;
    if (value !== undefined) element.setAttribute("data-value", String(value));
  }

  function cases(s) { return s.per === "tested" ? P + N : Number(s.per); }

  function show() {
    const s = state, o = outcome(s), n = cases(s);
    for (const name of ["miss", "alarm", "prevalence"]) {
      root.querySelector('[name="' + name + '"]').value = toSlider(name, s[name]);
      const box = root.querySelector('[name="' + name + '-number"]');
      const shown = name === "prevalence" ? Number((100 * s[name]).toPrecision(6)) : Number(s[name].toPrecision(6));
      if (document.activeElement !== box) box.value = shown;
    }
    const slider = root.querySelector('[name="threshold"]'), box = root.querySelector('[name="threshold-number"]');
    slider.value = s.index;
    slider.setAttribute("aria-valuetext", String(T[s.index]));
    if (document.activeElement !== box) box.value = T[s.index];
    root.querySelector('[name="per"]').value = s.per;
    for (const cell of ["tp", "fp", "fn", "tn"]) setText(cell, count(n * o[cell]), n * o[cell]);
    for (const rate of ["recall", "precision", "specificity", "f1", "flagged"]) setText(rate, percent(o[rate]), o[rate]);
    setText("cost", digits(o.cost, 4), o.cost);
    setText("total", digits(n * o.cost, 4), n * o.cost);
    setText("savings-none", percent(o.savingsNone), o.savingsNone);
    setText("savings-all", percent(o.savingsAll), o.savingsAll);
    setText("best", String(o.bestThreshold), o.bestThreshold);
    setText("best-cost", digits(o.bestCost, 4), o.bestCost);
    const more = o.bestCost > 0 ? o.cost / o.bestCost - 1 : o.cost > 0 ? Infinity : 0;
    setText("excess", more === 0 ? "the lowest possible" : isFinite(more) ? percent(more) + " more" : "the best costs nothing");
    setText("n-cases", digits(n, 15));
    setText("settings", "A miss costs " + digits(s.miss, 4) + ", a false alarm " + digits(s.alarm, 4) + "; " +
      percent(s.prevalence) + " are positive; flagged from " + T[s.index] + " on.");
    const alarms = o.tp > 0 ? 1 + o.fp / o.tp : NaN;
    setText("in-words", (s.index === K ? "Nothing is flagged." : "Finds " + percent(o.recall) + " of the positives; " +
      (isFinite(alarms) ? (alarms < 2.5 ? percent(o.precision) + " of the alarms are right" : "1 alarm in " + digits(alarms, 2) + " is right") : "no alarm is right") + ".") +
      " Costs " + digits(n * o.cost, 3) + " in " + digits(n, 15) + " cases, " + (o.savings === 0 ? "as much as " : o.savings > 0 ? percent(o.savings) + " less than " : percent(-o.savings) + " more than ") +
      (o.none <= o.all ? "flagging none." : "flagging all."));
    by("use-best").disabled = s.index === o.best;
    for (const plot of plots) plot(s, o);
    root.setAttribute("data-settings", hash().slice(1));
  }

  function change(what) {
    Object.assign(state, what);
    show();
    rememberHash();
  }

  for (const name of ["miss", "alarm", "prevalence"]) {
    root.querySelector('[name="' + name + '"]').addEventListener("input", (event) => {
      change({ [name]: fromSlider(name, Number(event.target.value)) });
    });
    const box = root.querySelector('[name="' + name + '-number"]');
    box.addEventListener("input", () => {
      const x = box.value === "" ? NaN : name === "prevalence" ? Number(box.value) / 100 : Number(box.value);
      box.setAttribute("aria-invalid", String(!valid(name, x)));
      if (valid(name, x)) change({ [name]: x });
    });
    box.addEventListener("blur", () => { box.removeAttribute("aria-invalid"); show(); });
  }
  root.querySelector('[name="threshold"]').addEventListener("input", (event) => change({ index: Number(event.target.value) }));
  const thresholdBox = root.querySelector('[name="threshold-number"]');
  thresholdBox.addEventListener("change", () => {
    if (thresholdBox.value !== "" && isFinite(Number(thresholdBox.value))) change({ index: indexAt(Number(thresholdBox.value)) });
  });
  thresholdBox.addEventListener("blur", show);
  root.querySelector('[name="per"]').addEventListener("change", (event) => change({ per: event.target.value }));
  by("use-best").addEventListener("click", () => change({ index: outcome(state).best }));
  by("reset").addEventListener("click", () => change(Object.assign({}, start)));
  by("copy").addEventListener("click", () => {
    history.replaceState(null, "", hash());
    const done = (text) => { setText("copied", text); setTimeout(() => setText("copied", ""), 3000); };
    const place = location.href;
    if (navigator.clipboard) navigator.clipboard.writeText(place).then(() => done("Link copied."), () => done("The address of this page now holds the settings."));
    else done("The address of this page now holds the settings.");
  });
  window.addEventListener("hashchange", () => { if (readHash()) show(); });

  readHash();
  show();
  root.classList.add("alive");
})();
