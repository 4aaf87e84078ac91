/**
 * Draws lines and dots on a canvas beneath Plotly's figure, which has the axes.
 *
 * Plotly needs about 5 µs for every point of a line, a canvas a fraction of one, and 20 000 points
 * are drawn five times a second.
 */

const DASHES = { solid: [], dash: [6, 4], dot: [1.5, 3], dashdot: [6, 3, 1.5, 3] };
const DOT_PX = 4;
const MARKER_PX = 6;
// The software rasteriser's time grows faster than a path's length: short paths, a quarter of the time.
const POINTS_PER_PATH = 20;

/** `frame`: {width, height, margin, total}, as figure.js gives it. */
export function paint(canvas, { lines, dots }, range, { width, height, margin, total }, colours) {
  const sharpness = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * sharpness), Math.round(height * sharpness)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
  context.clearRect(0, 0, width, height);
  context.save();
  context.beginPath();
  // A little more above and below: a line on the edge of its panel is as thick as the others.
  context.rect(margin.l, margin.t - 2, width - margin.l - margin.r, total + 4);
  context.clip();
  const [startMs, endMs] = range;
  const perMs = (width - margin.l - margin.r) / (endMs - startMs);
  const bottom = margin.t + total;
  context.lineJoin = "bevel";
  for (const { x, y, look } of lines) {
    context.strokeStyle = colours[look.colour];
    context.lineWidth = look.width ?? 1;
    context.globalAlpha = look.opacity ?? 1;
    context.setLineDash(DASHES[look.dash ?? "solid"]);
    context.beginPath();
    let down = false;
    let points = 0; // in the present path
    for (let i = 0; i < x.length; i += 1) {
      if (y[i] === null) {
        down = false;
        continue;
      }
      const px = margin.l + (x[i] - startMs) * perMs;
      const py = bottom - y[i];
      if (down) context.lineTo(px, py);
      else context.moveTo(px, py);
      down = true;
      points += 1;
      if (points === POINTS_PER_PATH) {
        points = 0;
        context.stroke();
        context.beginPath();
        context.moveTo(px, py);
      }
    }
    context.stroke();
  }
  context.globalAlpha = 1;
  for (const { x, y, look } of dots) {
    const radius = (look.marker ? MARKER_PX : DOT_PX) / 2;
    context.fillStyle = colours[look.colour];
    context.beginPath();
    for (let i = 0; i < x.length; i += 1) {
      if (y[i] === null) continue;
      const px = margin.l + (x[i] - startMs) * perMs;
      context.moveTo(px + radius, bottom - y[i]);
      context.arc(px, bottom - y[i], radius, 0, 2 * Math.PI);
    }
    context.fill();
  }
  context.restore();
}
