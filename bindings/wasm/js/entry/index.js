// The entry for browsers, workers and bundlers.
import init from "./pqtls_wasm.js";
import { PqtlsError } from "../errors.js";
import { isLoaded, setLoaded } from "./keys.js";
import { simd128 } from "../simd.js";

export * from "./keys.js";
export { PqtlsError } from "../errors.js";
export { simd128 } from "../simd.js";

let loading;

export function load(source) {
  if (isLoaded()) return Promise.resolve();
  loading ??= start(source).catch((error) => {
    // so that it can be tried again, such as when the network is back
    loading = undefined;
    throw new PqtlsError("not-loaded", `the module can't be loaded: ${error?.message ?? error}`, { cause: error });
  });
  return loading;
}

async function start(source) {
  // Both addresses stand as bundlers look for them.
  const module_or_path =
    source ??
    (simd128() ? new URL("./simd128.wasm", import.meta.url) : new URL("./plain.wasm", import.meta.url));
  await init({ module_or_path });
  setLoaded();
}
