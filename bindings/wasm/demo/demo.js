// Signs a message with a new key, verifies it, and times every operation. `?milliseconds=20` sets how long each
// measurement takes. At the end, `data-state` of the body is "done", or says what went wrong.
import { DecapsulationKey, load, SigningKey, signatureAlgorithms, simd128 } from "../pqtls/slh-dsa/index.js";

const find = (id) => document.getElementById(id);
const pause = () => new Promise((resolve) => setTimeout(resolve));
const milliseconds = Number(new URL(location.href).searchParams.get("milliseconds")) || 200;

function sign(event) {
  event?.preventDefault();
  const message = new TextEncoder().encode(find("message").value);
  const key = SigningKey.generate(find("algorithm").value);
  const signature = key.sign(message);
  const word = (valid) => (valid ? "valid" : "invalid");
  const changed = Uint8Array.from([...message, 33]);
  const { verifyingKey } = key;
  find("result").textContent =
    `${word(verifyingKey.verify(message, signature))}; of a changed message: ${word(verifyingKey.verify(changed, signature))}; ` +
    `${signature.length} bytes`;
  find("key").textContent = verifyingKey.toSpkiPem();
  verifyingKey.free();
  key.free();
}

/** How long one of many calls takes, in microseconds. */
async function time(operation) {
  operation();
  await pause();
  const started = performance.now();
  let calls = 0;
  let passed;
  do {
    operation();
    calls++;
    passed = performance.now() - started;
  } while (passed < milliseconds);
  return (passed * 1000) / calls;
}

const shown = (microseconds) =>
  microseconds < 1000
    ? `${microseconds.toFixed(microseconds < 100 ? 1 : 0)} µs`
    : `${(microseconds / 1000).toFixed(microseconds < 1e5 ? 1 : 0)} ms`;

function row(cells, into, kind) {
  const line = into.insertRow();
  for (const text of cells) {
    const cell = document.createElement(kind);
    cell.textContent = text;
    line.append(cell);
  }
}

async function times() {
  const { tHead, tBodies } = find("times");
  row(["", "new key", "sign or encapsulate", "verify or decapsulate"], tHead, "th");
  const message = new Uint8Array(32);
  for (const algorithm of ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87", "SLH-DSA-SHA2-128f", "SLH-DSA-SHAKE-128f"]) {
    const key = SigningKey.generate(algorithm);
    const signature = key.sign(message);
    const measured = [
      await time(() => SigningKey.generate(algorithm).free()),
      await time(() => key.sign(message)),
      await time(() => key.verifyingKey.verify(message, signature)),
    ];
    row([algorithm, ...measured.map(shown)], tBodies[0], "td");
  }
  for (const algorithm of ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"]) {
    const key = DecapsulationKey.generate(algorithm);
    const { ciphertext } = key.encapsulationKey.encapsulate();
    const measured = [
      await time(() => DecapsulationKey.generate(algorithm).free()),
      await time(() => key.encapsulationKey.encapsulate()),
      await time(() => key.decapsulate(ciphertext)),
    ];
    row([algorithm, ...measured.map(shown)], tBodies[0], "td");
  }
}

try {
  await load();
  find("engine").textContent = simd128() ? "WebAssembly with SIMD128" : "WebAssembly without SIMD128";
  find("algorithm").append(...signatureAlgorithms().map((name) => new Option(name, name, false, name === "ML-DSA-65")));
  document.querySelector("form").addEventListener("submit", sign);
  sign();
  await times();
  document.body.dataset.state = "done";
} catch (error) {
  find("engine").textContent = error.message;
  document.body.dataset.state = `${error.name}: ${error.message}`;
}
