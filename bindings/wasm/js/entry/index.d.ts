/// <reference lib="esnext.disposable" />
/**
 * ML-KEM, ML-DSA and SLH-DSA (FIPS 203 to 205), with keys in PKCS#8, SPKI, PEM and the standards' own encodings.
 *
 * Functions throw a {@link PqtlsError}. Two other exceptions pass through: one of the caller's own code that a call
 * runs, such as a getter in the options, and the engine's own if the stack is full before the module is called.
 *
 * Keys are in the module's memory until {@link Key.free} or the garbage collector wipes them.
 *
 * An exception within the module, such as a stack overflow, is a {@link PqtlsError} with the code "internal". The
 * module's memory is then wiped, and using its keys gives "broken": call {@link load}, and make the keys anew.
 *
 * The package's two entries, `pqtls` and `pqtls/slh-dsa`, differ only in the algorithms. Each has its own module and
 * classes: import only one of them.
 */

import type { KemAlgorithm, SignatureAlgorithm } from "./algorithms.js";
export type { KemAlgorithm, SignatureAlgorithm } from "./algorithms.js";
export { PqtlsError, type ErrorCode } from "../errors.js";

/** How a private key is written: as its seed, expanded, or both. SLH-DSA has only "expanded". */
export type PrivateKeyForm = "seed" | "expanded" | "both";

/** What signer and verifier agree on besides the key. */
export interface SignatureOptions {
  /** Keeps signatures for different purposes apart: at most 255 bytes, by default none. */
  context?: Uint8Array | undefined;
}

/** How a private key is to be written. */
export interface PrivateKeyOptions {
  /** By default "seed", or for SLH-DSA "expanded". A key that was read from its expanded form has no seed. */
  form?: PrivateKeyForm | undefined;
}

/**
 * A URL, Request, Response or WebAssembly.Module, each described by members that only it has: programs without the
 * types of web pages read this file, too.
 */
export type ModuleSource =
  | string
  | { readonly href: string; readonly searchParams: object }
  | { readonly url: string; readonly headers: object; arrayBuffer(): Promise<ArrayBuffer> }
  | ArrayBuffer
  | ArrayBufferView
  | CompiledModule;

/** WebAssembly.Module, if the program's types have it. */
type CompiledModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } } ? Module : never;

/**
 * Loads the module, only once however often it is called. In Node the import loads it, and this does nothing.
 * After a call that failed with "internal", it loads the module anew.
 *
 * @param source where the module is, if not beside this file: its address, its bytes, or the compiled module
 */
export function load(source?: ModuleSource | Promise<ModuleSource>): Promise<void>;

/** Whether this engine has SIMD128, so that the faster module is loaded. */
export function simd128(): boolean;

/** Names of the algorithms that sign. */
export function signatureAlgorithms(): SignatureAlgorithm[];

/** How many bytes a signature has. */
export function signatureLength(algorithm: SignatureAlgorithm): number;

/**
 * What keys of all kinds have. `new` makes no keys: use the static methods.
 *
 * A key is in the module's memory, so it can't be cloned, or sent to a worker: `structuredClone` and `postMessage` throw
 * "not-cloneable". `console.log` shows its algorithm and the first bytes of the public key, and nothing secret.
 */
declare abstract class Key {
  protected constructor();
  /** Wipes the key now, without waiting for the garbage collector. Further calls do nothing. */
  free(): void;
  [Symbol.dispose](): void;
  /** Whether {@link free} was called. */
  readonly freed: boolean;
}

/** The private key of ML-DSA or SLH-DSA, which signs. */
export class SigningKey extends Key {
  /** A new key, with randomness from Web Crypto. */
  static generate(algorithm: SignatureAlgorithm): SigningKey;
  /** The key that belongs to a seed: 32 bytes for ML-DSA, 3n for SLH-DSA. */
  static fromSeed(algorithm: SignatureAlgorithm, seed: Uint8Array): SigningKey;
  /** A key in the standards' encoding of private keys. */
  static fromExpanded(algorithm: SignatureAlgorithm, expanded: Uint8Array): SigningKey;
  /** A key in PKCS#8: DER, or PEM if it is a string. */
  static fromPkcs8(key: Uint8Array | string): SigningKey;
  readonly algorithm: SignatureAlgorithm;
  /** The public half: always the same object, which `free()` frees for all who hold it. Then there is a new one. */
  readonly verifyingKey: VerifyingKey;
  /** A copy of the seed, unless the key was read from its expanded form. */
  readonly seed: Uint8Array<ArrayBuffer> | undefined;
  /** Signs a message, hedged with randomness from Web Crypto. */
  sign(message: Uint8Array, options?: SignatureOptions): Uint8Array<ArrayBuffer>;
  /** Signs a message, always with the same result: for tests. {@link sign} withstands more attacks. */
  signDeterministic(message: Uint8Array, options?: SignatureOptions): Uint8Array<ArrayBuffer>;
  /** Signs the 64 bytes that {@link VerifyingKey.mu} computed from a message (external µ, only for ML-DSA). */
  signMu(mu: Uint8Array): Uint8Array<ArrayBuffer>;
  /** {@link signMu}, always with the same result. */
  signMuDeterministic(mu: Uint8Array): Uint8Array<ArrayBuffer>;
  /** Throws if the halves of an SLH-DSA key do not belong together. It takes as long as making a key. */
  check(): void;
  /** The key in PKCS#8, as DER. It throws "no-seed" or "form-unavailable" if the key does not have the form. */
  toPkcs8(options?: PrivateKeyOptions): Uint8Array<ArrayBuffer>;
  /** {@link toPkcs8}, as PEM. JavaScript cannot wipe the string. */
  toPkcs8Pem(options?: PrivateKeyOptions): string;
  /** The key in the standard's encoding of private keys, which `fromExpanded` reads. */
  toExpanded(): Uint8Array<ArrayBuffer>;
}

