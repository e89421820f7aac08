// Runs vectors through the public interface, in Node and in browsers. Each is [what, algorithm, fields...]; bytes are
// hexadecimal. `read_vectors.js` makes them.
import { equal, ok, refused } from "./assert.js";

const hex = (text) => Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));

/** Returns how many of each kind ran; those of algorithms that the entry does not have are left out. */
export function runVectors(pqtls, vectors) {
  const { SigningKey, VerifyingKey, DecapsulationKey, EncapsulationKey, PqtlsError } = pqtls;
  const signs = pqtls.signatureAlgorithms();
  const malformed = (operation) => refused(PqtlsError, "malformed-key", operation);

  const run = {
    "kem-keygen"(algorithm, seed, ek, dk) {
      const key = DecapsulationKey.fromSeed(algorithm, hex(seed));
      equal(key.encapsulationKey.toBytes(), hex(ek), "ek");
      equal(key.toExpanded(), hex(dk), "dk");
      equal(key.seed, hex(seed), "seed");
    },
    "kem-encaps"(algorithm, ek, m, c, k) {
      const { ciphertext, sharedSecret } = EncapsulationKey.fromBytes(algorithm, hex(ek)).encapsulateDeterministic(hex(m));
      equal(ciphertext, hex(c), "c");
      equal(sharedSecret, hex(k), "K");
    },
    "kem-decaps"(algorithm, dk, c, k) {
      equal(DecapsulationKey.fromExpanded(algorithm, hex(dk)).decapsulate(hex(c)), hex(k), "K");
    },
    "kem-check-ek"(algorithm, ek, good) {
      const read = () => EncapsulationKey.fromBytes(algorithm, hex(ek));
      if (good) read();
      else malformed(read);
    },
    "kem-check-dk"(algorithm, dk, good) {
      const read = () => DecapsulationKey.fromExpanded(algorithm, hex(dk));
      if (good) read();
      else malformed(read);
    },
    keygen(algorithm, seed, pk, sk) {
      const key = SigningKey.fromSeed(algorithm, hex(seed));
      equal(key.verifyingKey.toBytes(), hex(pk), "pk");
      equal(key.toExpanded(), hex(sk), "sk");
    },
    sign(algorithm, sk, message, context, signature) {
      const key = SigningKey.fromExpanded(algorithm, hex(sk));
      equal(key.signDeterministic(hex(message), { context: hex(context) }), hex(signature), "the signature");
    },
    "sign-mu"(algorithm, sk, mu, signature) {
      equal(SigningKey.fromExpanded(algorithm, hex(sk)).signMuDeterministic(hex(mu)), hex(signature), "the signature");
    },
    verify(algorithm, pk, message, context, signature, good) {
      const key = VerifyingKey.fromBytes(algorithm, hex(pk));
      for (let time = 0; time < 2; time++) {
        equal(key.verify(hex(message), hex(signature), { context: hex(context) }), good, "what verify says");
      }
    },
    "verify-mu"(algorithm, pk, mu, signature, good) {
      equal(VerifyingKey.fromBytes(algorithm, hex(pk)).verifyMu(hex(mu), hex(signature)), good, "what verifyMu says");
    },
    "rfc-key"(algorithm, pem, publicPem) {
      const kem = algorithm.startsWith("ML-KEM");
      const key = (kem ? DecapsulationKey : SigningKey).fromPkcs8(pem);
      equal(key.algorithm, algorithm);
      const publicKey = kem ? key.encapsulationKey : key.verifyingKey;
      const read = (kem ? EncapsulationKey : VerifyingKey).fromSpki(publicPem);
      equal(read.toBytes(), publicKey.toBytes(), "the public key");
      const lines = (text) => text.trim().split(/\s*\n/).join("\n");
      equal(lines(publicKey.toSpkiPem()), lines(publicPem), "the public key's PEM");
      const form = key.seed && !algorithm.startsWith("SLH") ? undefined : "expanded";
      equal((kem ? DecapsulationKey : SigningKey).fromPkcs8(key.toPkcs8({ form })).toExpanded(), key.toExpanded());
    },
    "rfc-bad"(algorithm, pem) {
      malformed(() => (algorithm.startsWith("ML-KEM") ? DecapsulationKey : SigningKey).fromPkcs8(pem));
    },
  };

  const count = {};
  for (const [what, algorithm, ...fields] of vectors) {
    if (!algorithm.startsWith("ML-KEM") && !signs.includes(algorithm)) continue;
    try {
      run[what](algorithm, ...fields);
    } catch (error) {
      throw new Error(`${what} of ${algorithm}, ${fields.map((field) => String(field).slice(0, 20))}: ${error.message}`, { cause: error });
    }
    count[what] = (count[what] ?? 0) + 1;
  }
  for (const what of Object.keys(run)) ok(count[what] > 2, `three vectors of ${what}`);
  return count;
}
