// The chat page: sends the conversation to /v1/chat/completions, shows the answer as it arrives, and reads /metrics for the state of the
// server.

const $ = id => document.getElementById(id);

let conversation = []; // messages in the form of the protocol
let running = null; // the AbortController of the answer that is being generated

// Settings remain until the tab is closed.
const kept = ["system", "temperature", "max", "schema", "key"];

function headers() {
  const h = {"Content-Type": "application/json"};
  if ($("key").value) h.Authorization = "Bearer " + $("key").value;
  return h;
}

// problem returns the message of an answer that is an error.
async function problem(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text).error.message;
  } catch {
    return text || "The server answers with status " + answer.status + ".";
  }
}

async function loadModels() {
  const answer = await fetch("/v1/models", {headers: headers()});
  if (!answer.ok) throw new Error(await problem(answer));
  const names = (await answer.json()).data.filter(m => m.capabilities.includes("completion")).map(m => m.id);
  const before = $("model").value;
  $("model").replaceChildren(...names.map(name => new Option(name)));
  if (names.includes(before)) $("model").value = before;
  for (const node of $("log").querySelectorAll(".error")) node.remove();
  $("empty").hidden = conversation.length > 0;
}

// add appends a message to the page.
function add(kind, text) {
  $("empty").hidden = true;
  const node = document.createElement("div");
  node.className = "message " + kind;
  show(node, text);
  $("log").append(node);
  node.scrollIntoView({block: "end"});
  return node;
}

