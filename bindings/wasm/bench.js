// Runs the measurements. The script `bench` puts the modules that it imports beside this file.
import crypto from "node:crypto";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import { slh_dsa_shake_128f } from "@noble/post-quantum/slh-dsa.js";
import { createMLDSA65, createMLKEM768, createSlhDsaShake128f } from "@oqs/liboqs-js";

const quick = process.argv.includes("--quick");
const ROUNDS = quick ? 7 : 25;
/** How long each implementation is measured in one round. */
const MILLISECONDS = 15;
/** The least number of ML-DSA signatures timed at once: each takes a random number of attempts. */
const SIGNATURES = 10;
const message = new Uint8Array(32).fill(1);

const load = async (engine) => {
  const pqtls = await import(`./${engine}/slh-dsa/index.js`);
  await pqtls.load(readFileSync(new URL(`./${engine}/slh-dsa/${engine}.wasm`, import.meta.url)));
  return pqtls;
};
const [simd128, plain] = [await load("simd128"), await load("plain")];

const must = (value) => {
  if (!value) throw new Error("an implementation's answer is wrong");
};

function oursSigning({ SigningKey }, algorithm) {
  const key = SigningKey.generate(algorithm);
  const signature = key.sign(message);
  const { verifyingKey } = key;
  return [
    () => SigningKey.generate(algorithm).free(),
    () => key.sign(message),
    () => must(verifyingKey.verify(message, signature)),
  ];
}

function nobleSigning(scheme) {
  const { publicKey, secretKey } = scheme.keygen();
  const signature = scheme.sign(message, secretKey);
  return [
    () => scheme.keygen(),
    () => scheme.sign(message, secretKey),
    () => must(scheme.verify(signature, message, publicKey)),
  ];
}

function liboqsSigning(scheme) {
  const { publicKey, secretKey } = scheme.generateKeyPair();
  const signature = scheme.sign(message, secretKey);
  return [
    () => scheme.generateKeyPair(),
    () => scheme.sign(message, secretKey),
    () => must(scheme.verify(message, signature, publicKey)),
  ];
}

function nodeSigning(algorithm) {
  const { publicKey, privateKey } = crypto.generateKeyPairSync(algorithm);
  const signature = crypto.sign(null, message, privateKey);
  return [
    () => crypto.generateKeyPairSync(algorithm),
    () => crypto.sign(null, message, privateKey),
    () => must(crypto.verify(null, message, publicKey, signature)),
  ];
}

function oursKem({ DecapsulationKey }) {
  const key = DecapsulationKey.generate("ML-KEM-768");
  const { encapsulationKey } = key;
  const { ciphertext } = encapsulationKey.encapsulate();
  return [
    () => DecapsulationKey.generate("ML-KEM-768").free(),
    () => encapsulationKey.encapsulate(),
    () => key.decapsulate(ciphertext),
  ];
}

function nobleKem(scheme) {
  const { publicKey, secretKey } = scheme.keygen();
  const { cipherText } = scheme.encapsulate(publicKey);
  return [() => scheme.keygen(), () => scheme.encapsulate(publicKey), () => scheme.decapsulate(cipherText, secretKey)];
}

function liboqsKem(scheme) {
  const { publicKey, secretKey } = scheme.generateKeyPair();
  const { ciphertext } = scheme.encapsulate(publicKey);
  return [() => scheme.generateKeyPair(), () => scheme.encapsulate(publicKey), () => scheme.decapsulate(ciphertext, secretKey)];
}

function nodeKem() {
  const { publicKey, privateKey } = crypto.generateKeyPairSync("ml-kem-768");
  const { ciphertext } = crypto.encapsulate(publicKey);
  return [
    () => crypto.generateKeyPairSync("ml-kem-768"),
    () => crypto.encapsulate(publicKey),
    () => crypto.decapsulate(privateKey, ciphertext),
  ];
}

// an older Node has none of the three
const NODE = crypto.encapsulate !== undefined;
const CONTESTANTS = ["pqtls", "pqtls, plain", "noble", "liboqs", ...(NODE ? ["node:crypto"] : [])];
const SIGNING = ["new key", "sign", "verify"];
const schemes = [
  ["ML-DSA-65", SIGNING, [
    oursSigning(simd128, "ML-DSA-65"), oursSigning(plain, "ML-DSA-65"), nobleSigning(ml_dsa65),
    liboqsSigning(await createMLDSA65()), ...(NODE ? [nodeSigning("ml-dsa-65")] : []),
  ]],
  ["ML-KEM-768", ["new key", "encapsulate", "decapsulate"], [
    oursKem(simd128), oursKem(plain), nobleKem(ml_kem768), liboqsKem(await createMLKEM768()), ...(NODE ? [nodeKem()] : []),
  ]],
  ["SLH-DSA-SHAKE-128f", SIGNING, [
    oursSigning(simd128, "SLH-DSA-SHAKE-128f"), oursSigning(plain, "SLH-DSA-SHAKE-128f"), nobleSigning(slh_dsa_shake_128f),
    liboqsSigning(await createSlhDsaShake128f()),
    ...(NODE ? [nodeSigning("slh-dsa-shake-128f")] : []),
  ]],
]; // prettier-ignore

/** The CPU time of this process. Waiting for other programs on the machine does not count. */
const now = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** The microseconds of a call, averaged over this many calls. */
function measure(operation, calls) {
  const started = now();
  for (let i = 0; i < calls; i++) operation();
  return (now() - started) / calls;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const shown = (microseconds) => (microseconds < 99.5 ? microseconds.toFixed(1) : Math.round(microseconds).toLocaleString("en"));

const { version } = JSON.parse(readFileSync(new URL("node_modules/@noble/post-quantum/package.json", import.meta.url)));
const liboqs = JSON.parse(readFileSync(new URL("node_modules/@oqs/liboqs-js/package.json", import.meta.url))).version;
console.log(`${cpus()[0].model}; Node ${process.versions.node} with OpenSSL ${process.versions.openssl}; noble ${version}; liboqs-js ${liboqs}`);
console.log(`medians of ${ROUNDS} rounds, in microseconds of CPU, and of the ratios to the first\n`);
console.log(`| | ${CONTESTANTS.join(" | ")} |`);
console.log(`|${"---|".repeat(CONTESTANTS.length + 1)}`);
for (const [name, operations, contestants] of schemes) {
  for (const [index, operation] of operations.entries()) {
    const atLeast = name.startsWith("ML-DSA") && operation === "sign" ? SIGNATURES : 1;
    // first calls compile, so they do not count
    const calls = contestants.map((one) => {
      measure(one[index], 1);
      const first = measure(one[index], 1);
      if (first > 1e5) return 1;
      measure(one[index], Math.ceil((MILLISECONDS * 3000) / first));
      return Math.max(atLeast, Math.round((MILLISECONDS * 1000) / measure(one[index], Math.ceil((MILLISECONDS * 500) / first))));
    });
    const times = contestants.map(() => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, contestant] of contestants.entries()) {
        // What takes a second is measured three times.
        if (calls[i] === 1 && round >= 3 && times[i][0] > 1e6) continue;
        times[i].push(measure(contestant[index], calls[i]));
      }
    }
    const cells = times.map((own) => {
      const ratio = median(own.map((time, round) => time / times[0][round]));
      return own === times[0] ? shown(median(own)) : `${shown(median(own))} (${ratio.toFixed(1)})`;
    });
    console.log(`| ${name}, ${operation} | ${cells.join(" | ")} |`);
  }
}
