/** How long to wait before the next try: 0.5 s, doubling up to 5 s. */

const FIRST_MS = 500;
const LONGEST_MS = 5000;

/** Jitter takes away up to half: a server that comes back must not meet all browsers at once. */
export function backoffMs(attempt, random = Math.random) {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt);
  return whole * (1 - random() / 2);
}
