/**
 * Reduces a series to what a screen can show without losing a spike.
 *
 * Time is cut into buckets of about one pixel, and of each the minimum and the maximum stay, in
 * the order they came. Buckets start at multiples of their length, not at the left edge of the
 * view: otherwise the picture shimmers while it scrolls.
 */

/** The bucket length that gives at most `buckets` of them: a whole number of windows. */
export function bucketLength(spanMs, buckets, windowMs) {
  return Math.max(1, Math.ceil(spanMs / buckets / windowMs)) * windowMs;
}

/**
 * `value(number)` gives the value of the window of that number, NaN where there is none.
 *
 * Points further apart than `gapMs` are not joined: a null separates them. A point without a
 * neighbour would be invisible as a line, so it is also listed under `lone`.
 */
export function reduce(value, { from, to, windowMs, bucketMs, gapMs }) {
  const x = [];
  const y = [];
  const lone = { x: [], y: [] };
  const perBucket = Math.max(1, Math.round(bucketMs / windowMs));
  const perGap = gapMs / windowMs;
  let bucket = null;
  let last = null; // number of the last window with a value
  let runStart = 0; // where in x the points joined by the present line begin
  let low = 0, lowAt = 0, high = 0, highAt = 0;

  const push = (at, number) => {
    x.push(at * windowMs);
    y.push(number);
  };
  const flush = () => {
    if (bucket === null) return;
    if (lowAt < highAt) push(lowAt, low);
    push(highAt, high);
    if (highAt < lowAt) push(lowAt, low);
  };
  const endRun = () => {
    if (x.length - runStart !== 1) return;
    lone.x.push(x[runStart]);
    lone.y.push(y[runStart]);
  };

  for (let number = from; number < to; number += 1) {
    const v = value(number);
    if (Number.isNaN(v)) continue;
    const apart = last !== null && number - last > perGap;
    const own = Math.floor(number / perBucket);
    if (apart || own !== bucket) {
      flush();
      if (apart) {
        endRun();
        push(last + 1, null);
        runStart = x.length;
      }
      bucket = own;
      low = high = v;
      lowAt = highAt = number;
    } else if (v < low) {
      low = v;
      lowAt = number;
    } else if (v > high) {
      high = v;
      highAt = number;
    }
    last = number;
  }
  flush();
  endRun();
  return { x, y, lone };
}
