// What TypeScript says of programs without the types of pages or Node: `tsc --noEmit --strict --lib es2022`. It is not run.
import { EncapsulationKey, load, PqtlsError, SigningKey } from "pqtls";

export async function right(message: Uint8Array, context: Uint8Array | undefined): Promise<Uint8Array<ArrayBuffer>> {
  await load();
  await load(new Uint8Array(5));
  await load("https://example.org/simd128.wasm");
  const own: Uint8Array<ArrayBuffer> = EncapsulationKey.fromSpki("PEM").encapsulate().sharedSecret;
  try {
    return SigningKey.generate("ML-DSA-44").sign(message, { context });
  } catch (error) {
    throw error instanceof PqtlsError && error.code === "broken" ? new PqtlsError("busy", "words") : own;
  }
}
