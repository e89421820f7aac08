// The classes that users see, over those that wasm-bindgen makes. What is here checks what JavaScript can get wrong:
// types, and objects that were freed. The rest is checked in Rust.
import * as wasm from "./pqtls_wasm.js";

/** Why a call failed: `code` for programs, `message` for people. */
export class PqtlsError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = "PqtlsError";
    this.code = code;
  }
}

/** What a program that wants to hash more at once should do is to sign µ of it. A module has 4 GiB at most. */
const LONGEST = 2 ** 30;

const kindOf = (value) => {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  return value.constructor?.name ?? "object";
};

const wrongType = (what, wanted, value) =>
  new PqtlsError("wrong-type", `${what} must be ${wanted}, not ${kindOf(value)}`);

function bytes(what, value) {
  if (!(value instanceof Uint8Array)) {
    // of another realm, such as an iframe's or a vm's context
    if (Object.prototype.toString.call(value) !== "[object Uint8Array]" || !ArrayBuffer.isView(value)) {
      throw wrongType(what, "a Uint8Array", value);
    }
  }
  if (value.length > LONGEST) {
    throw new PqtlsError("too-long", `${what} has ${value.length} bytes; at most ${LONGEST} fit at once`);
  }
  return value;
}

function string(what, value) {
  if (typeof value !== "string") throw wrongType(what, "a string", value);
  if (value.length > LONGEST / 4) {
    throw new PqtlsError("too-long", `${what} has ${value.length} characters; at most ${LONGEST / 4} fit at once`);
  }
  return value;
}

const OPTIONS = { context: bytes, form: string };

/** The options, of which each has to be known: a misspelt `context` would make another signature. */
function options(value, ...known) {
  if (value === undefined) return {};
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) {
    throw wrongType("options", `an object with ${known.join(", ")}`, value);
  }
  const read = {};
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      throw new PqtlsError("unknown-option", `no option ${name}; there is ${known.join(", ")}`);
    }
    if (value[name] !== undefined) read[name] = OPTIONS[name](name, value[name]);
  }
  return read;
}

const EMPTY = new Uint8Array(0);

/** Calls the module, whose errors become ours. */
function call(operation) {
  try {
    return operation();
  } catch (error) {
    if (error instanceof PqtlsError) throw error;
    if (!isLoaded()) {
      throw new PqtlsError("not-loaded", "the module isn't loaded: call `await load()` first", { cause: error });
    }
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError || error instanceof TypeError) {
      throw new PqtlsError("internal", `the module failed, perhaps for want of memory: ${error.message}`, { cause: error });
    }
    throw new PqtlsError(error.name, error.message);
  }
}

let loaded = false;
export const isLoaded = () => loaded;
export const setLoaded = () => {
  loaded = true;
};

const MADE_HERE = Symbol("made here");
let innerOf;
let wrap;

class Key {
  #inner;

