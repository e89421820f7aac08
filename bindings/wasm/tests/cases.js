// Tests of the public interface, which run in Node, in pages and in workers, with each of the modules.
import { differ, equal, ok, refused } from "./assert.js";

const ML_DSA = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"];
const ML_KEM = ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"];
/** The sets of SLH-DSA that do not take seconds. */
const QUICK_SLH_DSA = ["SLH-DSA-SHA2-128f", "SLH-DSA-SHAKE-128f", "SLH-DSA-SHA2-192f"];
const ALL_SLH_DSA = ["SHA2", "SHAKE"].flatMap((hash) =>
  [128, 192, 256].flatMap((bits) => ["s", "f"].map((kind) => `SLH-DSA-${hash}-${bits}${kind}`)),
);
// signature, public key, seed, expanded private key: FIPS 204, table 2; FIPS 205, table 2; FIPS 203, table 3
const SIZES = {
  "ML-DSA-44": [2420, 1312, 32, 2560],
  "ML-DSA-65": [3309, 1952, 32, 4032],
  "ML-DSA-87": [4627, 2592, 32, 4896],
  "SLH-DSA-SHA2-128f": [17088, 32, 48, 64],
  "SLH-DSA-SHAKE-128f": [17088, 32, 48, 64],
  "SLH-DSA-SHA2-192f": [35664, 48, 72, 96],
  "ML-KEM-512": [768, 800, 64, 1632],
  "ML-KEM-768": [1088, 1184, 64, 2400],
  "ML-KEM-1024": [1568, 1568, 64, 3168],
};

const utf8 = (text) => new TextEncoder().encode(text);
const MESSAGE = utf8("message");
const CONTEXT = { context: utf8("context") };

/** A generator with a seed, so that a failure can be repeated: it is in the failure's message. */
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return (z ^ (z >>> 14)) >>> 0;
  };
  const below = (limit) => next() % limit;
  return { below, bytes: (length) => Uint8Array.from({ length }, () => next()), of: (values) => values[below(values.length)] };
}

/**
 * The tests of one entry of the package.
 *
 * @param pqtls what is imported from it, loaded
 * @param slhDsa whether it has SLH-DSA
 */
