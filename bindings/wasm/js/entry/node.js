// The entry for Node: once it is imported, the module is loaded.
import { readFileSync } from "node:fs";
import { initSync } from "./pqtls_wasm.js";
import { PqtlsError } from "../errors.js";
import { isLoaded, setLoaded } from "./keys.js";
import { simd128 } from "../simd.js";

export * from "./keys.js";
export { PqtlsError } from "../errors.js";
export { simd128 } from "../simd.js";

const FILES = { simd128: "./simd128.wasm", plain: "./plain.wasm" };

// The variable is for tests and benchmarks of the module that the engine would not choose.
const wanted = process.env.PQTLS_WASM || (simd128() ? "simd128" : "plain");
if (!Object.hasOwn(FILES, wanted)) {
  throw new PqtlsError("not-loaded", `PQTLS_WASM is ${wanted}; it can be simd128 or plain`);
}
const start = () => setLoaded(initSync({ module: readFileSync(new URL(FILES[wanted], import.meta.url)) }));
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