  static {
    innerOf = (key) => {
      if (!(#inner in key)) throw wrongType("this", "a key of pqtls", key);
      if (key.#inner === null) throw new PqtlsError("freed", `this ${key.constructor.name} was freed, and can't be used again`);
      return key.#inner;
    };
    wrap = (Class, inner) => new Class(MADE_HERE, inner);
    if (Symbol.dispose) {
      Object.defineProperty(this.prototype, Symbol.dispose, { value() { this.free(); }, writable: true, configurable: true });
    }
  }

  constructor(token, inner) {
    if (token !== MADE_HERE) {
      const { name } = new.target;
      throw new PqtlsError("no-constructor", `a ${name} isn't made by new: see the static methods of ${name}`);
    }
    this.#inner = inner;
  }

  /** Wipes the key now, and not when the collector finds it. More than once does nothing. */
  free() {
    if (!(#inner in this)) throw wrongType("this", "a key of pqtls", this);
    const inner = this.#inner;
    this.#inner = null;
    inner?.free();
  }

  get freed() {
    return this.#inner === null;
  }

  get algorithm() {
    const inner = innerOf(this);
    return call(() => inner.algorithm());
  }
}

/** What private keys of both kinds can. `inner` names the class of the module. */
const privateKey = (inner) =>
  class extends Key {
    static generate(algorithm) {
      string("algorithm", algorithm);
      return wrap(this, call(() => wasm[inner].generate(algorithm)));
    }

    static fromSeed(algorithm, seed) {
      string("algorithm", algorithm);
      bytes("seed", seed);
      return wrap(this, call(() => wasm[inner].fromSeed(algorithm, seed)));
    }

    static fromExpanded(algorithm, expanded) {
      string("algorithm", algorithm);
      bytes("expanded", expanded);
      return wrap(this, call(() => wasm[inner].fromExpanded(algorithm, expanded)));
    }

    static fromPkcs8(key) {
      if (typeof key === "string") {
        string("key", key);
        return wrap(this, call(() => wasm[inner].fromPkcs8Pem(key)));
      }
      bytes("key", key);
      return wrap(this, call(() => wasm[inner].fromPkcs8Der(key)));
    }

    toPkcs8(given) {
      const { form } = options(given, "form");
      const key = innerOf(this);
      return call(() => key.toPkcs8Der(form));
    }

    toPkcs8Pem(given) {
      const { form } = options(given, "form");
      const key = innerOf(this);
      return call(() => key.toPkcs8Pem(form));
    }

    get seed() {
      const key = innerOf(this);
      return call(() => key.seed());
    }

    toExpanded() {
      const key = innerOf(this);
      return call(() => key.toExpanded());
    }
  };

/** What public keys of both kinds can. */
const publicKey = (inner) =>
  class extends Key {
    static fromBytes(algorithm, key) {
      string("algorithm", algorithm);
      bytes("key", key);
      return wrap(this, call(() => wasm[inner].fromBytes(algorithm, key)));
    }

    static fromSpki(key) {
      if (typeof key === "string") {
        string("key", key);
        return wrap(this, call(() => wasm[inner].fromSpkiPem(key)));
      }
      bytes("key", key);
      return wrap(this, call(() => wasm[inner].fromSpkiDer(key)));
    }

    toBytes() {
      const key = innerOf(this);
      return call(() => key.toBytes());
    }

    toSpki() {
      const key = innerOf(this);
      return call(() => key.toSpkiDer());
    }

    toSpkiPem() {
      const key = innerOf(this);
      return call(() => key.toSpkiPem());
    }
  };

/** ML-DSA (FIPS 204) and SLH-DSA (FIPS 205): the private key, which signs. */
export class SigningKey extends privateKey("Signing") {
  #verifyingKey;

  /** The public half, always the same object until it is freed. */
  get verifyingKey() {
    const key = innerOf(this);
    if (!this.#verifyingKey || this.#verifyingKey.freed) {
      this.#verifyingKey = wrap(VerifyingKey, call(() => key.verifyingKey()));
    }
    return this.#verifyingKey;
  }

  sign(message, given) {
    bytes("message", message);
    const { context = EMPTY } = options(given, "context");
    const key = innerOf(this);
    return call(() => key.sign(message, context, false));
  }

  signDeterministic(message, given) {
    bytes("message", message);
    const { context = EMPTY } = options(given, "context");
    const key = innerOf(this);
    return call(() => key.sign(message, context, true));
  }

  signMu(mu) {
    bytes("mu", mu);
    const key = innerOf(this);
    return call(() => key.signMu(mu, false));
  }

  signMuDeterministic(mu) {
    bytes("mu", mu);
    const key = innerOf(this);
    return call(() => key.signMu(mu, true));
  }

  check() {
    const key = innerOf(this);
    call(() => key.check());
  }
}

/** The public key, which verifies signatures. */
export class VerifyingKey extends publicKey("Verifying") {
  verify(message, signature, given) {
    bytes("message", message);
    bytes("signature", signature);
    const { context = EMPTY } = options(given, "context");
    const key = innerOf(this);
    return call(() => key.verify(message, signature, context));
  }

  verifyMu(mu, signature) {
    bytes("mu", mu);
    bytes("signature", signature);
    const key = innerOf(this);
    return call(() => key.verifyMu(mu, signature));
  }

  mu(message, given) {
    bytes("message", message);
    const { context = EMPTY } = options(given, "context");
    const key = innerOf(this);
    return call(() => key.mu(message, context));
  }
}

/** ML-KEM (FIPS 203): the private key, which decapsulates. */
export class DecapsulationKey extends privateKey("Decapsulation") {
  #encapsulationKey;

  /** The public half, always the same object until it is freed. */
  get encapsulationKey() {
    const key = innerOf(this);
    if (!this.#encapsulationKey || this.#encapsulationKey.freed) {
      this.#encapsulationKey = wrap(EncapsulationKey, call(() => key.encapsulationKey()));
    }
    return this.#encapsulationKey;
  }

  decapsulate(ciphertext) {
    bytes("ciphertext", ciphertext);
    const key = innerOf(this);
    return call(() => key.decapsulate(ciphertext));
  }
}

/** The public key, to which others encapsulate. */
export class EncapsulationKey extends publicKey("Encapsulation") {
  encapsulate() {
    const key = innerOf(this);
    const [ciphertext, sharedSecret] = call(() => key.encapsulate());
    return { ciphertext, sharedSecret };
  }

  encapsulateDeterministic(m) {
    bytes("m", m);
    const key = innerOf(this);
    const [ciphertext, sharedSecret] = call(() => key.encapsulateDeterministic(m));
    return { ciphertext, sharedSecret };
  }
}

/** Names of the algorithms that sign. */
export const signatureAlgorithms = () => call(() => wasm.signatureAlgorithms());

/** How many bytes a signature has. */
export const signatureLength = (algorithm) => {
  string("algorithm", algorithm);
  return call(() => wasm.signatureLength(algorithm));
};
