/** The section "Operator pool": per pool and host its instances, in the order of the chain. */

import { element, setText } from "../core/dom.js";
import { count, duration, NOTHING, percent, text } from "../core/format.js";
import { poolNow } from "./poolstats.js";
import { amount, rules } from "./poolwords.js";
import { clockTime } from "../core/times.js";

// Twice a second can be read; five times is a flicker.
const EVERY_MS = 450;
// More than this and they are shown in two tables, side by side where there is room.
const ONE_TABLE = 8;

export class PoolSection {
  #pools = new Map(); // key → what was built of it
  #shown = { atMs: -Infinity, what: "" };

  /** `onShow` is told which window a number is from. */
  constructor(root, list, title, caption, onShow) {
    Object.assign(this, { root, list, title, caption, onShow });
  }

  /** The seconds before `endMs`; `current` says whether that is now. */
  update(ring, endMs, current, zone) {
    const what = `${current} ${current ? "" : endMs} ${zone}`;
    const now = performance.now();
    if (what === this.#shown.what && now - this.#shown.atMs < EVERY_MS) return;
    this.#shown = { atMs: now, what };
    const pools = ring.pools.all.map((pool) => poolNow(ring, pool, endMs));
    this.root.hidden = pools.length === 0;
    this.root.classList.toggle("past", !current);
    setText(this.title, pools.length > 1 ? "Operator pools" : "Operator pool");
    const when = current ? "the last 10 s" : `the 10 s before ${clockTime(endMs, zone)}`;
    setText(this.caption, `Waiting: the most chunks within a second. Busy and chunks/s: mean over ${when}. p99: worst 50 ms window of them, from being sent to an instance to being done.`);
    this.#keepOnly(pools);
    for (const pool of pools) this.#pools.get(pool.key).show(pool, zone, current);
  }

  #keepOnly(pools) {
    const wanted = new Map(pools.map((pool) => [pool.key, shapeOf(pool)]));
    for (const [key, { shape, node }] of this.#pools) {
      if (wanted.get(key) === shape) continue;
      node.remove();
      this.#pools.delete(key);
    }
    for (const pool of pools) if (!this.#pools.has(pool.key)) this.#pools.set(pool.key, new PoolView(pool, this.onShow));
    const nodes = pools.map(({ key }) => this.#pools.get(key).node);
    if (nodes.some((node, i) => this.list.children[i] !== node)) this.list.replaceChildren(...nodes);
  }
}

/** A pool that was made anew with other instances, or has other columns, is built anew. */
function shapeOf(pool) {
  return JSON.stringify([more(pool).map(({ title }) => title), pool.operators.map(({ name, instances }) => [name, instances.map((each) => each.name)])]);
}

/** Columns that are only there while a technique makes their numbers. */
const MORE = [
  {
    column: "weight",
    title: "Weight",
    hint: "Share of the chunks that dispatchers send here, mean over them",
    when: ({ policy }) => policy === "latency-weighted",
    says: (value) => text(percent(value)),
  },
  {
    column: "parked",
    title: "Outgoing",
    hint: "The most chunks within a second that could not be sent on yet",
    when: ({ tau_ms: tauMs }) => tauMs > 0,
    says: (value) => text(count(value)),
  },
  {
    column: "sends",
    title: "May send",
    hint: "Share of the last 10 s in which its signal let it send",
    when: ({ tau_ms: tauMs }) => tauMs > 0,
    says: (value) => (value === null ? NOTHING : `${Math.round(value)}\u00a0%`),
  },
];

function more(pool) {
  return MORE.filter(({ when }) => when(pool));
}

class PoolView {
  #rules = element("ul", { class: "pool-rules" });
  #facts = element("p", { class: "pool-facts muted" });
  #heads = [];
  #rows = new Map();

  constructor(pool, onShow) {
    this.shape = shapeOf(pool);
    this.more = more(pool);
    this.node = element(
      "article",
      { class: "pool" },
      element("h3", {}, pool.name, element("span", { class: "muted" }, ` on ${pool.host}`)),
      this.#rules,
      this.#facts,
      element("ol", { class: "pool-chain" }, ...pool.operators.map((operator) => this.#operator(operator, onShow))),
    );
  }

  show(pool, zone, current) {
    this.#showRules(rules(pool, current));
    const said = [];
    if (pool.held !== null) said.push(`tasks have ${amount(pool.held, "chunk")} in it`);
    if (pool.replaced) said.push(`${amount(pool.replaced, "instance")} replaced`);
    if (pool.handed_out_again) said.push(`${amount(pool.handed_out_again, "chunk")} handed out again`);
    if (pool.goneMs !== null) said.unshift(`gone, last heard of at ${clockTime(pool.goneMs, zone)}`);
    setText(this.#facts, said.join(" · "));
    this.node.toggleAttribute("data-gone", pool.goneMs !== null);
    for (const head of this.#heads) setText(head, `, of ${text(count(pool.scale))}`);
    for (const { instances } of pool.operators) {
      for (const instance of instances) this.#rows.get(instance.key).show(instance, pool.scale);
    }
  }

  #showRules(said) {
    while (this.#rules.children.length > said.length) this.#rules.lastChild.remove();
    while (this.#rules.children.length < said.length) {
      this.#rules.append(element("li", {}, element("span"), " ", element("span", { class: "pool-by muted" })));
    }
    said.forEach(({ says, by }, i) => {
      const [sentence, name] = this.#rules.children[i].children;
      setText(sentence, says);
      setText(name, by);
    });
  }

  #operator({ name, instances }, onShow) {
    const half = Math.ceil(instances.length / 2);
    const parts = instances.length > ONE_TABLE ? [instances.slice(0, half), instances.slice(half)] : [instances];
    return element(
      "li",
      { class: "pool-operator" },
      element("h4", {}, name, element("span", { class: "muted" }, ` ${amount(instances.length, "instance")}`)),
      element("div", { class: "pool-tables" }, ...parts.map((part) => this.#table(name, part, onShow))),
    );
  }

  #table(operator, instances, onShow) {
    const scale = element("span", { class: "scale" });
    const waiting = element("th", { scope: "col", class: "metered" }, "Waiting", scale);
    this.#heads.push(scale);
    const rows = instances.map((instance) => {
      const row = new Row(instance, this.more, onShow);
      this.#rows.set(instance.key, row);
      return row.node;
    });
    const head = (word, kind, hint = "") => element("th", { scope: "col", class: kind, ...(hint && { title: hint }) }, word);
    const extra = this.more.map(({ title, hint }) => head(title, "extra", hint));
    const columns = [head("Instance", "name"), head("State", "standing"), waiting, head("Busy", "metered busy"), ...extra, head("Chunks/s", "rate"), head("p99", "p99")];
    return element(
      "table",
      { class: "pool-table", "data-extra": this.more.length, "aria-label": `Instances of ${operator}` },
      element("thead", {}, element("tr", {}, ...columns)),
      element("tbody", {}, ...rows),
    );
  }
}

class Row {
  #state = element("span", { class: "pool-state" });
  #queued = meter();
  #busy = meter();
  #rate = element("td", { class: "rate" });
  #p99 = element("button", { type: "button", class: "pool-number" });
  #atMs = null;
  #more;

  constructor({ name }, more, onShow) {
    this.#more = more.map((column) => ({ ...column, node: element("td", { class: "extra" }) }));
    this.#p99.addEventListener("click", () => onShow([this.#atMs, this.#atMs]));
    this.node = element(
      "tr",
      {},
      element("th", { scope: "row", class: "name", title: name }, name),
      element("td", { class: "standing" }, element("span", { class: "shape", "aria-hidden": "true" }), this.#state),
      element("td", { class: "metered" }, this.#queued.node),
      element("td", { class: "metered busy" }, this.#busy.node),
      ...this.#more.map(({ node }) => node),
      this.#rate,
      element("td", { class: "p99" }, this.#p99),
    );
  }

  show(instance, scale) {
    const { state, queued, busy, rate, p99 } = instance;
    for (const { column, says, node } of this.#more) setText(node, says(instance[column]));
    this.node.dataset.instance = state ?? "unknown";
    setText(this.#state, state ?? NOTHING);
    this.#queued.show(queued === null ? null : queued / scale, text(count(queued)));
    this.#busy.show(busy === null ? null : busy / 100, busy === null ? NOTHING : `${Math.round(busy)}\u00a0%`);
    setText(this.#rate, rate === null ? NOTHING : rate >= 100 ? rate.toFixed(0) : rate.toFixed(1));
    setText(this.#p99, text(duration(p99?.value ?? null)));
    this.#atMs = p99?.atMs ?? null;
    this.#p99.disabled = p99 === null;
    this.#p99.title = p99 ? "Show the window this came from" : "";
  }
}

/** A bar with its number beside it. */
function meter() {
  const fill = element("span", { class: "fill" });
  const word = element("span", { class: "meter-word" });
  return {
    node: element("span", { class: "meter" }, element("span", { class: "track", "aria-hidden": "true" }, fill), word),
    show(share, says) {
      fill.style.transform = `scaleX(${Math.min(1, share ?? 0).toFixed(3)})`;
      setText(word, says);
    },
  };
}
