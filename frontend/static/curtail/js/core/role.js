/** Whether the one who looks may change things: the server decides, this hides what it would refuse. */
export function mayOperate() {
  return ["operator", "admin"].includes(document.body.dataset.role);
}
