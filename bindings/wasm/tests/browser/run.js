// Runs the tests and the demo in headless browsers: node run.js FOLDER [VECTORS], of which the first has the package, the
// demo and the tests. Browsers are those on the path, or CHROMIUM and FIREFOX name them.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { readVectors } from "../read_vectors.js";

const SECONDS = 150;
/** How many tests there are at least, where it is not 40. */
const FEWEST = { bundles: 3, demo: 2 };
const [folder, vectorsFolder] = process.argv.slice(2);
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".css": "text/css", ".json": "application/json" };
const HEADERS = {
  // that the package needs no more than this; styles and the frame are the demo's
  "content-security-policy":
    "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; frame-src 'self'",
  // so that there is shared memory
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cache-control": "no-store",
};
const vectors = JSON.stringify(vectorsFolder ? readVectors(vectorsFolder) : null);

// what to do with the results of a browser, by its name
const arrived = {};
const server = createServer((request, response) => {
  const { pathname, search } = new URL(request.url, "http://localhost");
  const path = normalize(pathname);
  const answer = (status, type, body) => response.writeHead(status, { ...HEADERS, "content-type": type }).end(body);
  if (request.method === "POST" && path === "/results") {
    const parts = [];
    request.on("data", (part) => parts.push(part)).on("end", () => {
      answer(204, "text/plain");
      arrived[search.slice(1)](JSON.parse(Buffer.concat(parts)));
    });
    return;
  }
  if (path === "/vectors.json") return answer(200, TYPES[".json"], vectors);
  const file = path.endsWith("/") ? `${path}index.html` : path;
  try {
    answer(200, TYPES[extname(file)] ?? "application/octet-stream", readFileSync(join(folder, file)));
  } catch {
    answer(404, "text/plain", "not found");
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = (name) => `http://127.0.0.1:${server.address().port}/tests/browser/page.html?${name}`;

const BROWSERS = {
  Chromium: (profile) => [
    process.env.CHROMIUM ?? "chromium",
    "--headless=new", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", `--user-data-dir=${profile}`,
    // Chromium refuses root its sandbox. What it loads here is ours.
    ...(process.getuid() === 0 ? ["--no-sandbox"] : []),
    address("Chromium"),
  ],
  Firefox: (profile) => {
    // no pages of its own, and nothing fetched
    const preferences = {
      "browser.aboutwelcome.enabled": false, "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false,
      "app.update.enabled": false, "app.normandy.enabled": false, "extensions.update.enabled": false, "network.captive-portal-service.enabled": false,
      "network.connectivity-service.enabled": false, "services.settings.server": "", "toolkit.telemetry.reportingpolicy.firstRun": false,
    };
    const lines = Object.entries(preferences).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
    writeFileSync(join(profile, "user.js"), lines.join("\n"));
    return [process.env.FIREFOX ?? "firefox-esr", "--headless", "--no-remote", "--profile", profile, address("Firefox")];
  },
}; // prettier-ignore

// Tries a browser; false if a test failed.
async function passes([name, command]) {
  const profile = mkdtempSync(join(tmpdir(), "pqtls-browser-"));
  const [program, ...options] = command(profile);
  const started = Date.now();
  const output = [];
  const results = new Promise((resolve, reject) => {
    arrived[name] = resolve;
    setTimeout(reject, SECONDS * 1000, new Error(`no results within ${SECONDS} s`)).unref();
  });
  // a process group of its own, since browsers are many processes
  const browser = spawn(program, options, { detached: true, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, HOME: profile } });
  for (const stream of [browser.stdout, browser.stderr]) stream.on("data", (part) => output.push(part));
  const ended = new Promise((resolve, reject) => {
    browser.once("error", reject);
    browser.once("exit", (code, signal) => {
      reject(new Error(`${program} ended (${signal ?? code}) before there were results`));
      resolve();
    });
  });
  const gone = new Promise((resolve) => browser.once("close", resolve));
  try {
    const { browser: agent, isolated, results: contexts } = await Promise.race([results, ended]);
    const failed = Object.entries(contexts).flatMap(([context, tests]) => tests.filter(({ ok }) => !ok).map((test) => [context, test]));
    for (const [context, test] of failed) console.error(`${name}, ${context}: ${test.name}: ${test.value}`);
    const counts = Object.entries(contexts).map(([context, tests]) => `${context} ${tests.length}`);
    console.log(`${name}: ${counts.join(", ")} tests, ${failed.length} failed, ${((Date.now() - started) / 1000).toFixed(1)} s (${agent})`);
    const few = Object.entries(contexts).find(([context, tests]) => tests.length < (FEWEST[context] ?? 40));
    if (few) console.error(`${name}: too few tests in: ${few[0]}`);
    if (!isolated) console.error(`${name}: the page is not isolated, so nothing was tried with shared memory`);
    console.log(`${name}, demo: ${contexts.demo[0].value}`);
    return !failed.length && !few && isolated;
  } catch (error) {
    console.error(`${name}: ${error.message}\n${Buffer.concat(output).toString().slice(-3000)}`);
    return false;
  } finally {
    try {
      process.kill(-browser.pid, "SIGKILL");
      await gone;
    } catch {
      // it has ended, or never began
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
const passed = await Promise.all(Object.entries(BROWSERS).map(passes));
server.closeAllConnections();
server.close();
process.exitCode = passed.every(Boolean) ? 0 : 1;
