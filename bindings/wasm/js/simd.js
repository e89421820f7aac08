// A module with a function that returns a vector. It is valid only if the engine has SIMD128.
const PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
);

/** Whether this engine has SIMD128. */
export const simd128 = () => WebAssembly.validate(PROBE);
