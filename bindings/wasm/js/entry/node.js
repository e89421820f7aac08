// The entry for Node: once it is imported, the module is loaded.
import { readFileSync } from "node:fs";
import { initSync } from "./pqtls_wasm.js";
import { setLoaded } from "./keys.js";
import { simd128 } from "./simd.js";

export * from "./keys.js";
export { simd128 } from "./simd.js";

// For tests and benchmarks of the plain module.
const wanted = process.env.PQTLS_WASM ?? (simd128() ? "simd128" : "plain");
const file = wanted === "plain" ? "./pqtls_plain.wasm" : "./pqtls_simd128.wasm";
initSync({ module: readFileSync(new URL(file, import.meta.url)) });
setLoaded();

/** There for programs that run in browsers, too: nothing is left to do. */
export const load = () => Promise.resolve();
