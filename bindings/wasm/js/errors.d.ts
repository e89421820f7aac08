export type ErrorCode =
  | "wrong-type"
  | "wrong-length"
  | "too-long"
  | "unknown-option"
  | "unknown-algorithm"
  | "unknown-form"
  | "unsupported-algorithm"
  | "malformed-der"
  | "malformed-pem"
  | "malformed-key"
  | "not-a-signature-key"
  | "not-a-kem-key"
  | "no-seed"
  | "form-unavailable"
  | "no-mu"
  | "invalid-signature"
  | "cannot-stream"
  | "pre-hash"
  | "refused-input"
  | "no-randomness"
  | "freed"
  | "no-constructor"
  | "not-loaded"
  | "internal"
  | "broken"
  | "busy"
  | "error";

/** Why a call failed. */
export class PqtlsError extends Error {
  constructor(code: ErrorCode, message?: string, options?: { cause?: unknown });
  readonly name: "PqtlsError";
  /** For programs. */
  readonly code: ErrorCode;
}
