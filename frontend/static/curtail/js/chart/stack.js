/**
 * Panels above one another in one coordinate: pixels from the bottom.
 *
 * Plotly takes about as long for a subplot as for its data. So all panels are one subplot whose y
 * axis is in pixels, and each panel maps its own values into its own part of it.
 */

/** Room above each panel for its heading. */
export const HEAD_PX = 26;

/** heights from top to bottom → {total, places: [{bottom, px}]} */
export function stack(heights) {
  const total = heights.reduce((sum, px) => sum + px, 0) + HEAD_PX * (heights.length - 1);
  let top = total;
  const places = heights.map((px) => {
    const place = { bottom: top - px, px };
    top -= px + HEAD_PX;
    return place;
  });
  return { total, places };
}

/** Values to pixels; what is beyond the axis lies on its edge, so no panel draws into another. */
export function toPixels({ bottom, px }, { type, range: [low, high] }) {
  const size = px / (high - low);
  return (value) => {
    if (value === null) return null;
    const at = type === "log" ? Math.log10(value) : value;
    return bottom + Math.min(px, Math.max(0, (at - low) * size));
  };
}