// show shows a text, with its blocks of code.
function show(node, text) {
  const parts = text.split(/^```[^\n]*\n?/m);
  node.replaceChildren(...parts.map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const code = document.createElement("pre");
    code.textContent = part.replace(/\n$/, "");
    return code;
  }));
}

function note(node, text) {
  const line = document.createElement("div");
  line.className = "note";
  line.textContent = text;
  node.append(line);
}

// request returns the body of a request for an answer.
function request() {
  const messages = [...conversation];
  if ($("system").value.trim()) messages.unshift({role: "system", content: $("system").value});
  const body = {
    model: $("model").value, messages, stream: true, stream_options: {include_usage: true},
    temperature: Number($("temperature").value),
  };
  if ($("max").value) body.max_tokens = Number($("max").value);
  if ($("schema").value.trim()) {
    let schema;
    try {
      schema = JSON.parse($("schema").value);
    } catch (e) {
      throw new Error("The JSON Schema is not valid JSON: " + e.message);
    }
    body.response_format = {type: "json_schema", json_schema: {name: "answer", schema, strict: true}};
  }
  return body;
}

// events yields the data of server-sent events.
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    held += value;
    const list = held.split("\n\n");
    held = list.pop();
    for (const event of list) {
      const data = event.split("\n").find(line => line.startsWith("data: "));
      if (data && data !== "data: [DONE]") yield JSON.parse(data.slice(6));
    }
  }
}

// read shows an answer as it arrives, and returns what it took.
async function read(answer, node, said) {
  const took = {};
  for await (const part of events(answer.body)) {
    if (part.error) throw new Error(part.error.message);
    if (part.usage) took.tokens = part.usage.completion_tokens;
    const choice = part.choices[0];
    if (!choice) continue;
    if (choice.finish_reason) took.reason = choice.finish_reason;
    const text = choice.delta.content;
    if (!text) continue;
    took.first ??= performance.now();
    said.text += text;
    const log = $("log");
    const below = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    node.classList.remove("waiting");
    show(node, said.text);
    if (below) log.scrollTop = log.scrollHeight;
  }
  took.last = performance.now();
  return took;
}

// describe returns a line about an answer.
function describe(took, begun) {
  const list = [];
  if (took.tokens) list.push(took.tokens + (took.tokens === 1 ? " token" : " tokens"));
  if (took.tokens > 1 && took.last > took.first) list.push(((took.tokens - 1) / (took.last - took.first) * 1000).toFixed(1) + " tokens/s");
  if (took.first) list.push("first token after " + duration((took.first - begun) / 1000));
  if (took.reason === "length") list.push("ended by the limit of tokens");
  return list.join(" · ");
}

async function ask(text) {
  const turns = conversation; // another one may begin meanwhile
  turns.push({role: "user", content: text});
  add("user", text);
  const node = add("assistant waiting", "");
  const said = {text: ""};
  const begun = performance.now();
  running = new AbortController();
  busy(true);
  try {
    const answer = await fetch("/v1/chat/completions", {method: "POST", headers: headers(), body: JSON.stringify(request()), signal: running.signal});
    if (!answer.ok) throw new Error(await problem(answer));
    note(node, describe(await read(answer, node, said), begun));
  } catch (e) {
    if (e.name === "AbortError") {
      note(node, "stopped");
    } else {
      const line = add("error", e.message);
      line.setAttribute("role", "alert");
    }
  }
  node.classList.remove("waiting");
  if (said.text) {
    turns.push({role: "assistant", content: said.text});
  } else {
    turns.pop(); // the question may be asked again
    if (!node.textContent) node.remove();
  }
  running = null;
  busy(false);
}

function busy(yes) {
  $("stop").hidden = !yes;
  $("send").hidden = yes;
  if (!yes) $("input").focus();
}

// duration returns a time in words.
function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  return seconds < 1 ? Math.round(seconds * 1000) + " ms" : seconds.toFixed(1) + " s";
}

// metrics returns the sums of the server's metrics over all models.
async function metrics() {
  const sums = {};
  const answer = await fetch("/metrics");
  for (const line of (await answer.text()).split("\n")) {
    const found = line.match(/^vllm:(\w+)(?:\{[^}]*\})? (\S+)/);
    if (found) sums[found[1]] = (sums[found[1]] ?? 0) + Number(found[2]);
  }
  return sums;
}

let before = null; // the metrics of the last time

// mean returns the mean of a histogram since the last time, or since the start of the server.
function mean(now, name) {
  const sum = name + "_sum", count = name + "_count";
  const n = now[count] - (before?.[count] ?? 0);
  return n > 0 ? (now[sum] - (before?.[sum] ?? 0)) / n : now[sum] / now[count];
}

async function watch() {
  try {
    const [health, now] = await Promise.all([fetch("/health"), metrics()]);
    now.time = performance.now();
    $("health").textContent = health.ok ? "ready" : "not ready";
    $("health").className = health.ok ? "" : "error";
    $("running").textContent = now.num_requests_running ?? "–";
    $("waiting").textContent = now.num_requests_waiting ?? "–";
    if (before) $("rate").textContent = ((now.generation_tokens_total - before.generation_tokens_total) / (now.time - before.time) * 1000).toFixed(1);
    $("first").textContent = duration(mean(now, "time_to_first_token_seconds"));
    $("between").textContent = duration(mean(now, "inter_token_latency_seconds"));
    $("cache").textContent = now.kv_cache_usage_perc === undefined ? "–" : Math.round(now.kv_cache_usage_perc * 100) + " %";
    before = now;
  } catch {
    $("health").textContent = "not reachable";
    $("health").className = "error";
  }
}

function start() {
  for (const id of kept) {
    $(id).value = sessionStorage.getItem(id) ?? $(id).value;
    $(id).addEventListener("change", () => sessionStorage.setItem(id, $(id).value));
  }
  const shown = () => { $("temperature-shown").textContent = Number($("temperature").value).toFixed(1); };
  $("temperature").addEventListener("input", shown);
  shown();
  if (matchMedia("(max-width: 800px)").matches) $("settings").open = $("status").open = false;
  const models = () => loadModels().catch(e => add("error", e.message));
  $("key").addEventListener("change", models);
  models();
  $("form").addEventListener("submit", e => {
    e.preventDefault();
    const text = $("input").value.trim();
    if (!text || running) return;
    $("input").value = "";
    ask(text);
  });
  $("input").addEventListener("keydown", e => {
    if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      $("form").requestSubmit();
    }
  });
  $("stop").addEventListener("click", () => running?.abort());
  $("new").addEventListener("click", () => {
    running?.abort();
    conversation = [];
    for (const node of [...$("log").querySelectorAll(".message")]) node.remove();
    $("empty").hidden = false;
    $("input").focus();
  });
  watch();
  setInterval(() => { if (!document.hidden) watch(); }, 2000);
}

start();
