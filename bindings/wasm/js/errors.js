/** Why a call failed: `code` for programs, `message` for people. Both entries of the package have this one class. */
export class PqtlsError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = "PqtlsError";
    this.code = code;
  }
}
