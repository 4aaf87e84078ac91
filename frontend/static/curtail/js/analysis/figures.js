/** The pictures of a report, for Plotly: data and colours in, traces and layout out, no drawing. */

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const HOUR_MS = 3_600_000;
const ROW_PX = 30;
// A bar and the line above it that says what it is.
const NAMED_ROW_PX = 44;

function basis(colours, width, height, margin) {
  return {
    width,
    height,
    margin: { l: 56, r: 12, t: 12, b: 40, ...margin },
    font: { family: colours.font, color: colours.ink, size: 12 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    hoverlabel: { bgcolor: colours.ground, bordercolor: colours.hairline, font: { family: colours.font, color: colours.ink } },
  };
}

function axis(colours, more) {
  return {
    gridcolor: colours.hairline,
    zeroline: false,
    showline: false,
    ticks: "",
    tickfont: { color: colours.muted, size: 12 },
    fixedrange: true,
    ...more,
  };
}

function titled(text, colours) {
  return { text, font: { color: colours.muted, size: 12 }, standoff: 6 };
}

/** Incidents by weekday (downwards) and hour (across), in UTC. */
export function recurrenceFigure(recurrence, colours, width) {
  return {
    data: [
      {
        type: "heatmap",
        z: recurrence.table,
        x: [...Array(24).keys()],
        y: WEEKDAYS,
        xgap: 2,
        ygap: 2,
        colorscale: [[0, colours.hairline], [0.001, colours.palest], [1, colours.p999]],
        zmin: 0,
        zmax: Math.max(1, ...recurrence.table.flat()),
        showscale: false,
        hovertemplate: "%{y} %{x}:00 UTC: %{z} incidents<extra></extra>",
      },
    ],
    layout: {
      ...basis(colours, width, 7 * ROW_PX + 60),
      xaxis: axis(colours, { showgrid: false, tickmode: "array", tickvals: [0, 3, 6, 9, 12, 15, 18, 21], title: titled("hour, UTC", colours) }),
      yaxis: axis(colours, { showgrid: false, autorange: "reversed" }),
    },
  };
}

/** p99 of one job by the hour, with its changes. `moment` writes a time in the zone that is chosen. */
export function changesFigure(job, changes, colours, width, moment) {
  const times = job.p99_ms.map((_, at) => job.hours_start_ms + at * HOUR_MS);
  const ends = [...changes.slice(1).map(({ at_ms: atMs }) => atMs), times.at(-1)];
  const levels = changes.flatMap((change, at) => [
    level(at ? changes[at - 1].at_ms : times[0], change.at_ms, change.before, colours),
    ...(at === changes.length - 1 ? [level(change.at_ms, ends[at], change.after, colours)] : []),
  ]);
  const days = dayMarks(times[0], times.at(-1), width);
  return {
    data: [
      {
        type: "scatter",
        mode: "lines",
        x: times,
        y: job.p99_ms,
        text: times.map(moment),
        connectgaps: false,
        line: { color: colours.p99, width: 1.5 },
        hovertemplate: "%{text}: %{y:.3g} ms<extra></extra>",
      },
    ],
    layout: {
      ...basis(colours, width, 220),
      shapes: [
        ...changes.map(({ at_ms: atMs }) => ({
          type: "line", xref: "x", x0: atMs, x1: atMs, yref: "paper", y0: 0, y1: 1,
          line: { color: colours.accent, width: 1.5, dash: "dot" },
        })),
        ...levels,
      ],
      xaxis: axis(colours, { tickmode: "array", tickvals: days, ticktext: days.map((ms) => moment(ms).split(",")[0]) }),
      yaxis: axis(colours, { rangemode: "tozero", title: titled("p99, ms", colours) }),
    },
  };
}

function level(startMs, endMs, value, colours) {
  return { type: "line", xref: "x", x0: startMs, x1: endMs, yref: "y", y0: value, y1: value, line: { color: colours.ink, width: 1 } };
}

/** Midnights in UTC, as many as there is room for. */
export function dayMarks(startMs, endMs, width) {
  const day = 24 * HOUR_MS;
  const most = Math.max(2, Math.floor(width / 90));
  const every = Math.max(1, Math.ceil((endMs - startMs) / day / most)) * day;
  const marks = [];
  for (let at = Math.ceil(startMs / day) * day; at <= endMs; at += every) marks.push(at);
  return marks;
}

/** When the jobs of each pair stalled together: one row per pair, one stroke per time. */
export function togetherFigure(pairs, [startMs, endMs], colours, width, moment) {
  const days = dayMarks(startMs, endMs, width);
  return {
    data: pairs.map((pair, at) => ({
      type: "scatter",
      mode: "markers",
      x: pair.meetings_ms,
      y: pair.meetings_ms.map(() => at),
      text: pair.meetings_ms.map(moment),
      marker: { symbol: "line-ns-open", size: 14, color: colours.compaction, line: { width: 1.5 } },
      hovertemplate: `%{text}<extra>${escaped(pair.jobs.join(" and "))}</extra>`,
    })),
    layout: {
      ...basis(colours, width, pairs.length * ROW_PX + 60, { l: 32 }),
      xaxis: axis(colours, { range: [startMs, endMs], tickmode: "array", tickvals: days, ticktext: days.map((ms) => moment(ms).split(",")[0]) }),
      yaxis: axis(colours, { range: [pairs.length - 0.5, -0.5], tickmode: "array", tickvals: pairs.map((_, at) => at), ticktext: pairs.map((_, at) => String(at + 1)) }),
    },
  };
}

/** What each kind of incident adds to the p99 of a job; each bar has its name above it. */
export function addedFigure(rows, colours, width, kindName) {
  const names = rows.map(({ job, kind }) => escaped(`${kindName(kind)} · ${job}`));
  return {
    data: [
      {
        type: "bar",
        orientation: "h",
        x: rows.map(({ added_ms: ms }) => ms),
        y: rows.map((_, at) => at),
        width: 0.4,
        marker: { color: colours.p90 },
        error_x: {
          type: "data",
          symmetric: false,
          array: rows.map(({ added_ms: ms, high_ms: high }) => (high === null ? 0 : high - ms)),
          arrayminus: rows.map(({ added_ms: ms, low_ms: low }) => (low === null ? 0 : ms - low)),
          color: colours.ink,
          thickness: 1,
          width: 3,
        },
        hovertemplate: rows.map((row, at) => `${names[at]}: +%{x:.3g} ms in ${row.seconds} s<extra></extra>`),
      },
    ],
    layout: {
      ...basis(colours, width, rows.length * NAMED_ROW_PX + 60, { l: 12 }),
      annotations: names.map((text, at) => ({
        text, xref: "paper", x: 0, xanchor: "left", yref: "y", y: at - 0.24, yanchor: "bottom", showarrow: false, font: { color: colours.ink, size: 12 },
      })),
      xaxis: axis(colours, { rangemode: "tozero", title: titled("added to p99, ms", colours) }),
      yaxis: axis(colours, { range: [rows.length - 0.5, -0.8], showgrid: false, showticklabels: false }),
    },
  };
}

/** Plotly reads some HTML in texts; a job's name is only ever text. */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
