// The classes that users see, over those that wasm-bindgen makes. What is here checks what JavaScript can get wrong:
// types, and objects that were freed. The rest is checked in Rust.
import * as wasm from "./pqtls_wasm.js";
import { PqtlsError } from "../errors.js";

/** What a program that wants to hash more at once should do is to sign µ of it. A module has 4 GiB at most. */
const LONGEST = 2 ** 30;

const { prototype } = Uint8Array;
const intrinsic = (name) => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(prototype), name).get;
const tagOf = intrinsic(Symbol.toStringTag);
const bufferOf = intrinsic("buffer");
const offsetOf = intrinsic("byteOffset");
const lengthOf = intrinsic("length");

/** What a value is, by nothing that the value can decide. */
const kindOf = (value) => {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  return tagOf.call(value) ?? (Array.isArray(value) ? "Array" : "another object");
};

const wrongType = (what, wanted, value) =>
  new PqtlsError("wrong-type", `${what} must be ${wanted}, not ${kindOf(value)}`);

/** The bytes, as an array of which `length` is what the language says: it decides what is written into the module. */
function bytes(what, value) {
  // Also of an array of another realm, such as an iframe's, and never of what only inherits from one.
  if (tagOf.call(value) !== "Uint8Array") throw wrongType(what, "a Uint8Array", value);
  const length = lengthOf.call(value);
  if (length > LONGEST) {
    throw new PqtlsError("too-long", `${what} has ${length} bytes; at most ${LONGEST} fit at once`);
  }
  if (length === 0) refuseDetached(what, value);
  const plain = Object.getPrototypeOf(value) === prototype && !Object.hasOwn(value, "length");
  return plain ? value : new Uint8Array(bufferOf.call(value), offsetOf.call(value), length);
}

/** An array whose bytes were transferred elsewhere would be an empty message. */
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

const OPTIONS = { context: bytes, form: string };

/** The one option that there is, if it was given. Others are refused: a misspelt `context` would make another signature. */
function option(name, given) {
  if (given === undefined) return undefined;
  if (given === null || typeof given !== "object" || ArrayBuffer.isView(given)) {
    throw wrongType("options", `an object with ${name}`, given);
  }
  for (const other of Object.keys(given)) {
    if (other !== name) throw new PqtlsError("unknown-option", `no option ${other}; there is ${name}`);
  }
  const value = given[name];
  return value === undefined ? undefined : OPTIONS[name](name, value);
}

const EMPTY = new Uint8Array(0);
const contextOf = (options) => option("context", options) ?? EMPTY;

let loaded = false;
export const isLoaded = () => loaded;
export const setLoaded = () => {
  loaded = true;
};

/** Calls the module, whose errors become ours. */
function call(operation) {
  if (!loaded) throw new PqtlsError("not-loaded", "the module isn't loaded: call `await load()` first");
  try {
    return operation();
  } catch (error) {
    // Those of the module have a code for a name, and no class of their own.
    if (Object.getPrototypeOf(error) !== Error.prototype || !Object.hasOwn(error, "name")) {
      throw new PqtlsError("internal", `the module failed, perhaps for want of memory: ${error?.message ?? error}`, {
        cause: error,
      });
    }
    throw new PqtlsError(error.name, error.message);
  }
}

const MADE_HERE = Symbol("made here");
let isKey;
let innerOf;
let wrap;

class Key {
  #inner;

  static {
    isKey = (value) => typeof value === "object" && value !== null && #inner in value;
    /** The module's object in a key, of one of its classes. */
    innerOf = (key, ...classes) => {
      if (!isKey(key)) throw wrongType("this", "a key of pqtls", key);
      const inner = key.#inner;
      if (inner === null) throw new PqtlsError("freed", "this key was freed, and can't be used again");
      if (!classes.some((Class) => inner instanceof Class)) {
        throw new PqtlsError("wrong-type", "this method is of another kind of keys");
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
      throw new PqtlsError("no-constructor", `a ${name} isn't made by new: see the static methods of ${name}`);
    }
    this.#inner = inner;
  }

  free() {
    if (!isKey(this)) throw wrongType("this", "a key of pqtls", this);
    const inner = this.#inner;
    this.#inner = null;
    inner?.free();
  }

  get freed() {
    if (!isKey(this)) throw wrongType("this", "a key of pqtls", this);
    return this.#inner === null;
  }
}

/** What private keys of both kinds can. `Inner` is the class of the module. */
const privateKey = (Inner) => {
  class Made extends Key {
    static generate(algorithm) {
      string("algorithm", algorithm);
      return wrap(classOf(this, Made), call(() => Inner.generate(algorithm)));
    }

    static fromSeed(algorithm, seed) {
      string("algorithm", algorithm);
      const given = bytes("seed", seed);
      return wrap(classOf(this, Made), call(() => Inner.fromSeed(algorithm, given)));
    }

    static fromExpanded(algorithm, expanded) {
      string("algorithm", algorithm);
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

/** What public keys of both kinds can. */
const publicKey = (Inner) => {
  class Made extends Key {
    static fromBytes(algorithm, key) {
      string("algorithm", algorithm);
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

/** The class that a static method was called of, which is one of ours, or somebody's who extends one. */
function classOf(Class, Made) {
  if (typeof Class !== "function" || !Object.prototype.isPrototypeOf.call(Made, Class)) {
    throw new PqtlsError("wrong-type", "a static method must be called as one of its class, such as SigningKey.generate()");
  }
  return Class;
}

function read(key, fromDer, fromPem) {
  if (typeof key === "string") {
    string("key", key);
    return call(() => fromPem(key));
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
    const given = bytes("message", message);
    const context = contextOf(options);
    const key = innerOf(this, Signing);
    return call(() => key.sign(given, context, false));
  }

  signDeterministic(message, options) {
    const given = bytes("message", message);
    const context = contextOf(options);
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
    const given = bytes("message", message);
    const signed = bytes("signature", signature);
    const context = contextOf(options);
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
    const given = bytes("message", message);
    const context = contextOf(options);
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
  string("algorithm", algorithm);
  return call(() => wasm.signatureLength(algorithm));
};
