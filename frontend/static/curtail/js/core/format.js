/** Numbers as people read them: three significant digits and a unit beside each. */

export const NOTHING = "–";

const DURATIONS = [[1, "ms"], [1e3, "s"], [6e4, "min"], [3.6e6, "h"]];
const COUNTS = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"]];
const BYTES = [[1, "B"], [2 ** 10, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]];
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 183.4 → {value: "183", unit: "ms"}; 2034 → {value: "2.03", unit: "s"} */
export function duration(ms) {
  return scaled(ms, DURATIONS);
}

/** 12345 → {value: "12.3", unit: "k"}; whole numbers below a thousand stay whole. */
export function count(number) {
  if (Number.isInteger(number) && Math.abs(number) < 1000) return { value: String(number), unit: "" };
  return scaled(number, COUNTS);
}

/** 1536 → {value: "1.50", unit: "KiB"}: memory is given out in powers of two. */
export function bytes(number) {
  return scaled(number, BYTES);
}

export function percent(number) {
  return scaled(number, [[1, "%"]]);
}

/** {value: "2.03", unit: "s"} → "2.03 s", held together by a no-break space */
export function text({ value, unit }) {
  return unit && value !== NOTHING ? `${value}\u00a0${unit}` : value;
}

/** A span that only has to be roughly known: "12 s", "3 min", "2 h 5 min", "4 d". */
export function age(ms) {
  const held = Math.max(0, ms);
  if (held < MINUTE) return `${Math.floor(held / SECOND)} s`;
  if (held < HOUR) return `${Math.floor(held / MINUTE)} min`;
  if (held < 2 * DAY) return `${Math.floor(held / HOUR)} h ${Math.floor((held % HOUR) / MINUTE)} min`;
  return `${Math.floor(held / DAY)} d`;
}

/** The label of a round axis value: no trailing zeros, unlike `duration`. */
export function tick(ms) {
  const { value, unit } = duration(ms);
  return `${Number(value)} ${unit}`;
}

function scaled(number, units) {
  if (number === null || number === undefined || !Number.isFinite(number)) {
    return { value: NOTHING, unit: units[0][1] };
  }
  let chosen = 0;
  // Compare what will be printed: 999.6 ms prints as 1.00 s, not as 1000 ms.
  while (chosen + 1 < units.length && rounded(number / units[chosen][0]) >= 1000) chosen += 1;
  const [size, unit] = units[chosen];
  return { value: digits(number / size), unit };
}

function rounded(number) {
  return Math.abs(Number(number.toPrecision(3)));
}

function digits(number) {
  if (number === 0) return "0";
  if (rounded(number) >= 1000) return number.toFixed(0);
  // Anything smaller than a thousandth is noise here, and toPrecision would spell it out.
  if (rounded(number) < 0.001) return number < 0 ? ">-0.001" : "<0.001";
  return rounded(number) >= 100 ? number.toFixed(0) : number.toPrecision(3);
}