export function cases(pqtls, { slhDsa, rounds = 40, seed = Date.now() }) {
  const { SigningKey, VerifyingKey, DecapsulationKey, EncapsulationKey, PqtlsError } = pqtls;
  const throws = (code, operation, message) => refused(PqtlsError, code, operation, message);
  const SIGN = slhDsa ? [...ML_DSA, ...QUICK_SLH_DSA] : ML_DSA;
  const seedFor = (algorithm, fill = 7) => new Uint8Array(SIZES[algorithm][2]).fill(fill);
  const signer = () => SigningKey.fromSeed("ML-DSA-44", seedFor("ML-DSA-44"));
  const opener = () => DecapsulationKey.fromSeed("ML-KEM-512", seedFor("ML-KEM-512"));

  const tests = {};

  for (const algorithm of SIGN) {
    tests[`${algorithm}: signs and verifies`] = () => {
      const [signatureBytes, publicBytes, seedBytes, expandedBytes] = SIZES[algorithm];
      const key = SigningKey.generate(algorithm);
      const verifier = key.verifyingKey;
      equal(key.algorithm, algorithm);
      equal(verifier.algorithm, algorithm);
      ok(key.verifyingKey === verifier, "the public half is one object");
      equal(pqtls.signatureLength(algorithm), signatureBytes);
      equal(verifier.toBytes().length, publicBytes);
      equal(key.seed.length, seedBytes);
      equal(key.toExpanded().length, expandedBytes);

      const signature = key.sign(MESSAGE);
      equal(signature.length, signatureBytes);
      // the key is prepared before the second
      for (let time = 0; time < 3; time++) {
        ok(verifier.verify(MESSAGE, signature), "the signature");
        ok(!verifier.verify(utf8("massage"), signature), "another message");
        ok(!verifier.verify(MESSAGE, signature, CONTEXT), "another context");
        ok(!verifier.verify(MESSAGE, signature.subarray(1)), "a shorter signature");
        ok(!verifier.verify(MESSAGE, new Uint8Array(0)), "no signature");
      }
      const damaged = signature.slice();
      damaged[9] ^= 1;
      ok(!verifier.verify(MESSAGE, damaged), "a damaged signature");
      ok(verifier.verify(MESSAGE, key.sign(MESSAGE, CONTEXT), CONTEXT), "with a context");
      ok(verifier.verify(MESSAGE, key.sign(MESSAGE, { context: undefined })), "with no context");
      ok(verifier.verify(new Uint8Array(0), key.sign(new Uint8Array(0))), "an empty message");

      differ(key.sign(MESSAGE), signature, "hedged signatures");
      const fixed = key.signDeterministic(MESSAGE, CONTEXT);
      equal(key.signDeterministic(MESSAGE, CONTEXT), fixed);
      ok(verifier.verify(MESSAGE, fixed, CONTEXT), "a deterministic one");
      key.check();

      const stranger = SigningKey.generate(algorithm);
      differ(stranger.verifyingKey.toBytes(), verifier.toBytes(), "generated keys");
      ok(!stranger.verifyingKey.verify(MESSAGE, signature), "of another key");
    };

    tests[`${algorithm}: keys are written and read`] = () => {
      const key = SigningKey.generate(algorithm);
      const forms = algorithm.startsWith("ML") ? [undefined, "seed", "expanded", "both"] : [undefined, "expanded"];
      const copies = forms.flatMap((form) => [
        SigningKey.fromPkcs8(key.toPkcs8({ form })),
        SigningKey.fromPkcs8(key.toPkcs8Pem({ form })),
      ]);
      copies.push(SigningKey.fromSeed(algorithm, key.seed), SigningKey.fromExpanded(algorithm, key.toExpanded()));
      const signature = key.signDeterministic(MESSAGE);
      for (const copy of copies) {
        equal(copy.toExpanded(), key.toExpanded());
        equal(copy.verifyingKey.toBytes(), key.verifyingKey.toBytes());
        equal(copy.signDeterministic(MESSAGE), signature);
      }
      ok(key.toPkcs8Pem().startsWith("-----BEGIN PRIVATE KEY-----"));

      const verifier = key.verifyingKey;
      ok(verifier.toSpkiPem().startsWith("-----BEGIN PUBLIC KEY-----"));
      for (const copy of [
        VerifyingKey.fromSpki(verifier.toSpki()),
        VerifyingKey.fromSpki(verifier.toSpkiPem()),
        VerifyingKey.fromBytes(algorithm.toLowerCase(), verifier.toBytes()),
      ]) {
        equal(copy.algorithm, algorithm);
        equal(copy.toBytes(), verifier.toBytes());
        ok(copy.verify(MESSAGE, signature));
      }
    };
  }

  for (const algorithm of ML_DSA) {
    tests[`${algorithm}: a message's µ is signed instead of it`] = () => {
      const key = SigningKey.generate(algorithm);
      const verifier = key.verifyingKey;
      for (const options of [undefined, {}, CONTEXT]) {
        const mu = verifier.mu(MESSAGE, options);
        equal(mu.length, 64);
        ok(verifier.verify(MESSAGE, key.signMu(mu), options), "signed by µ");
        ok(verifier.verifyMu(mu, key.sign(MESSAGE, options)), "verified by µ");
        equal(key.signMuDeterministic(mu), key.signDeterministic(MESSAGE, options));
        ok(!verifier.verifyMu(verifier.mu(utf8("massage"), options), key.signMu(mu)), "another message's µ");
        ok(!verifier.verifyMu(mu, new Uint8Array(5)), "no signature");
        for (const length of [0, 63, 65]) {
          throws("wrong-length", () => key.signMu(new Uint8Array(length)), /64/);
          throws("wrong-length", () => verifier.verifyMu(new Uint8Array(length), key.signMu(mu)), /64/);
        }
      }
      // read without its seed
      equal(SigningKey.fromExpanded(algorithm, key.toExpanded()).seed, undefined);
    };
  }

  for (const algorithm of ML_KEM) {
    tests[`${algorithm}: shares secrets`] = () => {
      const [ciphertextBytes, publicBytes, seedBytes, expandedBytes] = SIZES[algorithm];
      const key = DecapsulationKey.generate(algorithm);
      const peer = key.encapsulationKey;
      equal(key.algorithm, algorithm);
      equal(peer.algorithm, algorithm);
      ok(key.encapsulationKey === peer, "the public half is one object");
      equal(peer.toBytes().length, publicBytes);
      equal(key.seed.length, seedBytes);
      equal(key.toExpanded().length, expandedBytes);

      const { ciphertext, sharedSecret } = peer.encapsulate();
      equal(ciphertext.length, ciphertextBytes);
      equal(sharedSecret.length, 32);
      equal(key.decapsulate(ciphertext), sharedSecret);
      const again = peer.encapsulate();
      differ(again.ciphertext, ciphertext, "ciphertexts");
      differ(again.sharedSecret, sharedSecret, "secrets");

      // implicit rejection (FIPS 203, algorithm 18): another secret, always the same
      const damaged = ciphertext.slice();
      damaged[3] ^= 1;
      differ(key.decapsulate(damaged), sharedSecret, "the secret of a damaged ciphertext");
      equal(key.decapsulate(damaged), key.decapsulate(damaged));

      const m = new Uint8Array(32).fill(1);
      const fixed = peer.encapsulateDeterministic(m);
      equal(peer.encapsulateDeterministic(m).ciphertext, fixed.ciphertext);
      equal(key.decapsulate(fixed.ciphertext), fixed.sharedSecret);
      for (const length of [0, 31, 33]) {
        throws("wrong-length", () => peer.encapsulateDeterministic(new Uint8Array(length)), /32/);
      }
      for (const wrong of [new Uint8Array(0), ciphertext.subarray(1), new Uint8Array(ciphertextBytes + 1)]) {
        throws("refused-input", () => key.decapsulate(wrong));
      }
    };

    tests[`${algorithm}: keys are written and read`] = () => {
      const key = DecapsulationKey.generate(algorithm);
      const { ciphertext, sharedSecret } = key.encapsulationKey.encapsulate();
      const copies = [undefined, "seed", "expanded", "both"].flatMap((form) => [
        DecapsulationKey.fromPkcs8(key.toPkcs8({ form })),
        DecapsulationKey.fromPkcs8(key.toPkcs8Pem({ form })),
      ]);
      const bare = DecapsulationKey.fromExpanded(algorithm, key.toExpanded());
      copies.push(DecapsulationKey.fromSeed(algorithm, key.seed), bare);
      for (const copy of copies) {
        equal(copy.toExpanded(), key.toExpanded());
        equal(copy.decapsulate(ciphertext), sharedSecret);
      }
      equal(bare.seed, undefined);
      throws("no-seed", () => bare.toPkcs8({ form: "seed" }));
      throws("no-seed", () => bare.toPkcs8Pem({ form: "both" }));

      const peer = key.encapsulationKey;
      for (const copy of [
        EncapsulationKey.fromSpki(peer.toSpki()),
        EncapsulationKey.fromSpki(peer.toSpkiPem()),
        EncapsulationKey.fromBytes(algorithm, peer.toBytes()),
      ]) {
        equal(copy.toBytes(), peer.toBytes());
        const sent = copy.encapsulate();
        equal(key.decapsulate(sent.ciphertext), sent.sharedSecret);
      }
    };
  }

  tests["the algorithms have names"] = () => {
    const names = pqtls.signatureAlgorithms();
    const expected = slhDsa ? [...ML_DSA, ...ALL_SLH_DSA] : ML_DSA;
    equal(names.toSorted().join(), expected.toSorted().join());
    for (const name of names) ok(pqtls.signatureLength(name) > 2000, name);
    for (const name of ["", "ML-DSA", "RSA", "ML-KEM-768", "ML-DSA-65 ", "\ud800", "x".repeat(5000)]) {
      throws("unknown-algorithm", () => pqtls.signatureLength(name));
      throws("unknown-algorithm", () => SigningKey.generate(name));
      throws("unknown-algorithm", () => VerifyingKey.fromBytes(name, new Uint8Array(5)));
    }
    throws("unknown-algorithm", () => DecapsulationKey.generate("ML-DSA-65"));
    throws("unknown-algorithm", () => EncapsulationKey.fromBytes("ML-KEM-65", new Uint8Array(5)));
    equal(typeof pqtls.simd128(), "boolean");
  };

  tests["only pqtls/slh-dsa has SLH-DSA"] = () => {
    if (slhDsa) {
      const key = SigningKey.generate("SLH-DSA-SHA2-128f");
      throws("no-mu", () => key.verifyingKey.mu(MESSAGE));
      throws("no-mu", () => key.signMu(new Uint8Array(64)));
      throws("no-mu", () => key.verifyingKey.verifyMu(new Uint8Array(64), new Uint8Array(64)));
      throws("form-unavailable", () => key.toPkcs8({ form: "seed" }));
      const expanded = key.toExpanded();
      expanded[63] ^= 1;
      throws("malformed-key", () => SigningKey.fromExpanded("SLH-DSA-SHA2-128f", expanded).check());
      return;
    }
    throws("unknown-algorithm", () => SigningKey.generate("SLH-DSA-SHA2-128f"));
    // RFC 9909: 2.16.840.1.101.3.4.3.21, and a key of zeros
    const spki = [0x30, 0x30, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x15, 0x03, 0x21];
    throws("unsupported-algorithm", () => VerifyingKey.fromSpki(Uint8Array.from([...spki, ...new Array(33).fill(0)])));
  };

  tests["arguments of other types are refused"] = () => {
    const key = signer();
    const verifier = key.verifyingKey;
    const signature = key.sign(MESSAGE);
    const kem = opener();
    const inherited = Object.create(Uint8Array.prototype);
    const others = [undefined, null, 1, 1n, true, Symbol("s"), [1, 2], {}, inherited, new ArrayBuffer(8), new DataView(new ArrayBuffer(8)),
      new Uint16Array(8), new Int8Array(8), new Uint8ClampedArray(8), () => MESSAGE, new Proxy(MESSAGE, {})]; // prettier-ignore
    for (const other of [...others, "message"]) {
      const wrong = (operation) => throws("wrong-type", operation, /must be a Uint8Array, not /);
      wrong(() => key.sign(other));
      wrong(() => key.signDeterministic(other));
      wrong(() => key.signMu(other));
      wrong(() => key.signMuDeterministic(other));
      wrong(() => verifier.verify(other, signature));
      wrong(() => verifier.verify(MESSAGE, other));
      wrong(() => verifier.verifyMu(other, signature));
      wrong(() => verifier.verifyMu(new Uint8Array(64), other));
      wrong(() => verifier.mu(other));
      wrong(() => kem.decapsulate(other));
      wrong(() => kem.encapsulationKey.encapsulateDeterministic(other));
      wrong(() => SigningKey.fromSeed("ML-DSA-44", other));
      wrong(() => SigningKey.fromExpanded("ML-DSA-44", other));
      wrong(() => DecapsulationKey.fromSeed("ML-KEM-512", other));
      wrong(() => DecapsulationKey.fromExpanded("ML-KEM-512", other));
      wrong(() => VerifyingKey.fromBytes("ML-DSA-44", other));
      wrong(() => EncapsulationKey.fromBytes("ML-KEM-512", other));
      if (other !== undefined) wrong(() => key.sign(MESSAGE, { context: other }));
    }
    for (const other of others) {
      for (const Class of [SigningKey, DecapsulationKey]) throws("wrong-type", () => Class.fromPkcs8(other));
      for (const Class of [VerifyingKey, EncapsulationKey]) throws("wrong-type", () => Class.fromSpki(other));
    }
    for (const other of [...others, MESSAGE]) {
      const wrong = (operation) => throws("wrong-type", operation, /must be a string, not /);
      wrong(() => SigningKey.generate(other));
      wrong(() => DecapsulationKey.generate(other));
      wrong(() => SigningKey.fromSeed(other, seedFor("ML-DSA-44")));
      wrong(() => SigningKey.fromExpanded(other, MESSAGE));
      wrong(() => VerifyingKey.fromBytes(other, MESSAGE));
      wrong(() => pqtls.signatureLength(other));
      if (other !== undefined) wrong(() => key.toPkcs8({ form: other }));
    }
    for (const other of [null, 1, "seed", MESSAGE, true]) {
      throws("wrong-type", () => key.toPkcs8(other), /options must be an object/);
      throws("wrong-type", () => key.sign(MESSAGE, other), /options must be an object/);
    }
    throws("unknown-option", () => key.sign(MESSAGE, { contxt: MESSAGE }), /contxt.*context/);
    throws("unknown-option", () => key.sign(MESSAGE, { form: "seed" }));
    throws("unknown-option", () => verifier.verify(MESSAGE, signature, { Context: MESSAGE }));
    throws("unknown-option", () => key.toPkcs8({ context: MESSAGE }));
    // what is no plain object would be taken for one without options
    class Context {
      context = MESSAGE;
    }
    for (const other of [[], [MESSAGE], new ArrayBuffer(8), new Map([["context", MESSAGE]]), new Date(), new Context(), Object.create(CONTEXT), () => {}]) {
      throws("wrong-type", () => key.sign(MESSAGE, other), /options must be an object/);
      throws("wrong-type", () => verifier.verify(MESSAGE, signature, other), /options must be an object/);
      throws("wrong-type", () => key.toPkcs8(other), /options must be an object/);
    }
    throws("unknown-option", () => key.sign(MESSAGE, Object.defineProperty({}, "contxt", { value: MESSAGE })), /contxt/);
    throws("unknown-option", () => key.sign(MESSAGE, { [Symbol("context")]: MESSAGE }));
    // own properties, also those that are hidden, and an object without a class
    const hidden = Object.defineProperty(Object.create(null), "context", { value: CONTEXT.context });
    equal(key.signDeterministic(MESSAGE, hidden), key.signDeterministic(MESSAGE, CONTEXT));
    Object.prototype.context = CONTEXT.context;
    try {
      equal(key.signDeterministic(MESSAGE, {}), key.signDeterministic(MESSAGE));
    } finally {
      delete Object.prototype.context;
    }
    for (const form of ["", "Seed", "neither"]) throws("unknown-form", () => key.toPkcs8Pem({ form }), /"seed"/);
  };

  tests["messages quote names, cut short, and nothing else"] = () => {
    const key = signer();
    const secret = key.toPkcs8Pem();
    const uses = [
      ["unknown-algorithm", (name) => SigningKey.generate(name)],
      ["unknown-algorithm", (name) => DecapsulationKey.generate(name)],
      ["unknown-algorithm", (name) => EncapsulationKey.fromBytes(name, MESSAGE)],
      ["unknown-algorithm", (name) => pqtls.signatureLength(name)],
      ["unknown-form", (form) => key.toPkcs8({ form })],
      ["unknown-option", (name) => key.sign(MESSAGE, { [name]: MESSAGE })],
    ];
    const allowed = slhDsa ? 600 : 250;
    for (const [code, use] of uses) {
      throws(code, () => use("RSA-2048"), /RSA-2048/);
      throws(code, () => use("A".repeat(5000)), new RegExp(`^[^A]*[^]{0,20}A{32}…[^]{0,${allowed}}$`));
      for (const other of [secret, "one two", "\u202e", "M\u1d0d-DSA-44"]) {
        throws(code, () => use(other), new RegExp(`^[\\w\\s;:,.'"()-]{1,${allowed}}$`));
        throws(code, () => use(other), /^(?!.*(BEGIN|one two))/s);
      }
    }
  };

  tests["keys that sign hashes are refused"] = () => {
    if (!slhDsa) return;
    // RFC 9909: of SLH-DSA-SHA2-128f, 2.16.840.1.101.3.4.3.21, and with a hash, 2.16.840.1.101.3.4.3.36
    const changed = (der) => {
      const at = der.findIndex((_, i) => [0x65, 3, 4, 3, 21].every((byte, j) => der[i + j] === byte));
      return der.with(at + 4, 36);
    };
    const pem = (label, der) => `-----BEGIN ${label}-----\n${btoa(String.fromCharCode(...der)).replace(/.{64}/g, "$&\n")}\n-----END ${label}-----\n`;
    const key = SigningKey.generate("SLH-DSA-SHA2-128f");
    const [own, peer] = [key.toPkcs8(), key.verifyingKey.toSpki()];
    equal(SigningKey.fromPkcs8(pem("PRIVATE KEY", own)).toPkcs8(), own);
    throws("unsupported-algorithm", () => SigningKey.fromPkcs8(changed(own)), /HashSLH-DSA/);
    throws("unsupported-algorithm", () => SigningKey.fromPkcs8(pem("PRIVATE KEY", changed(own))), /HashSLH-DSA/);
    equal(VerifyingKey.fromSpki(pem("PUBLIC KEY", peer)).toSpki(), peer);
    throws("unsupported-algorithm", () => VerifyingKey.fromSpki(changed(peer)), /HashSLH-DSA/);
    throws("unsupported-algorithm", () => VerifyingKey.fromSpki(pem("PUBLIC KEY", changed(peer))), /HashSLH-DSA/);
  };

  tests["lengths and contents that don't fit are refused"] = () => {
    const key = signer();
    for (const length of [0, 31, 33, 5000]) {
      throws("malformed-key", () => SigningKey.fromSeed("ML-DSA-44", new Uint8Array(length)));
      throws("malformed-key", () => DecapsulationKey.fromSeed("ML-KEM-512", new Uint8Array(length)));
      throws("malformed-key", () => SigningKey.fromExpanded("ML-DSA-44", new Uint8Array(length)));
      throws("malformed-key", () => DecapsulationKey.fromExpanded("ML-KEM-512", new Uint8Array(length)));
      throws("malformed-key", () => VerifyingKey.fromBytes("ML-DSA-44", new Uint8Array(length)));
      throws("malformed-key", () => EncapsulationKey.fromBytes("ML-KEM-512", new Uint8Array(length)));
    }
    throws("malformed-key", () => EncapsulationKey.fromBytes("ML-KEM-512", new Uint8Array(800).fill(255)));
    throws("malformed-key", () => SigningKey.fromExpanded("ML-DSA-44", key.toExpanded().fill(255, 200, 300)));
    throws("refused-input", () => key.sign(MESSAGE, { context: new Uint8Array(256) }));
    throws("refused-input", () => key.verifyingKey.verify(MESSAGE, key.sign(MESSAGE), { context: new Uint8Array(256) }));
    throws("refused-input", () => key.verifyingKey.mu(MESSAGE, { context: new Uint8Array(256) }));
    ok(key.verifyingKey.verify(MESSAGE, key.sign(MESSAGE, { context: new Uint8Array(255) }), { context: new Uint8Array(255) }));

    const der = key.toPkcs8();
    for (const wrong of [new Uint8Array(0), der.subarray(1), der.subarray(0, -1), Uint8Array.from([...der, 0])]) {
      throws("malformed-der", () => SigningKey.fromPkcs8(wrong));
      throws("malformed-der", () => DecapsulationKey.fromPkcs8(wrong));
      throws("malformed-der", () => VerifyingKey.fromSpki(wrong));
      throws("malformed-der", () => EncapsulationKey.fromSpki(wrong));
    }
    for (const wrong of ["", "-----BEGIN PRIVATE KEY-----", key.toPkcs8Pem().slice(0, -9), "\ud800"]) {
      throws("malformed-pem", () => SigningKey.fromPkcs8(wrong));
      throws("malformed-pem", () => VerifyingKey.fromSpki(wrong));
    }
    throws("not-a-kem-key", () => DecapsulationKey.fromPkcs8(der));
    throws("not-a-kem-key", () => EncapsulationKey.fromSpki(key.verifyingKey.toSpki()));
    throws("not-a-signature-key", () => SigningKey.fromPkcs8(opener().toPkcs8Pem()));
    throws("not-a-signature-key", () => VerifyingKey.fromSpki(opener().encapsulationKey.toSpkiPem()));
  };

  tests["bytes are read as they are, in whatever array"] = () => {
    const key = signer();
    const signature = key.signDeterministic(MESSAGE);
    const room = new Uint8Array(100);
    room.set(MESSAGE, 11);
    equal(key.signDeterministic(room.subarray(11, 11 + MESSAGE.length)), signature);
    class Bytes extends Uint8Array {}
    equal(key.signDeterministic(Bytes.from(MESSAGE)), signature);
    // an array that lies about its length, by which more would be written than there is room for
    const liar = Uint8Array.from(MESSAGE);
    Object.defineProperty(liar, "length", { value: 1 });
    equal(key.signDeterministic(liar), signature);
    class Liar extends Uint8Array {
      get length() {
        return 2 ** 40;
      }
    }
    equal(key.signDeterministic(Liar.from([...MESSAGE])), signature);
    const detached = Uint8Array.from(MESSAGE);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    throws("wrong-type", () => key.sign(detached), /detached/);
    throws("wrong-type", () => key.sign(MESSAGE, { context: detached }), /detached/);
    if (typeof SharedArrayBuffer === "function") {
      const shared = new Uint8Array(new SharedArrayBuffer(MESSAGE.length));
      shared.set(MESSAGE);
      equal(key.signDeterministic(shared), signature);
    }
    if (typeof SharedArrayBuffer === "function" && SharedArrayBuffer.prototype.grow) {
      // another thread may let it grow between two looks at its length; here it grows at the second look
      const buffer = new SharedArrayBuffer(MESSAGE.length, { maxByteLength: 1 << 20 });
      const growing = new Uint8Array(buffer);
      growing.set(MESSAGE);
      const { set } = Uint8Array.prototype;
      let taken = 0;
      Uint8Array.prototype.set = function (source, ...rest) {
        // the first copy, for which there is room by now
        if (buffer.byteLength === MESSAGE.length) buffer.grow(1 << 20);
        taken = Math.max(taken, source.length);
        return set.call(this, source, ...rest);
      };
      try {
        equal(key.signDeterministic(growing), signature);
      } finally {
        Uint8Array.prototype.set = set;
      }
      equal(taken, MESSAGE.length, "what was copied");
    }
    // transferred by an option, after the message was looked at
    const moved = Uint8Array.from(MESSAGE);
    const options = {
      get context() {
        structuredClone(moved.buffer, { transfer: [moved.buffer] });
        return new Uint8Array(0);
      },
    };
    throws("wrong-type", () => key.signDeterministic(moved, options), /detached/);
    // What is given is not changed, and what is returned is the caller's.
    equal(MESSAGE, utf8("message"));
    const seed = seedFor("ML-DSA-44");
    const own = SigningKey.fromSeed("ML-DSA-44", seed);
    seed.fill(0);
    own.seed.fill(0);
    own.toExpanded().fill(0);
    own.verifyingKey.toBytes().fill(0);
    equal(own.seed, seedFor("ML-DSA-44"));
    equal(own.signDeterministic(MESSAGE), signature);
    // a message that the module has to grow for
    const long = new Uint8Array(9 << 20).fill(3);
    ok(key.verifyingKey.verify(long, key.sign(long)), "9 MiB");
  };

  tests["freed keys say so"] = () => {
    const key = signer();
    const verifier = key.verifyingKey;
    const signature = key.sign(MESSAGE);
    equal(key.freed, false);
    key.free();
    equal(key.freed, true);
    key.free();
    for (const use of [
      () => key.sign(MESSAGE), () => key.signDeterministic(MESSAGE), () => key.signMu(new Uint8Array(64)), () => key.check(),
      () => key.signMuDeterministic(new Uint8Array(64)), () => key.seed, () => key.algorithm, () => key.toExpanded(),
      () => key.toPkcs8(), () => key.toPkcs8Pem(), () => key.verifyingKey,
    ]) throws("freed", use); // prettier-ignore
    // the halves live as long as they are used
    ok(verifier.verify(MESSAGE, signature));
    verifier.free();
    for (const use of [
      () => verifier.verify(MESSAGE, signature), () => verifier.verifyMu(new Uint8Array(64), signature), () => verifier.mu(MESSAGE),
      () => verifier.algorithm, () => verifier.toBytes(), () => verifier.toSpki(), () => verifier.toSpkiPem(),
    ]) throws("freed", use); // prettier-ignore

    const kem = opener();
    const peer = kem.encapsulationKey;
    const { ciphertext } = peer.encapsulate();
    peer.free();
    throws("freed", () => peer.encapsulate());
    throws("freed", () => peer.encapsulateDeterministic(new Uint8Array(32)));
    // another in place of a half that was freed
    equal(kem.decapsulate(kem.encapsulationKey.encapsulate().ciphertext).length, 32);
    kem.free();
    throws("freed", () => kem.decapsulate(ciphertext));
    throws("freed", () => kem.encapsulationKey);

    // freed by what an option does while the message waits
    const victim = signer();
    const options = {
      get context() {
        victim.free();
        return MESSAGE;
      },
    };
    throws("freed", () => victim.sign(MESSAGE, options));
    // an option's own exception is the caller's
    const own = new Error("own");
    let thrown;
    try {
      signer().sign(MESSAGE, { get context() { throw own; } }); // prettier-ignore
    } catch (error) {
      thrown = error;
    }
    ok(thrown === own, "the caller's exception");

    if (Symbol.dispose) {
      const disposed = signer();
      disposed[Symbol.dispose]();
      equal(disposed.freed, true);
    }
  };

  tests["keys are not cloned"] = () => {
    for (const key of [signer(), signer().verifyingKey, opener(), opener().encapsulationKey]) {
      throws("not-cloneable", () => structuredClone(key), /toPkcs8\(\) or toSpki\(\)/);
      throws("not-cloneable", () => structuredClone({ of: [key] }));
      throws("not-cloneable", () => JSON.stringify({ key }));
      throws("not-cloneable", () => ({ ...key }));
      const { port1 } = new MessageChannel();
      throws("not-cloneable", () => port1.postMessage(key));
      port1.close();
      key.free();
      throws("not-cloneable", () => structuredClone(key));
    }
  };

  tests["methods are of their classes"] = () => {
    const key = signer();
    const verifier = key.verifyingKey;
    for (const Class of [SigningKey, VerifyingKey, DecapsulationKey, EncapsulationKey]) {
      throws("no-constructor", () => new Class(), new RegExp(Class.name));
      throws("no-constructor", () => new Class({ free() {} }));
      for (const other of [{}, null, undefined, 5, Object.create(Class.prototype)]) {
        throws("wrong-type", () => Class.prototype.free.call(other));
        throws("wrong-type", () => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Class.prototype), "algorithm").get.call(other));
      }
    }
    throws("wrong-type", () => SigningKey.prototype.sign.call(verifier, MESSAGE));
    throws("wrong-type", () => SigningKey.prototype.sign.call({}, MESSAGE));
    throws("wrong-type", () => VerifyingKey.prototype.verify.call(key, MESSAGE, MESSAGE));
    throws("wrong-type", () => VerifyingKey.prototype.toBytes.call(opener().encapsulationKey));
    throws("wrong-type", () => DecapsulationKey.prototype.toExpanded.call(key));
    const { generate } = SigningKey;
    throws("wrong-type", () => generate("ML-DSA-44"));
    throws("wrong-type", () => SigningKey.generate.call(VerifyingKey, "ML-DSA-44"));
    throws("wrong-type", () => SigningKey.generate.call(function () {}, "ML-DSA-44"));

    class Own extends SigningKey {
      twice() {
        return [this.sign(MESSAGE), this.sign(MESSAGE)];
      }
    }
    const own = Own.generate("ML-DSA-44");
    for (const signature of own.twice()) ok(own.verifyingKey.verify(MESSAGE, signature));
  };

  tests["many keys come and go"] = () => {
    for (let i = 0; i < 300; i++) {
      const key = signer();
      key.verifyingKey.free();
      key.free();
    }
  };

  tests[`random round trips, seed ${seed}`] = () => {
    const { below, bytes, of } = random(seed);
    for (let round = 0; round < rounds; round++) {
      const algorithm = of(ML_DSA);
      const key = SigningKey.fromSeed(algorithm, bytes(32));
      const message = bytes(below(3000));
      const context = bytes(below(256));
      const copy = of([
        () => SigningKey.fromPkcs8(key.toPkcs8({ form: of(["seed", "expanded", "both"]) })),
        () => SigningKey.fromPkcs8(key.toPkcs8Pem()),
        () => SigningKey.fromExpanded(algorithm, key.toExpanded()),
      ])();
      const signature = copy.sign(message, { context });
      const verifier = of([() => key.verifyingKey, () => VerifyingKey.fromSpki(copy.verifyingKey.toSpki())])();
      ok(verifier.verify(message, signature, { context }), `round ${round}`);
      signature[below(signature.length)] ^= 1 << below(8);
      ok(!verifier.verify(message, signature, { context }), `round ${round}, damaged`);

      const kem = DecapsulationKey.fromSeed(of(ML_KEM), bytes(64));
      const peer = EncapsulationKey.fromSpki(kem.encapsulationKey.toSpkiPem());
      const m = bytes(32);
      const sent = of([() => peer.encapsulate(), () => peer.encapsulateDeterministic(m)])();
      equal(kem.decapsulate(sent.ciphertext), sent.sharedSecret, `round ${round}`);

      // Bytes that are no key: an error of ours, and nothing else.
      const der = key.toPkcs8({ form: "both" });
      der[below(der.length)] ^= 1 << below(8);
      for (const read of [() => SigningKey.fromPkcs8(der.subarray(0, below(der.length))), () => SigningKey.fromPkcs8(der)]) {
        try {
          read();
        } catch (error) {
          if (!(error instanceof PqtlsError) || error.code === "internal") throw error;
        }
      }
      key.free();
      kem.free();
    }
  };

  return tests;
}
