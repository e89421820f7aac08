// The classes that users see, around those that wasm-bindgen makes. This code checks what JavaScript can get wrong:
// types, and objects that were freed. Rust checks the rest.
import * as wasm from "./pqtls_wasm.js";
import { PqtlsError } from "../errors.js";

/** The most bytes at once: a module has 4 GiB at most. For longer messages, µ can be computed elsewhere and signed. */
const LONGEST = 2 ** 30;

const encoder = new TextEncoder();

const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
const intrinsic = (name) => Object.getOwnPropertyDescriptor(typedArray, name).get;
const tagOf = intrinsic(Symbol.toStringTag);
const bufferOf = intrinsic("buffer");
const offsetOf = intrinsic("byteOffset");
const lengthOf = intrinsic("length");

/** The kind of a value, found without anything that the value can influence. */
const kindOf = (value) => {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return tagOf.call(value) ?? (Array.isArray(value) ? "Array" : "another object");
};

const wrongType = (what, wanted, value) =>
  new PqtlsError("wrong-type", `${what} must be ${wanted}, not ${kindOf(value)}`);

/**
 * The bytes, as a new view. Its `length` can't be faked, and does not change if another thread lets the buffer grow:
 * it decides how much room the module makes.
 */
function bytes(what, value) {
  // This takes arrays of another realm, such as an iframe's, too, and nothing that only inherits from one.
  if (tagOf.call(value) !== "Uint8Array") throw wrongType(what, "a Uint8Array", value);
  const length = lengthOf.call(value);
  if (length > LONGEST) {
    throw new PqtlsError("too-long", `${what} has ${length} bytes; at most ${LONGEST} fit at once`);
  }
  if (length === 0) refuseDetached(what, value);
  return new Uint8Array(bufferOf.call(value), offsetOf.call(value), length);
}

/** Refuses an array whose bytes were transferred elsewhere: it would be an empty message. */
function refuseDetached(what, value) {
  try {
    new Uint8Array(bufferOf.call(value));
  } catch (error) {
    throw new PqtlsError("wrong-type", `${what} is detached: its bytes were transferred elsewhere`, { cause: error });
  }
}

function string(what, value) {
  if (typeof value !== "string") throw wrongType(what, "a string", value);
  if (value.length > LONGEST / 4) {
    throw new PqtlsError("too-long", `${what} has ${value.length} characters; at most ${LONGEST / 4} fit at once`);
  }
  return value;
}

/** How long a name may be. Messages show nothing of other texts: they may be secrets that were given by mistake. */
const LONGEST_NAME = 32;
const isName = (text) => /^[A-Za-z0-9\-/_.]+$/.test(text);
const shown = (text) => {
  if (typeof text !== "string" || !isName(text)) return "";
  return text.length > LONGEST_NAME ? ` ${text.slice(0, LONGEST_NAME)}…` : ` ${text}`;
};

function algorithmName(value) {
  string("algorithm", value);
  if (value.length > LONGEST_NAME || !isName(value)) {
    throw new PqtlsError("unknown-algorithm", `there is no algorithm${shown(value)}; names are such as ML-DSA-65 or ML-KEM-768`);
  }
  return value;
}

const FORMS = ["seed", "expanded", "both"];

function formName(what, value) {
  string(what, value);
  if (!FORMS.includes(value)) {
    throw new PqtlsError("unknown-form", `no form${shown(value)} of private keys; there are "${FORMS.join('", "')}"`);
  }
  return value;
}

const OPTIONS = { context: bytes, form: formName };

/**
 * The only option, if it was given. Others are refused: a misspelt `context` would make another signature. So are
 * objects that are not plain, since nobody gives an array or a Map to mean that there are no options.
 */
function option(name, given) {
  if (given === undefined) return undefined;
  const parent = typeof given === "object" && given !== null ? Object.getPrototypeOf(given) : undefined;
  if (parent !== Object.prototype && parent !== null) throw wrongType("options", `an object with ${name}`, given);
  for (const other of Reflect.ownKeys(given)) {
    if (other !== name) throw new PqtlsError("unknown-option", `unknown option${shown(other)}; the only option is ${name}`);
  }
  const value = Object.hasOwn(given, name) ? given[name] : undefined;
  return value === undefined ? undefined : OPTIONS[name](name, value);
}

