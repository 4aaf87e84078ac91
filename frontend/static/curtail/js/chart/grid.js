/** Axes as Plotly will draw them, on the canvas of the lines: the chart is there before Plotly is. */

const LABEL_GAP_PX = 5;
const BELOW_PX = 16;
const TITLE_BELOW_PX = 31;

/** `layout` and `frame` as figure.js gives them; over lines, as hairlines are faint. */
export function paintAxes(canvas, { xaxis, yaxis, font }, { width, margin, total }) {
  const context = canvas.getContext("2d");
  const right = width - margin.r;
  const bottom = margin.t + total;
  const [startMs, endMs] = xaxis.range;
  const [across, along] = [
    xaxis.tickvals.map((ms) => margin.l + ((ms - startMs) / (endMs - startMs)) * (right - margin.l)),
    yaxis.tickvals.map((px) => bottom - px),
  ];
  const inside = (x) => x >= margin.l - 0.5 && x <= right + 0.5;
  context.save();
  // Beneath what is there already.
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = xaxis.gridcolor;
  for (const x of across.filter(inside)) context.fillRect(Math.round(x - 0.5), margin.t, 1, total);
  for (const y of along) context.fillRect(margin.l, Math.round(y - 0.5), right - margin.l, 1);
  context.fillStyle = xaxis.tickfont.color;
  context.font = `${xaxis.tickfont.size}px ${font.family}`;
  context.textAlign = "center";
  across.forEach((x, i) => inside(x) && context.fillText(xaxis.ticktext[i], x, bottom + BELOW_PX));
  context.fillText(xaxis.title.text, (margin.l + right) / 2, bottom + TITLE_BELOW_PX);
  context.textAlign = "right";
  context.textBaseline = "middle";
  along.forEach((y, i) => context.fillText(yaxis.ticktext[i], margin.l - LABEL_GAP_PX, y));
  context.restore();
}
