/**
 * How often the page draws: as soon as windows come, at most five times a second, with the
 * browser's frames, and less often on a slow machine. Without windows, time moves on all the same.
 */

const TICK_MS = 200;
const SOONEST_MS = 150; // windows come every 200 ms, give or take
const WITHOUT_NEWS_MS = 400;
// A slow machine gets to do other things for two thirds of the time.
const REST = 2;
const LONGEST_REST_MS = 2000;

/** → [start ticking, draw unless it is too soon] */
export function pace(tick, draw) {
  let beganMs = -Infinity;
  let restUntilMs = 0;
  let waiting = false;
  const redraw = (news) => {
    const now = performance.now();
    if (waiting || now < restUntilMs || now - beganMs < (news ? SOONEST_MS : WITHOUT_NEWS_MS)) return;
    waiting = true;
    requestAnimationFrame(async () => {
      waiting = false;
      beganMs = performance.now();
      const tookMs = await draw();
      restUntilMs = performance.now() + Math.min(REST * tookMs, LONGEST_REST_MS);
    });
  };
  return [() => setInterval(tick, TICK_MS), redraw];
}
