/** The server's addresses, and JSON from them. */

const ANSWER_WITHIN_MS = 10_000;

/** `title` and `detail` as the server gave them (RFC 9457), or words for no answer at all. */
export class ApiError extends Error {
  constructor(status, title, detail) {
    super(detail ? `${title}: ${detail}` : title);
    this.status = status;
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

export function toLogin() {
  const here = encodeURIComponent(location.pathname + location.search);
  location.assign(`${document.body.dataset.loginUrl}?next=${here}`);
}

export async function getJson(url) {
  let answer;
  try {
    answer = await fetch(url, {
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  } catch (error) {
    const late = error.name === "TimeoutError";
    throw new ApiError(0, late ? "The server did not answer within 10 s" : "No answer from the server", "");
  }
  if (answer.status === 401) toLogin();
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new ApiError(answer.status, problem.title ?? `The server answered ${answer.status}`, problem.detail);
  }
  return answer.json();
}
