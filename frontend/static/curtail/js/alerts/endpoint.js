/** The form of one endpoint, new or known. */

import { apiUrl, sendJson } from "../core/api.js";
import { part, setText } from "../core/dom.js";

let edited = null;

export function openEndpoint(endpoint) {
  edited = endpoint;
  const form = part("endpoint-form");
  form.reset();
  setText(part("endpoint-title"), endpoint ? `Edit ${endpoint.name}` : "Add an endpoint");
  part("endpoint-trouble").hidden = true;
  part("active-choice").hidden = endpoint === null;
  if (endpoint) fill(form, endpoint);
  showRouting();
  part("endpoint").showModal();
  form.name.focus();
}

/** `saved` is called with what the server answered. */
export function wireEndpoint(saved) {
  const form = part("endpoint-form");
  form.format.addEventListener("change", showRouting);
  part("endpoint-cancel").addEventListener("click", () => part("endpoint").close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await sent(form);
    if (!answer) return;
    part("endpoint").close();
    saved(answer);
  });
}

function fill(form, endpoint) {
  for (const name of ["name", "url", "format", "least_severity"]) form[name].value = endpoint[name];
  form.job.value = endpoint.job ?? "";
  form.kinds.value = endpoint.kinds.join(", ");
  form.active.checked = endpoint.active;
  for (const box of form.elements.events) box.checked = endpoint.events.includes(box.value);
  form.routing_key.placeholder = endpoint.has_routing_key ? "unchanged" : "";
}

function showRouting() {
  const { format } = part("endpoint-form");
  part("routing").hidden = format.value !== "pagerduty";
}

/** → the endpoint, or undefined where the server refused: the form stays open and says why. */
async function sent(form) {
  const body = read(form);
  const button = part("endpoint-save");
  const box = part("endpoint-trouble");
  box.hidden = true;
  button.disabled = true;
  try {
    if (edited === null) return await sendJson("POST", apiUrl("webhooks"), body);
    const change = { ...body, active: form.active.checked, version: edited.version };
    return await sendJson("PATCH", apiUrl(`webhooks/${edited.id}`), change);
  } catch (error) {
    // Another user has changed it meanwhile: the next try is based on the current version.
    if (error.status === 409 && error.problem.current?.version) edited = error.problem.current;
    setText(box, `${error.message}.`);
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
    return undefined;
  } finally {
    button.disabled = false;
  }
}

function read(form) {
  const body = {
    name: form.name.value,
    url: form.url.value,
    format: form.format.value,
    job: form.job.value.trim(),
    events: [...form.elements.events].filter((box) => box.checked).map((box) => box.value),
    kinds: form.kinds.value.split(",").map((kind) => kind.trim()).filter(Boolean),
    least_severity: form.least_severity.value,
    reason: form.reason.value,
  };
  // Empty means unchanged: the server does not show the key it has.
  if (form.routing_key.value) body.routing_key = form.routing_key.value;
  return body;
}
