/** Time as the browser has it; tests pass a clock that they move by hand. */
export const clock = {
  now: () => Date.now(),
  after: (ms, act) => setTimeout(act, ms),
  cancel: (timer) => clearTimeout(timer),
};
