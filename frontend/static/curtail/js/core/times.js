/** Epoch milliseconds as wall-clock text, in the local zone or in UTC. */

// British English gives "16 Nov" and names most zones ("CET") where American gives "GMT+1".
const LOCALE = "en-GB";
const DAY = { day: "numeric", month: "short" };
const DATE = { ...DAY, year: "numeric" };
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
// An Intl formatter takes longer to make than to use, and ticks are formatted four times a second.
const made = new Map();

/** "14:03:22" */
export function clockTime(ms, zone) {
  return formatter("clock", CLOCK, zone).format(ms);
}

/** "14:03" */
export function hourMinute(ms, zone) {
  return clockTime(ms, zone).slice(0, 5);
}

/** "14:03:22.350": the start of one 50 ms window */
export function windowTime(ms, zone) {
  const millis = String(((ms % 1000) + 1000) % 1000).padStart(3, "0");
  return `${clockTime(ms, zone)}.${millis}`;
}

/** "16 Nov" */
export function dayOnly(ms, zone) {
  return formatter("day", DAY, zone).format(ms);
}

/** "14:00", and at midnight the day that begins */
export function dayOrHour(ms, zone) {
  const clock = hourMinute(ms, zone);
  return clock === "00:00" ? dayOnly(ms, zone) : clock;
}

/** How far the zone's clocks are ahead of UTC's at that time. */
export function aheadOfUtcMs(ms, zone) {
  return zone === "utc" ? 0 : -new Date(ms).getTimezoneOffset() * 60_000;
}

/** "16 Nov, 14:03:22" */
export function dayTime(ms, zone) {
  return `${formatter("day", DAY, zone).format(ms)}, ${clockTime(ms, zone)}`;
}

/** "16 Nov 2026": what may be in another year */
export function date(ms, zone) {
  return formatter("date", DATE, zone).format(ms);
}

/** "16 Nov 2026, 14:03:22" */
export function dateTime(ms, zone) {
  return `${date(ms, zone)}, ${clockTime(ms, zone)}`;
}

/** "CET" or "UTC" */
export function zoneName(ms, zone) {
  const parts = formatter("zone", { timeZoneName: "short" }, zone).formatToParts(ms);
  return parts.find((part) => part.type === "timeZoneName").value;
}

function formatter(name, options, zone) {
  const key = `${name} ${zone}`;
  let format = made.get(key);
  if (!format) {
    const timeZone = zone === "utc" ? "UTC" : undefined;
    format = new Intl.DateTimeFormat(LOCALE, { ...options, timeZone });
    made.set(key, format);
  }
  return format;
}

/** "2026-11-16T14:03:22", as a field for date and time takes it. */
export function toField(ms, zone) {
  const shifted = zone === "utc" ? ms : ms - new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, 19);
}

/** The inverse: text of such a field to epoch milliseconds; null if it is no time. */
export function fromField(text, zone) {
  const ms = Date.parse(zone === "utc" ? `${text}Z` : text);
  return Number.isNaN(ms) ? null : ms;
}
