// Runs before the first paint, so a chosen theme never flashes in the other one.
// A classic script: modules are deferred and would come too late.
try {
  const theme = localStorage.getItem("curtail.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the system's preference then holds.
}