const EMPTY = new Uint8Array(0);
/** To be called before the other arguments are read: a getter may transfer their buffers. */
const contextOf = (options) => option("context", options) ?? EMPTY;

/** The instance of the module that is used: its exports. */
let instance;
/** Whether an instance failed, and none was loaded after it. */
let lost = false;
/** Whether the instance has failed and is still to be wiped. */
let failed = false;
/** Whether a call is under way. */
let running = false;

export const isLoaded = () => {
  if (failed) giveUp();
  return instance !== undefined;
};
export const setLoaded = (exports) => {
  instance = exports;
  lost = false;
};

/**
 * Wipes an instance, which gets no more calls. An exception that went through its code has left its stack, its
 * locks and its secrets in the middle of an operation.
 */
function giveUp() {
  new Uint8Array(instance.memory.buffer).fill(0);
  wasm.forget();
  lost = true;
  instance = undefined;
  failed = false;
}

const lostError = () =>
  new PqtlsError("broken", "the module failed in an earlier call, and its keys were wiped: call `await load()`, and make the keys anew");

/** Calls the module, and makes a PqtlsError of its errors. */
function call(operation) {
  if (!isLoaded()) {
    throw lost ? lostError() : new PqtlsError("not-loaded", "the module isn't loaded: call `await load()` first");
  }
  if (running) throw new PqtlsError("busy", "the module was called during another call, such as by getRandomValues");
  try {
    running = true;
    return operation();
  } catch (error) {
    // This comes first, and without a function call: there may be no stack left for one. Then the next call wipes.
    failed = true;
    // The module's own errors have a code as their name, and no class of their own.
    if (Object.getPrototypeOf(error) === Error.prototype && Object.hasOwn(error, "name")) {
      failed = false;
      throw new PqtlsError(error.name, error.message);
    }
    giveUp();
    throw new PqtlsError("internal", `the module failed, perhaps out of memory or stack, and was wiped: ${error?.message ?? error}`, {
      cause: error,
    });
  } finally {
    running = false;
  }
}

/**
 * A property of every key, for whoever copies its properties, as `structuredClone` and `postMessage` do: they would make an
 * empty object.
 */
const UNCLONEABLE = {
  get() {
    throw new PqtlsError(
      "not-cloneable",
      "a key can't be cloned, or sent to a worker: write it with toPkcs8() or toSpki(), and read that on the other side",
    );
  },
  enumerable: true,
};

/** The method that `console.log` of Node, Deno and Bun calls. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");
/** How many bytes of a public key people see. */
const SEEN = 8;

const MADE_HERE = Symbol("made here");
let isKey;
let innerOf;
let wrap;

class Key {
  #inner;
  #instance = instance;

