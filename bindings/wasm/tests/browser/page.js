// Runs the suite here and in workers, then the demo, and sends the results to the server.
import { suite } from "./suite.js";

const inWorker = (engine) =>
  new Promise((resolve) => {
    const worker = new Worker(`worker.js?engine=${engine}`, { type: "module" });
    const failed = (event) => resolve([{ name: "the worker", ok: false, value: event.message ?? "no message" }]);
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = failed;
    worker.onmessageerror = failed;
  });

/** What the bundlers made of the README's program, which prints `true`. */
async function bundles() {
  const made = await (await fetch("/bundles/bundles.json")).json();
  const results = [];
  for (const [name, type] of Object.entries(made)) {
    const value = await new Promise((resolve) => {
      const { log } = console;
      const end = (value) => {
        console.log = log;
        resolve(String(value));
      };
      console.log = end;
      const script = document.createElement("script");
      Object.assign(script, { type, src: `/bundles/${name}/dist/main.js`, onerror: () => end("it can't be loaded") });
      window.addEventListener("error", ({ message }) => end(message), { once: true });
      window.addEventListener("unhandledrejection", ({ reason }) => end(reason), { once: true });
      document.body.append(script);
    });
    results.push({ name: `bundle by ${name}`, ok: value === "true", value });
  }
  return results;
}

/** A phone's width, in pixels. */
const NARROW = 390;

/** The demo in a frame of a phone's width, until it says that it is done; and what it shows. */
async function demo() {
  const frame = document.createElement("iframe");
  frame.width = NARROW;
  frame.src = "/demo/?milliseconds=20";
  document.body.append(frame);
  await new Promise((resolve) => (frame.onload = resolve));
  const { body } = frame.contentDocument;
  while (!body.dataset.state) await new Promise((resolve) => setTimeout(resolve, 50));
  const rows = [...body.querySelectorAll("#times tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
  const value = JSON.stringify({ state: body.dataset.state, result: body.querySelector("#result").textContent, rows });
  const ok =
    body.dataset.state === "done" &&
    body.querySelector("#result").textContent.startsWith("valid; of a changed message: invalid") &&
    rows.length >= 8 &&
    rows.every(([, ...times]) => times.length === 3 && times.every((time) => /^[\d.,]+ [µm]s$/.test(time)));
  const { scrollWidth, clientWidth } = frame.contentDocument.documentElement;
  const fits = frame.contentWindow.innerWidth === NARROW && scrollWidth <= clientWidth;
  return [
    { name: "the demo", ok, value },
    { name: "the demo on a phone", ok: fits, value: `${scrollWidth} of ${clientWidth} pixels` },
  ];
}

const contexts = {
  page: () => suite("chosen"),
  worker: () => inWorker("chosen"),
  "worker, plain module": () => inWorker("plain"),
  bundles,
  demo,
};
const results = {};
for (const [name, run] of Object.entries(contexts)) {
  try {
    results[name] = await run();
  } catch (error) {
    results[name] = [{ name, ok: false, value: `${error}\n${error?.stack}` }];
  }
}
await fetch(`/results${location.search}`, {
  method: "POST",
  body: JSON.stringify({ browser: navigator.userAgent, isolated: crossOriginIsolated, results }),
});
