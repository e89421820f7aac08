// What TypeScript says of programs with the package: `tsc --noEmit --strict`. It is not run.
import { DecapsulationKey, EncapsulationKey, load, PqtlsError, SigningKey, signatureAlgorithms, signatureLength, VerifyingKey, simd128 } from "pqtls"; // prettier-ignore
import type { Encapsulated, ErrorCode, KemAlgorithm, PrivateKeyForm, SignatureAlgorithm } from "pqtls";
import * as all from "pqtls/slh-dsa";

export async function right(message: Uint8Array, pem: string): Promise<Uint8Array | undefined> {
  await load();
  await load(new URL("https://example.org/simd128.wasm"));
  await load(new Uint8Array(5));
  await load(fetch("https://example.org/simd128.wasm"));
  await load(new Request("https://example.org/simd128.wasm"));
  await load(new WebAssembly.Module(new Uint8Array(8)));
  const algorithm: SignatureAlgorithm = "ML-DSA-65";
  const kem: KemAlgorithm = "ML-KEM-768";
  const form: PrivateKeyForm = "both";
  using key = SigningKey.generate(algorithm);
  const verifier: VerifyingKey = key.verifyingKey;
  const signature: Uint8Array = key.sign(message, { context: message });
  const valid: boolean = verifier.verify(message, signature, {}) && verifier.verifyMu(verifier.mu(message), key.signMu(message));
  const read: SigningKey = SigningKey.fromPkcs8(key.toPkcs8Pem({ form }));
  const opener: DecapsulationKey = DecapsulationKey.fromPkcs8(pem);
  const { ciphertext, sharedSecret }: Encapsulated = EncapsulationKey.fromSpki(pem).encapsulate();
  const secret: Uint8Array = opener.decapsulate(ciphertext);
  const lengths: number[] = signatureAlgorithms().map((name) => signatureLength(name));
  const slow: all.SignatureAlgorithm = "SLH-DSA-SHAKE-256s";
  all.SigningKey.generate(slow).check();
  try {
    DecapsulationKey.generate(kem).free();
  } catch (error) {
    if (error instanceof PqtlsError && error instanceof Error) {
      const code: ErrorCode = error.code;
      if (code === "no-randomness") throw error;
    }
  }
  return valid && simd128() && lengths.length ? (read.seed ?? secret ?? sharedSecret) : undefined;
}

export function wrong(key: SigningKey, verifier: VerifyingKey, opener: DecapsulationKey): void {
  // @ts-expect-error: SLH-DSA is in the other entry
  SigningKey.generate("SLH-DSA-SHAKE-128f");
  // @ts-expect-error: no algorithm
  SigningKey.generate("ML-DSA-66");
  // @ts-expect-error: no signature algorithm
  SigningKey.generate("ML-KEM-768");
  // @ts-expect-error: 128m
  all.SigningKey.generate("SLH-DSA-SHAKE-128m");
  // @ts-expect-error: not made by new
  new SigningKey();
  // @ts-expect-error: a string is no message
  key.sign("message");
  // @ts-expect-error: a misspelt option
  key.sign(new Uint8Array(5), { contxt: new Uint8Array(5) });
  // @ts-expect-error: nor a form
  key.toPkcs8({ form: "pem" });
  // @ts-expect-error: a public key does not sign
  verifier.sign(new Uint8Array(5));
  // @ts-expect-error: the seed may be missing
  key.seed.length;
  // @ts-expect-error: read only
  key.freed = true;
  // @ts-expect-error: another kind
  const other: SigningKey = opener;
  // @ts-expect-error: no such code
  if (new PqtlsError("error", "words", { cause: other }).code === "oops") void other;
  // @ts-expect-error: a code is needed
  new PqtlsError();
}