/** The public key of ML-DSA or SLH-DSA, which verifies signatures. */
export class VerifyingKey extends Key {
  /** A key in the standards' encoding. */
  static fromBytes(algorithm: SignatureAlgorithm, key: Uint8Array): VerifyingKey;
  /** A SubjectPublicKeyInfo: DER, or PEM if it is a string. */
  static fromSpki(key: Uint8Array | string): VerifyingKey;
  readonly algorithm: SignatureAlgorithm;
  /** Whether the signature is valid. One of a wrong length is not. */
  verify(message: Uint8Array, signature: Uint8Array, options?: SignatureOptions): boolean;
  /** Whether the signature is one of the message with this µ. */
  verifyMu(mu: Uint8Array, signature: Uint8Array): boolean;
  /** µ of a message, 64 bytes, which the signer needs instead of the message (only for ML-DSA). */
  mu(message: Uint8Array, options?: SignatureOptions): Uint8Array<ArrayBuffer>;
  /** The key in the standard's encoding, which `fromBytes` reads. */
  toBytes(): Uint8Array<ArrayBuffer>;
  /** The key as a SubjectPublicKeyInfo in DER. */
  toSpki(): Uint8Array<ArrayBuffer>;
  /** {@link toSpki}, as PEM. */
  toSpkiPem(): string;
}

/** The private key of ML-KEM, which decapsulates. */
export class DecapsulationKey extends Key {
  /** A new key, with randomness from Web Crypto. */
  static generate(algorithm: KemAlgorithm): DecapsulationKey;
  /** The key that belongs to a seed: the 64 bytes d and z. */
  static fromSeed(algorithm: KemAlgorithm, seed: Uint8Array): DecapsulationKey;
  /** A key in the standard's encoding of private keys. */
  static fromExpanded(algorithm: KemAlgorithm, expanded: Uint8Array): DecapsulationKey;
  /** A key in PKCS#8: DER, or PEM if it is a string. */
  static fromPkcs8(key: Uint8Array | string): DecapsulationKey;
  readonly algorithm: KemAlgorithm;
  /** The public half: always the same object, which `free()` frees for all who hold it. Then there is a new one. */
  readonly encapsulationKey: EncapsulationKey;
  /** A copy of the seed, unless the key was read from its expanded form. */
  readonly seed: Uint8Array<ArrayBuffer> | undefined;
  /** The shared secret in a ciphertext: 32 bytes. A ciphertext for another key gives a secret that nobody has. */
  decapsulate(ciphertext: Uint8Array): Uint8Array<ArrayBuffer>;
  /** The key in PKCS#8, as DER. It throws "no-seed" if the form has a seed, but the key has none. */
  toPkcs8(options?: PrivateKeyOptions): Uint8Array<ArrayBuffer>;
  /** {@link toPkcs8}, as PEM. JavaScript cannot wipe the string. */
  toPkcs8Pem(options?: PrivateKeyOptions): string;
  /** The key in the standard's encoding of private keys, which `fromExpanded` reads. */
  toExpanded(): Uint8Array<ArrayBuffer>;
}

/** A ciphertext for the key's owner, and the 32 secret bytes that it carries. */
export interface Encapsulated {
  ciphertext: Uint8Array<ArrayBuffer>;
  sharedSecret: Uint8Array<ArrayBuffer>;
}

/** The public key of ML-KEM, to which others encapsulate. */
export class EncapsulationKey extends Key {
  /** A key in the standard's encoding. */
  static fromBytes(algorithm: KemAlgorithm, key: Uint8Array): EncapsulationKey;
  /** A SubjectPublicKeyInfo: DER, or PEM if it is a string. */
  static fromSpki(key: Uint8Array | string): EncapsulationKey;
  readonly algorithm: KemAlgorithm;
  /** A new shared secret, with randomness from Web Crypto. */
  encapsulate(): Encapsulated;
  /** The shared secret that belongs to these 32 bytes m: for tests. Whoever knows m knows the secret. */
  encapsulateDeterministic(m: Uint8Array): Encapsulated;
  /** The key in the standard's encoding, which `fromBytes` reads. */
  toBytes(): Uint8Array<ArrayBuffer>;
  /** The key as a SubjectPublicKeyInfo in DER. */
  toSpki(): Uint8Array<ArrayBuffer>;
  /** {@link toSpki}, as PEM. */
  toSpkiPem(): string;
}
