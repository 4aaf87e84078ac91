/**
 * The instances of operator pools on the time axis: what waits there, how busy each is, which share
 * of the chunks it gets, what it could not send on yet.
 *
 * A few instances have a series each. Of many, each operator has one: its longest queue or its
 * busiest instance, so that one that is full is never averaged away. Of weights the lowest says
 * as much as the highest.
 */

import { Places } from "../chart/places.js";

const FEW = 8;
const LABEL_LETTERS = 8;
const SHADES = 4;
const OF_MANY = { queued: ["longest"], busy: ["busiest"], parked: ["most"], weight: ["highest", "lowest"] };

/** Whether the ring has a pool, running or gone. */
export function present({ ring }) {
  return ring.pools.all.length > 0;
}

/** Whether some instance has a value of this column: of most, only a technique makes some. */
export function presentOf(column) {
  return ({ ring }) => wanted(ring, column).some(({ instances }) => instances.some(({ key }) => ring.holds(`pool_${column}`, key)));
}

/** The series of a panel; `says` makes words of a value. */
export function poolSeries(column, says) {
  const places = new Places();
  return ({ ring }) => {
    const found = wanted(ring, column);
    places.keepOnly(found.map(({ key }) => key));
    return found.map(({ key, name, instances, word }) => {
      const most = (number) => farthest(ring, column, instances, number, word === "lowest" ? -1 : 1);
      return {
        key,
        name,
        at: (number) => most(number).value,
        // With several instances, name the one that has the value.
        read: (value, number) => (instances.length > 1 && value > 0 ? `${says(value)} ${most(number).name}` : says(value)),
        look: { ...places.of(key), width: 1.25, opacity: 0.85 },
      };
    });
  };
}

/** A lane for each instance, the stronger the higher its value; `top` is what full strength stands for. */
export function poolLanes(column, colour, top = null) {
  return lanesOf(column, top, (ring, instance, span) => shaded(ring, column, instance, span, { colour, width: 6 }));
}

/** What each instance could not send on yet: thick while its signal lets it send, thin while it waits its turn. */
export function outgoingLanes() {
  return lanesOf("parked", null, (ring, instance, span) =>
    [[{ colour: "host-3", width: 6 }, true], [{ colour: "host-6", width: 2 }, false]].flatMap(([look, sends]) =>
      shaded(ring, "parked", instance, span, look, (number) => valueOf(ring, "signal", instance.key, number) > 0 === sends),
    ),
  );
}

function lanesOf(column, top, parts) {
  return ({ ring, range }) => {
    const { from, to } = ring.span(...range);
    const found = wanted(ring, column);
    const full = top ?? most(ring, column, found, from, to);
    return found.flatMap(({ key, instances }) =>
      instances.map((instance) => ({ key, label: shortened(instance.name), parts: parts(ring, instance, { from, to, full }) })),
    );
  };
}

/** "enrichment-12" → "enri…-12": what the left margin has room for */
export function shortened(name) {
  const number = /-\d+$/.exec(name)?.[0] ?? "";
  return name.length <= LABEL_LETTERS ? name : `${name.slice(0, LABEL_LETTERS - number.length - 1)}…${number}`;
}

function wanted(ring, column) {
  // The weight of an operator's only instance says nothing, and its 100 % would flatten the others.
  const pools = column === "weight" ? ring.pools.all.map(withSiblings) : ring.pools.all;
  const several = new Set(pools.map(({ host }) => host)).size > 1;
  const all = pools.flatMap(({ host, instances }) => instances.map((each) => ({ ...each, host })));
  if (all.length <= FEW) {
    return all.map((each) => {
      const name = several ? `${each.name} on ${each.host}` : each.name;
      return { key: `${column} ${each.key.replaceAll("\n", " ")}`, name, instances: [each] };
    });
  }
  const operators = new Map();
  for (const pool of pools) {
    for (const operator of pool.operators) {
      const key = `${column} ${pool.name} ${operator}`;
      const own = pool.instances.filter((each) => each.operator === operator);
      const before = operators.get(key)?.instances ?? [];
      const named = own.map((each) => ({ ...each, name: several ? `${each.name} on ${pool.host}` : each.name }));
      operators.set(key, { key, operator, instances: [...before, ...named] });
    }
  }
  return [...operators.values()].flatMap(({ key, operator, instances }) =>
    OF_MANY[column].map((word, i) => ({ key: i ? `${key} ${word}` : key, name: `${operator}, ${word} of ${instances.length}`, instances, word })),
  );
}

function withSiblings(pool) {
  const operators = pool.operators.filter((name) => pool.instances.filter(({ operator }) => operator === name).length > 1);
  return { ...pool, operators, instances: pool.instances.filter(({ operator }) => operators.includes(operator)) };
}

function valueOf(ring, column, key, number) {
  return ring.of(`pool_${column}`, key, number);
}

/** The highest value and whose it is; the lowest with a `sign` of -1. */
function farthest(ring, column, instances, number, sign = 1) {
  let found = { value: NaN, name: "" };
  for (const { key, name } of instances) {
    const value = valueOf(ring, column, key, number);
    if (!Number.isNaN(value) && !(sign * value <= sign * found.value)) found = { value, name };
  }
  return found;
}

function most(ring, column, found, from, to) {
  let top = 1;
  for (const { instances } of found) {
    for (let number = from; number < to; number += 1) {
      const { value } = farthest(ring, column, instances, number);
      if (value > top) top = value;
    }
  }
  return top;
}

/** Runs of windows of the same shade, of those `when` is true of: [{look, items}] */
export function shaded(ring, column, { key }, { from, to, full }, look, when = () => true) {
  const runs = Array.from({ length: SHADES }, () => []);
  let shade = 0;
  let since = from;
  for (let number = from; number <= to; number += 1) {
    const value = number < to && when(number) ? valueOf(ring, column, key, number) : 0;
    const next = value > 0 ? Math.min(SHADES, Math.ceil((SHADES * value) / full)) : 0;
    if (next === shade) continue;
    if (shade > 0) runs[shade - 1].push([since * ring.windowMs, number * ring.windowMs]);
    shade = next;
    since = number;
  }
  return runs.map((items, i) => ({ look: { ...look, opacity: (i + 1) / SHADES }, items }));
}