  static {
    isKey = (value) => typeof value === "object" && value !== null && #inner in value;
    /** The module's object in a key, of one of its classes. */
    innerOf = (key, ...classes) => {
      if (!isKey(key)) throw wrongType("this", "a key of pqtls", key);
      const inner = key.#inner;
      if (inner === null) throw new PqtlsError("freed", "this key was freed, and can't be used again");
      if (!key.#lives()) throw lostError();
      if (!classes.some((Class) => inner instanceof Class)) {
        throw new PqtlsError("wrong-type", "this method is for another kind of key");
      }
      return inner;
    };
    wrap = (Class, inner) => new Class(MADE_HERE, inner);
    if (Symbol.dispose) {
      Object.defineProperty(this.prototype, Symbol.dispose, {
        value() {
          this.free();
        },
        writable: true,
        configurable: true,
      });
    }
  }

  constructor(token, inner) {
    if (token !== MADE_HERE) {
      const { name } = new.target;
      throw new PqtlsError("no-constructor", `a ${name} can't be made by new: use the static methods of ${name}`);
    }
    this.#inner = inner;
    Object.defineProperty(this, "uncloneable", UNCLONEABLE);
  }

  free() {
    if (!isKey(this)) throw wrongType("this", "a key of pqtls", this);
    const inner = this.#inner;
    // The memory of a lost instance is wiped already.
    if (inner !== null && this.#lives()) call(() => inner.free());
    this.#inner = null;
  }

  /** Whether the key is in the instance that is used. */
  #lives() {
    return isLoaded() && this.#instance === instance;
  }

  get freed() {
    if (!isKey(this)) throw wrongType("this", "a key of pqtls", this);
    return this.#inner === null;
  }

  /** The key for people: nothing secret, and never an exception. */
  [INSPECT]() {
    const { name } = this.constructor;
    if (!isKey(this)) return name;
    if (this.#inner === null) return `${name} { freed }`;
    try {
      if (!this.#lives()) return `${name} { lost, since the module failed }`;
      const key = this.#inner;
      const algorithm = call(() => key.algorithm());
      const start = Array.from(publicBytes(key).subarray(0, SEEN), (byte) => byte.toString(16).padStart(2, "0"));
      return `${name} { algorithm: '${algorithm}', publicKey: '${start.join("")}…' }`;
    } catch {
      // such as during a call
      return `${name} {}`;
    }
  }
}

/** The public key of a key of either kind. */
function publicBytes(key) {
  if (key.toBytes) return call(() => key.toBytes());
  const half = call(() => (key.verifyingKey ? key.verifyingKey() : key.encapsulationKey()));
  try {
    return call(() => half.toBytes());
  } finally {
    call(() => half.free());
  }
}

/** What private keys of both kinds can do. `Inner` is the class of the module. */
const privateKey = (Inner) => {
  class Made extends Key {
    static generate(algorithm) {
      algorithmName(algorithm);
      return wrap(classOf(this, Made), call(() => Inner.generate(algorithm)));
    }

    static fromSeed(algorithm, seed) {
      algorithmName(algorithm);
      const given = bytes("seed", seed);
      return wrap(classOf(this, Made), call(() => Inner.fromSeed(algorithm, given)));
    }

    static fromExpanded(algorithm, expanded) {
      algorithmName(algorithm);
      const given = bytes("expanded", expanded);
      return wrap(classOf(this, Made), call(() => Inner.fromExpanded(algorithm, given)));
    }

    static fromPkcs8(key) {
      return wrap(classOf(this, Made), read(key, Inner.fromPkcs8Der, Inner.fromPkcs8Pem));
    }

    get algorithm() {
      const key = innerOf(this, Inner);
      return call(() => key.algorithm());
    }

    get seed() {
      const key = innerOf(this, Inner);
      return call(() => key.seed());
    }

    toExpanded() {
      const key = innerOf(this, Inner);
      return call(() => key.toExpanded());
    }

    toPkcs8(options) {
      const form = option("form", options);
      const key = innerOf(this, Inner);
      return call(() => key.toPkcs8Der(form));
    }

    toPkcs8Pem(options) {
      const form = option("form", options);
      const key = innerOf(this, Inner);
      return call(() => key.toPkcs8Pem(form));
    }
  }
  return Made;
};

/** What public keys of both kinds can do. */
const publicKey = (Inner) => {
  class Made extends Key {
    static fromBytes(algorithm, key) {
      algorithmName(algorithm);
      const given = bytes("key", key);
      return wrap(classOf(this, Made), call(() => Inner.fromBytes(algorithm, given)));
    }

    static fromSpki(key) {
      return wrap(classOf(this, Made), read(key, Inner.fromSpkiDer, Inner.fromSpkiPem));
    }

    get algorithm() {
      const key = innerOf(this, Inner);
      return call(() => key.algorithm());
    }

    toBytes() {
      const key = innerOf(this, Inner);
      return call(() => key.toBytes());
    }

    toSpki() {
      const key = innerOf(this, Inner);
      return call(() => key.toSpkiDer());
    }

    toSpkiPem() {
      const key = innerOf(this, Inner);
      return call(() => key.toSpkiPem());
    }
  }
  return Made;
};

/** The class that a static method was called on: one of ours, or one that extends ours. */
function classOf(Class, Made) {
  if (typeof Class !== "function" || !Object.prototype.isPrototypeOf.call(Made, Class)) {
    throw new PqtlsError("wrong-type", "a static method must be called on its class, as in SigningKey.generate()");
  }
  return Class;
}

function read(key, fromDer, fromPem) {
  if (typeof key === "string") {
    string("key", key);
    // The glue would pass a string in memory that it frees but does not wipe.
    const text = encoder.encode(key);
    try {
      return call(() => fromPem(text));
    } finally {
      text.fill(0);
    }
  }
  const given = bytes("key", key);
  return call(() => fromDer(given));
}

const { Signing, Verifying, Decapsulation, Encapsulation } = wasm;

/** ML-DSA (FIPS 204) and SLH-DSA (FIPS 205): the private key, which signs. */
export class SigningKey extends privateKey(Signing) {
  #verifyingKey;

  get verifyingKey() {
    const key = innerOf(this, Signing);
    if (!this.#verifyingKey || this.#verifyingKey.freed) {
      this.#verifyingKey = wrap(VerifyingKey, call(() => key.verifyingKey()));
    }
    return this.#verifyingKey;
  }

  sign(message, options) {
    const context = contextOf(options);
    const given = bytes("message", message);
    const key = innerOf(this, Signing);
    return call(() => key.sign(given, context, false));
  }

  signDeterministic(message, options) {
    const context = contextOf(options);
    const given = bytes("message", message);
    const key = innerOf(this, Signing);
    return call(() => key.sign(given, context, true));
  }

  signMu(mu) {
    const given = bytes("mu", mu);
    const key = innerOf(this, Signing);
    return call(() => key.signMu(given, false));
  }

  signMuDeterministic(mu) {
    const given = bytes("mu", mu);
    const key = innerOf(this, Signing);
    return call(() => key.signMu(given, true));
  }

  check() {
    const key = innerOf(this, Signing);
    call(() => key.check());
  }
}

/** The public key, which verifies signatures. */
export class VerifyingKey extends publicKey(Verifying) {
  verify(message, signature, options) {
    const context = contextOf(options);
    const given = bytes("message", message);
    const signed = bytes("signature", signature);
    const key = innerOf(this, Verifying);
    return call(() => key.verify(given, signed, context));
  }

  verifyMu(mu, signature) {
    const given = bytes("mu", mu);
    const signed = bytes("signature", signature);
    const key = innerOf(this, Verifying);
    return call(() => key.verifyMu(given, signed));
  }

  mu(message, options) {
    const context = contextOf(options);
    const given = bytes("message", message);
    const key = innerOf(this, Verifying);
    return call(() => key.mu(given, context));
  }
}

/** ML-KEM (FIPS 203): the private key, which decapsulates. */
export class DecapsulationKey extends privateKey(Decapsulation) {
  #encapsulationKey;

  get encapsulationKey() {
    const key = innerOf(this, Decapsulation);
    if (!this.#encapsulationKey || this.#encapsulationKey.freed) {
      this.#encapsulationKey = wrap(EncapsulationKey, call(() => key.encapsulationKey()));
    }
    return this.#encapsulationKey;
  }

  decapsulate(ciphertext) {
    const given = bytes("ciphertext", ciphertext);
    const key = innerOf(this, Decapsulation);
    return call(() => key.decapsulate(given));
  }
}

/** The public key, to which others encapsulate. */
export class EncapsulationKey extends publicKey(Encapsulation) {
  encapsulate() {
    const key = innerOf(this, Encapsulation);
    const [ciphertext, sharedSecret] = call(() => key.encapsulate());
    return { ciphertext, sharedSecret };
  }

  encapsulateDeterministic(m) {
    const given = bytes("m", m);
    const key = innerOf(this, Encapsulation);
    const [ciphertext, sharedSecret] = call(() => key.encapsulateDeterministic(given));
    return { ciphertext, sharedSecret };
  }
}

export const signatureAlgorithms = () => call(() => wasm.signatureAlgorithms());

export const signatureLength = (algorithm) => {
  algorithmName(algorithm);
  return call(() => wasm.signatureLength(algorithm));
};
