// How is the service asked?
//
// One function for every request: it shows the key, reads the answer, and turns every failure into a Problem that a view can show.

const KEY = "repertory.key"; // sessionStorage: a key is forgotten with the tab

export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status; // 0: nobody answered
    this.code = code;
  }

  get unauthorised() {
    return this.status === 401 || this.status === 403;
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: value => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

/** Ask, and answer what the service says; null where there is nothing to say (204). */
export async function ask(path, options = {}) {
  const response = await send(path, options);
  if ((options.method ?? "GET") !== "GET" && path !== "/api/search") dispatchEvent(new Event("changed")); // what was found before may be wrong now
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => null);
  if (answer === null) throw new Problem(response.status, "unreadable", "The service answered something that is not JSON.");
  return answer;
}

/** The events of a stream (text/event-stream), as they come. EventSource cannot show a key, so the stream is read by hand. */
export async function* events(path, options = {}) {
  const response = await send(path, {...options, accept: "text/event-stream"});
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    held += value.replaceAll("\r\n", "\n");
    const blocks = held.split("\n\n");
    held = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = name =>
        lines
          .filter(line => line.startsWith(`${name}:`))
          .map(line => line.slice(name.length + 1).trim())
          .join("\n");
      if (field("data")) yield {event: field("event") || "message", data: JSON.parse(field("data"))};
    }
  }
}

async function send(path, {method = "GET", body, signal, headers = {}, accept = "application/json"}) {
  const sent = {Accept: accept, ...headers};
  if (body !== undefined) sent["Content-Type"] = "application/json";
  if (key.get()) sent.Authorization = `Bearer ${key.get()}`;
  let response;
  try {
    response = await fetch(path, {method, signal, headers: sent, body: body === undefined ? undefined : JSON.stringify(body)});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "The service does not answer. Is it still running?");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Problem(response.status, problem.code ?? "failed", problem.detail ?? `The service answered ${response.status}.`);
}

/** An id in an address: its slashes are quoted, too, because what follows the next real one is a question about the entry. */
const inPath = id => encodeURIComponent(id);

const query = values => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

export const api = {
  health: signal => ask("/health", {signal}),
  status: signal => ask("/api/status", {signal}),
  whoami: signal => ask("/api/whoami", {signal}),
  search: (body, signal) => ask("/api/search", {method: "POST", body, signal}),
  chat: (body, signal) => events("/chat", {method: "POST", body, signal}),
  tags: (values, signal) => ask(`/api/search/tags${query(values)}`, {signal}),
  entries: (values, signal) => ask(`/api/entries${query(values)}`, {signal}),
  entry: (id, signal) => ask(`/api/entries/${inPath(id)}`, {signal}),
  connect: (id, signal) => ask(`/api/entries/${inPath(id)}/connect`, {signal}),
  graph: (values, signal) => ask(`/api/graph${query({format: "json", ...values})}`, {signal}),
  register: entry => ask("/api/entries", {method: "POST", body: entry}),
  change: (id, changes, etag) =>
    ask(`/api/entries/${inPath(id)}`, {method: "PATCH", body: changes, headers: etag ? {"If-Match": `"${etag}"`} : {}}),
  remove: id => ask(`/api/entries/${inPath(id)}`, {method: "DELETE"}),
  sources: signal => ask("/api/sources", {signal}),
  addSource: source => ask("/api/sources", {method: "POST", body: source}),
  refresh: name => ask(`/api/sources/${inPath(name)}/refresh`, {method: "POST"}),
  forget: name => ask(`/api/sources/${inPath(name)}`, {method: "DELETE"}),
  runs: signal => ask("/api/runs", {signal}),
  runEvents: (id, signal) => events(`/api/runs/${inPath(id)}/events`, {signal}),
  audit: (values, signal) => ask(`/api/audit${query(values)}`, {signal}),
  review: signal => ask("/api/review", {signal}),
  decide: (verb, id) => ask(`/api/review/${inPath(id)}/${verb}`, {method: "POST"}),
  keys: signal => ask("/api/keys", {signal}),
  makeKey: body => ask("/api/keys", {method: "POST", body}),
  revoke: id => ask(`/api/keys/${inPath(id)}`, {method: "DELETE"}),
};
