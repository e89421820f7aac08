/** The word by which programs tell errors apart. */
export type ErrorCode =
  /** An argument, or what a method was called on, has a wrong type, or the bytes were transferred elsewhere. */
  | "wrong-type"
  /** µ or m has a wrong number of bytes. */
  | "wrong-length"
  /** An array has more than 2^30 bytes, or a string more than 2^28 characters. */
  | "too-long"
  /** The options have a property that the method does not know, such as a misspelt one. */
  | "unknown-option"
  /** There is no algorithm with this name, or this class or this entry does not have it. */
  | "unknown-algorithm"
  /** The form of a private key is none of "seed", "expanded" and "both". */
  | "unknown-form"
  /** The key that was read is of an algorithm that this entry does not have, or signs hashes. */
  | "unsupported-algorithm"
  /** The bytes are no key in DER. */
  | "malformed-der"
  /** The text has no PEM block of the right kind, or a damaged one. */
  | "malformed-pem"
  /** The key has a wrong length, form or value, or its parts do not belong together. */
  | "malformed-key"
  /** The key that was read is of ML-KEM, where one that signs or verifies is needed. */
  | "not-a-signature-key"
  /** The key that was read signs or verifies, where one of ML-KEM is needed. */
  | "not-a-kem-key"
  /** The key is to be written with its seed, but was read from its expanded form, which has none. */
  | "no-seed"
  /** An SLH-DSA key is to be written in a form that SLH-DSA does not have. */
  | "form-unavailable"
  /** µ was used with a key of SLH-DSA, which has none. */
  | "no-mu"
  /** A context or ciphertext has a wrong length, or the halves of an SLH-DSA key do not belong together. */
  | "refused-input"
  /** Web Crypto is missing or failed. */
  | "no-randomness"
  /** The key was freed. */
  | "freed"
  /** A key was to be copied by `structuredClone`, `postMessage`, `JSON.stringify` or `{ ...key }`. */
  | "not-cloneable"
  /** A key was to be made by `new`. */
  | "no-constructor"
  /** `load()` was not called, or could not load the module. */
  | "not-loaded"
  /** The module failed in this call, such as by a stack overflow. It was wiped, and its keys are lost. */
  | "internal"
  /** The module failed in an earlier call, or this key was made before that: call `load()`, and make the keys anew. */
  | "broken"
  /** The module was called during another call, such as by a replaced `crypto.getRandomValues`. */
  | "busy"
  /** The call failed in a way that has no code of its own. No way to get this is known. */
  | "error";

/** Why a call failed. */
export class PqtlsError extends Error {
  constructor(code: ErrorCode, message?: string, options?: { cause?: unknown });
  readonly name: "PqtlsError";
  /** For programs, which should not rely on the message. */
  readonly code: ErrorCode;
}
