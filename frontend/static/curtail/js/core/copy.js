/** Copy buttons: each stands beside the text it copies. */

const SAID_FOR_MS = 2000;

export function wireCopyButtons() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = button.parentElement.querySelector("[data-copy-text]");
    button.addEventListener("click", async () => {
      const copied = await copy(source);
      button.textContent = copied ? "Copied" : "Press Ctrl+C";
      setTimeout(() => (button.textContent = "Copy"), SAID_FOR_MS);
    });
  }
}

async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    // The clipboard is closed on plain HTTP away from localhost, where many dashboards are served.
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}
