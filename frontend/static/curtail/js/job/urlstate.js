/**
 * The view as a query string: whoever opens the address sees the same.
 *
 *   from, to       epoch ms of a view that holds still; without them it is live
 *   span           ms across while live
 *   scale          log | linear
 *   latency        processed | committed
 *   hide           series that are switched off, by key
 *   a, b           the two ranges that are compared, each start-end
 *   incident       the incident that is open; "list" for the list of them
 */

const SCALES = ["log", "linear"];
const WHICH = ["processed", "committed"];

/** Fields that are absent or invalid are null: the page then uses its default. */
export function parse(search) {
  const given = new URLSearchParams(search);
  const from = whole(given.get("from"));
  const to = whole(given.get("to"));
  const a = range(given.get("a"));
  const b = range(given.get("b"));
  return {
    range: from !== null && to !== null && from < to ? [from, to] : null,
    spanMs: whole(given.get("span")),
    scale: among(SCALES, given.get("scale")),
    which: among(WHICH, given.get("latency")),
    hidden: given.getAll("hide"),
    compare: a && b ? { a, b } : null,
    incident: given.get("incident") === "list" ? "list" : whole(given.get("incident")),
  };
}

export function format({ range: shown, spanMs, scale, which, hidden, compare, incident }) {
  const query = new URLSearchParams();
  if (shown) {
    query.set("from", Math.round(shown[0]));
    query.set("to", Math.round(shown[1]));
  }
  query.set("span", spanMs);
  query.set("scale", scale);
  query.set("latency", which);
  for (const key of hidden) query.append("hide", key);
  if (compare) for (const name of ["a", "b"]) query.set(name, compare[name].map(Math.round).join("-"));
  if (incident !== null) query.set("incident", incident);
  return `?${query}`;
}

function whole(text) {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function range(text) {
  const [start, end] = (text ?? "").split("-").map(whole);
  return start && end && start < end ? [start, end] : null;
}

function among(allowed, value) {
  return allowed.includes(value) ? value : null;
}
