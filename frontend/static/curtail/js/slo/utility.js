/**
 * What a measured value is worth, as `techniques/slo/objective.py` has it; one table of cases tests
 * both. Here it is only drawn: what counts is computed by the worker.
 */

export const SHAPES = [
  ["knee", "Knee: falls off as the paper has it"],
  ["linear", "Linear: straight down to zero"],
  ["step", "Step: all or nothing"],
  ["points", "Points of your own"],
];
export const MOST_POINTS = 32;
const FEWEST_POINTS = 2;

/** Latency is worth less the more there is of it, juice the more. */
export const KINDS = {
  latency: { rising: false, most: 3_600_000 },
  juice: { rising: true, most: 1 },
};

/** The share of its priority, 0 to 1, that a job gets for the value. */
export function share(kind, threshold, { shape, points }, value) {
  if (shape === "points") return between(points, value);
  if (kind === "juice") {
    if (value >= threshold) return 1;
    return shape === "step" ? 0 : Math.max(0, value / threshold);
  }
  if (value <= threshold) return 1;
  if (shape === "knee") return threshold / value;
  return shape === "linear" ? Math.max(0, 2 - value / threshold) : 0;
}

/** What is wrong with the points, in words; "" if nothing is. */
export function pointsFault(kind, points) {
  const { rising, most } = KINDS[kind];
  if (points.length < FEWEST_POINTS || points.length > MOST_POINTS) return `${FEWEST_POINTS} to ${MOST_POINTS} points`;
  if (points.some(([value]) => !(value >= 0 && value <= most))) return `Values from 0 to ${most}`;
  if (points.some(([, part]) => !(part >= 0 && part <= 1))) return "Shares from 0 to 1";
  for (let i = 1; i < points.length; i += 1) {
    if (points[i][0] <= points[i - 1][0]) return "Values that rise from point to point";
    const up = points[i][1] - points[i - 1][1];
    if (rising ? up < 0 : up > 0) return rising ? "More juice cannot be worth less" : "More latency cannot be worth more";
  }
  return "";
}

/** Points to begin with: what the knee is worth, in a few straight lines. */
export function firstPoints(kind, threshold) {
  if (kind === "juice") return [[0, 0], [threshold, 1]];
  return [[threshold, 1], [2 * threshold, 0.5], [4 * threshold, 0.25]];
}

/** The curve as [value, share], from zero to where it is told; corners are points of their own. */
export function curve(kind, threshold, utility, steps = 80) {
  const end = reach(kind, threshold, utility);
  const values = new Set(Array.from({ length: steps + 1 }, (_, i) => (i / steps) * end));
  for (const [at] of utility.shape === "points" ? utility.points : [[threshold], [2 * threshold]]) {
    if (at <= end) values.add(at);
  }
  const found = [...values].sort((a, b) => a - b).map((value) => [value, share(kind, threshold, utility, value)]);
  return utility.shape === "step" ? upright(found) : found;
}

/** How far the picture reaches: all of the juice there can be; of latency, well past the threshold. */
export function reach(kind, threshold, { shape, points }) {
  if (kind === "juice") return 1;
  return shape === "points" ? Math.max(points.at(-1)[0] * 1.15, threshold * 1.5) : threshold * 4;
}

// A step has two shares at one place, which a function has not.
function upright(points) {
  return points.flatMap(([value, part], i) => {
    const before = points[i - 1];
    if (!before || before[1] === part) return [[value, part]];
    return [before[1] > part ? [before[0], part] : [value, before[1]], [value, part]];
  });
}

function between(points, value) {
  if (value <= points[0][0]) return points[0][1];
  for (let i = 1; i < points.length; i += 1) {
    const [left, before] = points[i - 1];
    const [right, after] = points[i];
    if (value > right) continue;
    const part = (value - left) / (right - left);
    return before * (1 - part) + after * part;
  }
  return points.at(-1)[1];
}
