/** The server's addresses, and JSON from them. */

const ANSWER_WITHIN_MS = 10_000;

/**
 * `title` and `detail` as the server gave them (RFC 9457), or words for no answer at all.
 * `problem` is all that it gave: `faults` by field of a 400, `current` of a 409.
 */
export class ApiError extends Error {
  constructor(status, title, detail, problem = {}) {
    super(detail ? `${title}: ${detail}` : title);
    this.status = status;
    this.detail = detail;
    this.problem = problem;
  }
}

export function apiUrl(path) {
  return `${document.body.dataset.root}api/v1/${path}`;
}

export function socketUrl(path) {
  const url = new URL(`${document.body.dataset.root}ws/${path}`, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

export function jobUrl(id) {
  return `${document.body.dataset.root}jobs/${encodeURIComponent(id)}`;
}

export function incidentUrl(id) {
  return `${document.body.dataset.root}incidents/${id}`;
}

export function analysisUrl(id) {
  return `${document.body.dataset.root}analysis/${id}`;
}

export function clusterUrl(name) {
  return `${document.body.dataset.root}clusters/${encodeURIComponent(name)}`;
}

export function toLogin() {
  const here = encodeURIComponent(location.pathname + location.search);
  location.assign(`${document.body.dataset.loginUrl}?next=${here}`);
}

export function getJson(url) {
  return asked(url, {});
}

/** POST, PUT, PATCH or DELETE; null for an answer without a body. */
export function sendJson(method, url, body = {}) {
  // Every page of somebody logged in has it, in the form that logs out.
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
  return asked(url, { method, headers, body: JSON.stringify(body) });
}

async function asked(url, { headers, ...options }) {
  let answer;
  try {
    answer = await fetch(url, {
      ...options,
      headers: { Accept: "application/json", ...headers },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  } catch (error) {
    const late = error.name === "TimeoutError";
    throw new ApiError(0, late ? "The server did not answer within 10 s" : "No answer from the server", "");
  }
  if (answer.status === 401) toLogin();
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new ApiError(answer.status, problem.title ?? `The server answered ${answer.status}`, problem.detail, problem);
  }
  return answer.status === 204 ? null : answer.json();
}
