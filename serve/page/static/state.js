// The page about the state of the server: reads /metrics every two seconds, and shows the models, their queues and times, and the GPUs.

const $ = id => document.getElementById(id);

const span = 60000; // milliseconds that the figures are about
const pause = 2000;

// The metrics of each kind of model: a histogram of the times of requests, a gauge of those that wait, and a histogram or a gauge of a
// batch.
const kinds = [
  {times: "te_request_duration", waiting: "te_queue_size", batches: "te_batch_next_size"},
  {times: "gopherwarp_pictures_request_seconds", waiting: "gopherwarp_pictures_waiting", batches: "gopherwarp_pictures_batch"},
  {times: "vllm:e2e_request_latency_seconds", waiting: "vllm:num_requests_waiting", running: "vllm:num_requests_running"},
];

// parse returns the metrics of a scrape: the samples of each name, with their labels.
function parse(text) {
  const all = {};
  for (const line of text.split("\n")) {
    const found = line.match(/^([\w:]+)(?:\{(.*)\})? (\S+)/);
    if (!found) continue;
    const labels = {};
    for (const [, key, value] of (found[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value.replace(/\\(.)/g, (_, c) => c === "n" ? "\n" : c);
    (all[found[1]] ??= []).push({labels, value: Number(found[3])});
  }
  return all;
}

// sample returns the sum of a model's samples, or undefined if there are none.
function sample(all, name, model) {
  const list = (all[name] ?? []).filter(s => s.labels.model_name === model);
  return list.length ? list.reduce((sum, s) => sum + s.value, 0) : undefined;
}

// buckets returns the numbers of requests of a histogram, by their upper bounds, since an earlier scrape.
function buckets(now, before, name, model) {
  const counts = new Map();
  const add = (all, sign) => {
    for (const s of all?.[name + "_bucket"] ?? []) {
      if (s.labels.model_name !== model) continue;
      const bound = s.labels.le === "+Inf" ? Infinity : Number(s.labels.le);
      counts.set(bound, (counts.get(bound) ?? 0) + sign * s.value);
    }
  };
  add(now, 1);
  add(before, -1);
  return [...counts].sort((a, b) => a[0] - b[0]);
}

// quantile returns the time within which a share of the requests were answered, as Prometheus' histogram_quantile does.
function quantile(list, share) {
  const total = list.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const at = list.findIndex(([, n]) => n >= share * total);
  const [low, below] = at > 0 ? list[at - 1] : [0, 0];
  const [high, n] = list[at];
  return high === Infinity ? low : low + (high - low) * (share * total - below) / (n - below);
}

// rise returns how much a sum has grown since an earlier scrape.
const rise = (now, before, name, model) => (sample(now, name, model) ?? 0) - (before ? sample(before, name, model) ?? 0 : 0);

// describe returns the cells of a model.
function describe(model, now, before) {
  const state = (now.gopherwarp_model_state ?? []).find(s => s.labels.model_name === model && s.value === 1);
  const cells = [model, state?.labels.state ?? "–"];
  const kind = kinds.find(k => sample(now, k.waiting, model) !== undefined);
  if (!kind) return [...cells, "–", "–", "–", "–", "–"];
  const batches = kind.batches ? rise(now, before, kind.batches + "_count", model) : 0;
  const batch = kind.running ? sample(now, kind.running, model) : batches > 0 ? rise(now, before, kind.batches + "_sum", model) / batches : undefined;
  const times = buckets(now, before, kind.times, model);
  const answered = times.at(-1)?.[1] ?? 0;
  const seconds = before ? (now.time - before.time) / 1000 : undefined;
  return [...cells, String(sample(now, kind.waiting, model)), digits(batch), seconds ? digits(answered / seconds) : "–", duration(quantile(times, 0.5)), duration(quantile(times, 0.99))];
}

const digits = x => x === undefined ? "–" : x.toFixed(x < 100 ? 1 : 0);

function duration(seconds) {
  if (seconds === undefined) return "–";
  return seconds < 1 ? (seconds * 1000).toFixed(seconds < 0.01 ? 2 : 0) + " ms" : seconds.toFixed(1) + " s";
}

// models returns the names of all models.
function models(all) {
  const names = new Set();
  for (const name of ["gopherwarp_model_state", ...kinds.map(k => k.waiting)]) {
    for (const s of all[name] ?? []) names.add(s.labels.model_name);
  }
  return [...names].filter(Boolean).sort();
}

// gpus returns the cells of each GPU.
function gpus(all) {
  const of = (name, gpu) => (all[name] ?? []).find(s => s.labels.gpu_uuid === gpu)?.value;
  const gigabytes = x => x === undefined ? "–" : (x / 2 ** 30).toFixed(1) + " GiB";
  return (all.nv_gpu_memory_total_bytes ?? []).map(({labels: {gpu_uuid: gpu}}) => {
    const use = of("nv_gpu_utilization", gpu), power = of("nv_gpu_power_usage", gpu);
    return [gpu, use === undefined ? "–" : Math.round(100 * use) + " %", gigabytes(of("nv_gpu_memory_used_bytes", gpu)) + " of " + gigabytes(of("nv_gpu_memory_total_bytes", gpu)), power === undefined ? "–" : Math.round(power) + " W"];
  });
}

// fill replaces the rows of a table.
function fill(body, rows) {
  body.replaceChildren(...rows.map(cells => {
    const row = document.createElement("tr");
    row.append(...cells.map(text => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    return row;
  }));
}

const scrapes = []; // of the last minute

async function watch() {
  try {
    const [health, answer] = await Promise.all([fetch("/health"), fetch("/metrics")]);
    if (!answer.ok) throw new Error(answer.statusText);
    const now = parse(await answer.text());
    now.time = performance.now();
    while (scrapes.length > 1 && now.time - scrapes[0].time > span) scrapes.shift();
    fill($("models"), models(now).map(name => describe(name, now, scrapes[0])));
    const list = gpus(now);
    fill($("gpus"), list);
    $("none").hidden = list.length > 0;
    scrapes.push(now);
    $("health").textContent = health.ok ? "ready" : "not ready";
    $("health").className = health.ok ? "" : "error";
  } catch {
    $("health").textContent = "not reachable";
    $("health").className = "error";
  }
}

watch();
setInterval(() => { if (!document.hidden) watch(); }, pause);
