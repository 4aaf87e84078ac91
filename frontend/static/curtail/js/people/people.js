/** The people page: who may log in, and as what. */

import { ask } from "../core/ask.js";
import { apiUrl, getJson, sendJson } from "../core/api.js";
import { wireCopyButtons } from "../core/copy.js";
import { element, part, setText } from "../core/dom.js";
import { age } from "../core/format.js";
import { hideOnce, showOnce } from "./once.js";
import { date } from "../core/times.js";
import { tried } from "../core/trouble.js";
import { chosenZone, onZone } from "../core/zone.js";

const ROLES = [...part("add").role.options].map(({ value }) => value);
let people = [];
let next = null;

function show() {
  part("loading").hidden = true;
  part("table").hidden = people.length === 0;
  part("rows").replaceChildren(...people.map(row));
  part("more").hidden = next === null;
  const disabled = people.filter(({ active }) => !active).length;
  const total = `${people.length}${next === null ? "" : "+"} ${people.length === 1 ? "person" : "people"}`;
  setText(part("summary"), disabled ? `${total}, ${disabled} disabled` : total);
  part("view").dataset.view = "list";
}

function row(person) {
  const mine = person.username === part("me").dataset.me;
  const login = person.last_login_ms === null ? "never" : `${age(Date.now() - person.last_login_ms)} ago`;
  return element(
    "tr",
    { "data-active": String(person.active) },
    element("th", { scope: "row" }, person.username, mine ? element("span", { class: "you" }, " (you)") : null),
    element("td", { "data-label": "Role" }, mine ? person.role : roleChoice(person)),
    element("td", { class: "number", "data-label": "Last login" }, login),
    element("td", { class: "number", "data-label": "Added" }, date(person.joined_ms, chosenZone())),
    element("td", { class: "acts" }, ...(mine ? [] : acts(person))),
  );
}

function roleChoice(person) {
  const select = element(
    "select",
    { "aria-label": `Role of ${person.username}` },
    ...ROLES.map((role) => element("option", { selected: role === person.role }, role)),
  );
  select.addEventListener("change", async () => {
    const role = select.value;
    const changed = await change(person, select, { role }, {
      title: `Make ${person.username} ${role}?`,
      text: `From ${person.role} to ${role}, at once. Their tokens follow.`,
      yes: `Make ${role}`,
    });
    if (!changed) select.value = person.role;
  });
  return select;
}

function acts(person) {
  const password = action("New password", person, async (button) => {
    const reason = await ask({
      title: `A new password for ${person.username}?`,
      text: "The old one stops working and their sessions end.",
      yes: "Make a new password",
    });
    if (reason === null) return;
    const reset = await tried(button, () => sendJson("POST", apiUrl(`users/${person.id}/password`), { reason }));
    if (reset) showOnce(reset.password, reset.username);
  });
  const disable = {
    title: `Disable ${person.username}?`,
    text: "They are logged out and their tokens stop working, until somebody enables them again.",
    yes: "Disable",
  };
  const enable = {
    title: `Enable ${person.username}?`,
    text: "They can log in again, and their tokens that have not expired work again.",
    yes: "Enable",
  };
  const toggle = action(person.active ? "Disable" : "Enable", person, (button) =>
    change(person, button, { active: !person.active }, person.active ? disable : enable),
  );
  return person.active ? [password, toggle] : [toggle];
}

function action(label, person, work) {
  const button = element("button", { class: "plain", type: "button", "aria-label": `${label}: ${person.username}` }, label);
  button.addEventListener("click", () => work(button));
  return button;
}

async function change(person, control, wanted, question) {
  const reason = await ask(question);
  if (reason === null) return false;
  const url = apiUrl(`users/${person.id}`);
  const changed = await tried(control, () => sendJson("PATCH", url, { ...wanted, reason }));
  if (!changed) return false;
  hideOnce();
  people = people.map((each) => (each.id === changed.id ? changed : each));
  show();
  setText(part("done"), `${changed.username} is ${changed.active ? changed.role : "disabled"} now.`);
  return true;
}

async function load() {
  const url = next === null ? apiUrl("users") : `${apiUrl("users")}?cursor=${encodeURIComponent(next)}`;
  const answer = await tried(part("show-more"), () => getJson(url));
  part("loading").hidden = true;
  if (!answer) return;
  people = [...people, ...answer.items];
  next = answer.next;
  show();
}

part("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const body = { username: form.username.value, role: form.role.value };
  const added = await tried(event.submitter, () => sendJson("POST", apiUrl("users"), body));
  if (!added) return;
  const { password, ...person } = added;
  people = [person, ...people];
  form.reset();
  show();
  showOnce(password, person.username);
});

part("show-more").addEventListener("click", load);
onZone(show);
wireCopyButtons();
load();
