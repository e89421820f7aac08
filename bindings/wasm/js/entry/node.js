// The entry for Node: once it is imported, the module is loaded.
import { readFileSync } from "node:fs";
import { initSync } from "./pqtls_wasm.js";
import { PqtlsError } from "../errors.js";
import { isLoaded, setLoaded } from "./keys.js";
import { simd128 } from "../simd.js";

export * from "./keys.js";
export { PqtlsError } from "../errors.js";
export { simd128 } from "../simd.js";

// Bundlers look for addresses that are written like these two.
const FILES = {
  simd128: new URL("./simd128.wasm", import.meta.url),
  plain: new URL("./plain.wasm", import.meta.url),
};

// The variable is for tests and benchmarks of the module that the engine would not choose.
const wanted = process.env.PQTLS_WASM || (simd128() ? "simd128" : "plain");
if (!Object.hasOwn(FILES, wanted)) {
  throw new PqtlsError("not-loaded", `PQTLS_WASM is ${wanted}; it can be simd128 or plain`);
}
const start = () => setLoaded(initSync({ module: readFileSync(FILES[wanted]) }));
start();

/** For programs that run in browsers, too. In Node it does nothing, unless the module failed. */
export const load = async () => {
  if (isLoaded()) return;
  try {
    start();
  } catch (error) {
    throw new PqtlsError("not-loaded", `the module can't be loaded: ${error?.message ?? error}`, { cause: error });
  }
};
