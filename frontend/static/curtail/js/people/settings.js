/** The settings page: one's own tokens. The password is a form of the server's. */

import { ask } from "../core/ask.js";
import { apiUrl, getJson, sendJson } from "../core/api.js";
import { wireCopyButtons } from "../core/copy.js";
import { element, part, setText } from "../core/dom.js";
import { age } from "../core/format.js";
import { hideOnce, showOnce } from "./once.js";
import { date } from "../core/times.js";
import { tried } from "../core/trouble.js";
import { chosenZone, onZone } from "../core/zone.js";

let tokens = [];

function show() {
  part("loading").hidden = true;
  part("empty").hidden = tokens.length > 0;
  part("table").hidden = tokens.length === 0;
  part("rows").replaceChildren(...tokens.map(row));
  part("view").dataset.view = "list";
}

function row(token) {
  const revoke = element("button", { class: "plain", type: "button", "aria-label": `Revoke ${token.name}` }, "Revoke");
  revoke.addEventListener("click", () => revoked(token, revoke));
  const used = token.last_used_ms === null ? "never" : `${age(Date.now() - token.last_used_ms)} ago`;
  const expires = token.expired ? "expired" : date(token.expires_ms, chosenZone());
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, token.name),
    element("td", { "data-label": "May" }, token.scope === "operate" ? "read and operate" : "read"),
    element("td", { "data-label": "Begins with" }, element("code", {}, `${token.prefix}…`)),
    element("td", { class: "number", "data-label": "Last used" }, used),
    element("td", { class: token.expired ? "number late" : "number", "data-label": "Expires" }, expires),
    element("td", { class: "acts" }, revoke),
  );
}

async function load() {
  const answer = await tried(null, () => getJson(apiUrl("tokens")));
  part("loading").hidden = true;
  if (!answer) return;
  tokens = answer.items;
  show();
}

async function revoked(token, button) {
  const reason = await ask({
    title: `Revoke ${token.name}?`,
    text: "Programs that use it are refused from then on. This cannot be undone.",
    yes: "Revoke",
  });
  if (reason === null) return;
  const url = `${apiUrl(`tokens/${token.id}`)}?reason=${encodeURIComponent(reason)}`;
  if ((await tried(button, () => sendJson("DELETE", url))) === undefined) return;
  hideOnce();
  tokens = tokens.filter(({ id }) => id !== token.id);
  show();
  setText(part("done"), `${token.name} was revoked.`);
}

part("make").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const body = { name: form.name.value, scope: form.scope.value, days: Number(form.days.value) };
  const made = await tried(event.submitter, () => sendJson("POST", apiUrl("tokens"), body));
  if (!made) return;
  const { secret, ...token } = made;
  tokens = [token, ...tokens];
  form.reset();
  show();
  const address = new URL(apiUrl("me"), location.href).href;
  setText(part("try"), `curl -H "Authorization: Bearer ${secret}" ${address}`);
  showOnce(secret, token.name);
});

onZone(show);
wireCopyButtons();
load();
