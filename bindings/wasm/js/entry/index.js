// The entry for browsers, workers and bundlers.
import init, { EXPORTS } from "./pqtls_wasm.js";
import { PqtlsError } from "../errors.js";
import { isLoaded, setLoaded } from "./keys.js";
import { simd128 } from "../simd.js";

export * from "./keys.js";
export { PqtlsError } from "../errors.js";
export { simd128 } from "../simd.js";

let loading;

export function load(source) {
  if (isLoaded()) return Promise.resolve();
  loading ??= start(source)
    .catch((error) => {
      throw new PqtlsError("not-loaded", `the module can't be loaded: ${error?.message ?? error}`, { cause: error });
    })
    // so that it can be tried again, such as when the network is back
    .finally(() => {
      loading = undefined;
    });
  return loading;
}

async function start(source) {
  // Bundlers look for addresses that are written like these two.
  const given = await (source ??
    (simd128() ? new URL("./simd128.wasm", import.meta.url) : new URL("./plain.wasm", import.meta.url)));
  const module = await compiled(given);
  // Before it is instantiated: a module that only fits the imports would be accepted, and fail at each call.
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  const missing = EXPORTS.find((name) => !exported.has(name));
  if (missing) throw new Error(`it is not this entry's module, or has another version: it does not export ${missing}`);
  setLoaded(await init({ module_or_path: module }));
}

async function compiled(given) {
  if (given instanceof WebAssembly.Module) return given;
  const isAddress = typeof given === "string" || given instanceof URL || (typeof Request === "function" && given instanceof Request);
  const found = isAddress ? await fetch(given) : given;
  if (typeof Response !== "function" || !(found instanceof Response)) return WebAssembly.compile(found);
  if (!found.ok) throw new Error(`the server answers ${found.status} for ${found.url}`);
  // Engines stream only what the server labels as WebAssembly.
  const named = found.headers.get("content-type") === "application/wasm";
  return named ? WebAssembly.compileStreaming(found) : WebAssembly.compile(await found.arrayBuffer());
}
