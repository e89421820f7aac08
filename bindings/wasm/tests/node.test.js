// Under Node: `node --test` with PQTLS_WASM, which says which of the modules is tested.
import { equal as same } from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";
import * as lattice from "pqtls";
import * as all from "pqtls/slh-dsa";
import { ok, refused } from "./assert.js";
import { cases } from "./cases.js";
import { readVectors } from "./read_vectors.js";
import { runVectors } from "./vectors.js";

const ENTRIES = { pqtls: [lattice, false], "pqtls/slh-dsa": [all, true] };
const rounds = Number(process.env.PQTLS_ROUNDS ?? 40);

for (const [name, [pqtls, slhDsa]] of Object.entries(ENTRIES)) {
  describe(name, () => {
    for (const [title, run] of Object.entries(cases(pqtls, { slhDsa, rounds }))) test(title, run);

    test("vectors", (context) => {
      const folder = process.env.PQTLS_VECTORS;
      if (!folder) return context.skip("the vectors are not beside this checkout");
      context.diagnostic(JSON.stringify(runVectors(pqtls, readVectors(folder))));
    });

    test("nothing of a PEM stays in the module's memory", async () => {
      const { SigningKey, VerifyingKey } = pqtls;
      const glue = await import(new URL("pqtls_wasm.js", import.meta.resolve(name)));
      const memory = () => Buffer.from(glue.initSync().memory.buffer);
      // first, so that what follows has room and nothing moves
      SigningKey.generate("ML-DSA-44").free();
      const made = SigningKey.fromSeed("ML-DSA-44", Uint8Array.from({ length: 32 }, (_, i) => 151 * i + 7));
      const pem = made.toPkcs8Pem({ form: "both" });
      made.free();
      const pieces = pem.split("\n").slice(1, -3);
      for (const text of [pem, `${pem}# schlüssel\n`, `# clé\n${pem}`, `${pem}\u{1f511}`, `${pem.slice(0, 2000)}é`]) {
        for (const read of [() => SigningKey.fromPkcs8(text).free(), () => VerifyingKey.fromSpki(text).free()]) {
          try {
            read();
          } catch (error) {
            same(error.code, "malformed-pem");
          }
          const now = memory();
          for (const piece of pieces) ok(!now.includes(piece.slice(1, 40)), "a piece of the key is still there");
        }
      }
    });

    test("an exception through the module: it is wiped, says so, and can be loaded again", async () => {
      const { SigningKey, DecapsulationKey, PqtlsError, signatureLength } = pqtls;
      const glue = await import(new URL("pqtls_wasm.js", import.meta.resolve(name)));
      // Deep recursion, until there is no stack for what the module needs. Where it ends is the engine's matter.
      const broken = (key) => {
        const dive = () => {
          try {
            dive();
          } catch {
            // up again
          }
          try {
            key.sign(new Uint8Array(9));
          } catch (error) {
            if (error.code === "internal") return;
          }
        };
        for (let round = 0; round < 40; round++) {
          dive();
          try {
            key.sign(new Uint8Array(9));
          } catch (error) {
            if (error.code === "broken") return true;
            throw error;
          }
        }
        return false;
      };
      for (let round = 0; round < 3; round++) {
        const key = SigningKey.generate("ML-DSA-44");
        const kem = DecapsulationKey.generate("ML-KEM-512");
        const { memory } = glue.initSync();
        ok(broken(key), "the recursion did not reach the module");
        ok(Buffer.from(memory.buffer).every((byte) => byte === 0), "wiped");
        same(inspect(kem), "DecapsulationKey { lost, since the module failed }");
        for (const use of [() => key.sign(new Uint8Array(1)), () => key.verifyingKey, () => kem.toPkcs8(), () => signatureLength("ML-DSA-44"), () => SigningKey.generate("ML-DSA-44")]) {
          refused(PqtlsError, "broken", use, /await load/);
        }
        await pqtls.load();
        // earlier keys belong to no instance, and freeing them touches no other
        const fresh = SigningKey.generate("ML-DSA-44");
        refused(PqtlsError, "broken", () => kem.decapsulate(new Uint8Array(768)));
        for (const old of [key, kem]) {
          old.free();
          same(old.freed, true);
        }
        ok(fresh.verifyingKey.verify(new Uint8Array(3), fresh.sign(new Uint8Array(3))));
        fresh.free();
      }
    });

    test("a call from within a call is refused, and breaks nothing", () => {
      const { SigningKey } = pqtls;
      const key = SigningKey.generate("ML-DSA-44");
      const original = crypto.getRandomValues;
      const codes = [];
      crypto.getRandomValues = function (array) {
        for (const use of [() => key.free(), () => key.sign(array), () => key.algorithm]) {
          try {
            use();
          } catch (error) {
            codes.push(error.code);
          }
        }
        return original.call(this, array);
      };
      try {
        key.sign(new Uint8Array(5));
      } finally {
        delete crypto.getRandomValues;
      }
      same(codes.join(), "busy,busy,busy");
      same(key.freed, false);
      ok(key.verifyingKey.verify(new Uint8Array(5), key.sign(new Uint8Array(5))));
      key.free();
      same(key.freed, true);
    });

    test("what console.log shows of a key: which it is, and nothing secret", () => {
      const { SigningKey, DecapsulationKey } = pqtls;
      const seed = (length) => Uint8Array.from({ length }, (_, i) => 199 - i);
      const made = [
        [SigningKey.fromSeed("ML-DSA-65", seed(32)), "verifyingKey"],
        [DecapsulationKey.fromSeed("ML-KEM-768", seed(64)), "encapsulationKey"],
        ...(slhDsa ? [[SigningKey.fromSeed("SLH-DSA-SHA2-128f", seed(48)), "verifyingKey"]] : []),
      ];
      for (const [key, half] of made) {
        const { algorithm } = key;
        const start = Buffer.from(key[half].toBytes()).toString("hex").slice(0, 16);
        const details = `{ algorithm: '${algorithm}', publicKey: '${start}…' }`;
        same(inspect(key), `${key.constructor.name} ${details}`);
        same(inspect(key[half]), `${key[half].constructor.name} ${details}`);
        same(inspect({ key }, { breakLength: Infinity }), `{ key: ${inspect(key)} }`);
        const everything = inspect(key, { customInspect: false, showHidden: true, getters: true, depth: 20 });
        for (const secret of [key.toExpanded(), key.seed]) {
          // SLH-DSA's expanded key ends with the public one, and a private key of ML-DSA begins with a part of it
          const bytes = Buffer.from(secret).subarray(algorithm.startsWith("ML-DSA") && secret.length > 32 ? 32 : 0).subarray(0, 4);
          for (const text of [inspect(key), everything]) {
            ok(!text.includes(bytes.toString("hex")) && !text.includes(bytes.join(", ")), "secret bytes");
          }
        }
        const name = key.constructor.name;
        same(inspect(Object.create(key)), name);
        key.free();
        same(inspect(key), `${name} { freed }`);
      }
    });

    test("load() in Node has nothing left to do", async () => {
      await pqtls.load();
      await pqtls.load("https://example.invalid/");
    });

    test("randomness comes from Web Crypto, and its failure is an error", () => {
      const { SigningKey, DecapsulationKey, PqtlsError } = pqtls;
      const key = SigningKey.generate("ML-DSA-44");
      const { encapsulationKey } = DecapsulationKey.generate("ML-KEM-512");
      const { crypto } = globalThis;
      const original = crypto.getRandomValues;
      let asked = 0;
      try {
        crypto.getRandomValues = function (array) {
          asked += array.length;
          return original.call(this, array);
        };
        encapsulationKey.encapsulate();
        same(asked, 32);
        crypto.getRandomValues = () => {
          throw new Error("no entropy");
        };
        for (const use of [
          () => SigningKey.generate("ML-DSA-44"),
          () => DecapsulationKey.generate("ML-KEM-512"),
          () => key.sign(new Uint8Array(5)),
          () => key.signMu(new Uint8Array(64)),
          () => encapsulationKey.encapsulate(),
        ]) {
          refused(PqtlsError, "no-randomness", use);
        }
        // these need none
        key.signDeterministic(new Uint8Array(5));
        encapsulationKey.encapsulateDeterministic(new Uint8Array(32));
      } finally {
        delete crypto.getRandomValues;
      }
      SigningKey.generate("ML-DSA-44");
    });
  });
}

test("an engine without Web Crypto gets an error", () => {
  const program = `
    delete globalThis.crypto;
    const { SigningKey } = await import("pqtls");
    try { SigningKey.generate("ML-DSA-44"); } catch (error) { console.log(error.name, error.code); }
    console.log(SigningKey.fromSeed("ML-DSA-44", new Uint8Array(32)).signDeterministic(new Uint8Array(1)).length);`;
  same(evaluated(program), "PqtlsError no-randomness\n2420\n");
});

/** What a program prints, in a process of its own. */
function evaluated(program, { flags = [], ...options } = {}) {
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  const run = spawnSync(process.execPath, [...flags, "--input-type=module", "--eval", program], { encoding: "utf8", cwd, ...options });
  same(run.status, 0, run.stderr);
  return run.stdout;
}

test("the module is chosen at load, or by PQTLS_WASM", () => {
  const program = `
    const { validate } = WebAssembly;
    WebAssembly.validate = (bytes) => process.argv[1] !== "old" && validate(bytes);
    const sizes = [];
    const { Module } = WebAssembly;
    WebAssembly.Module = function (bytes) { sizes.push(bytes.length); return new Module(bytes); };
    const { simd128 } = await import("pqtls");
    console.log(simd128(), sizes.join());`;
  const size = (engine) => readFileSync(new URL(`${engine}.wasm`, import.meta.resolve("pqtls"))).length;
  const env = { ...process.env };
  delete env.PQTLS_WASM;
  same(evaluated(program, { env }), `true ${size("simd128")}\n`);
  same(evaluated(program.replace("process.argv[1]", '"old"'), { env }), `false ${size("plain")}\n`);
  same(evaluated(program, { env: { ...env, PQTLS_WASM: "plain" } }), `true ${size("plain")}\n`);
  const wrong = evaluated('await import("pqtls").catch((error) => console.log(error.code, error.message));', {
    env: { ...env, PQTLS_WASM: "mmx" },
  });
  ok(/^not-loaded PQTLS_WASM is mmx/.test(wrong), wrong);
});

test("the entry for browsers, in Node: load() once, again after a failure, and never before", async (context) => {
  // A copy, since this program has loaded the other; in a folder of its own, since these tests run for both modules at once.
  const folder = mkdtempSync(join(tmpdir(), "pqtls-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const copy = pathToFileURL(`${folder}/`);
  cpSync(new URL("..", import.meta.resolve("pqtls")), copy, { recursive: true });
  const file = (name) => new URL(`lattice/${name}`, copy);
  const { load, SigningKey, signatureAlgorithms, PqtlsError } = await import(file("index.js"));
  refused(PqtlsError, "not-loaded", () => SigningKey.generate("ML-DSA-44"), /await load/);
  refused(PqtlsError, "not-loaded", () => signatureAlgorithms());
  const broken = readFileSync(file("simd128.wasm")).subarray(0, 5000);
  for (const wrong of [() => new Uint8Array(9), () => broken, () => Promise.reject(new Error("network"))]) {
    const error = await load(wrong()).then(() => undefined, (error) => error); // prettier-ignore
    refused(PqtlsError, "not-loaded", () => { throw error; }); // prettier-ignore
  }
  // a module that is none of ours, one of the other entry, and an empty one
  const EMPTY = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  for (const wrong of [EMPTY, new WebAssembly.Module(EMPTY), readFileSync(new URL("slh-dsa/plain.wasm", copy)), new Response(EMPTY)]) {
    const error = await load(wrong).then(() => undefined, (error) => error); // prettier-ignore
    refused(PqtlsError, "not-loaded", () => { throw error; }, /this entry's module/); // prettier-ignore
  }
  refused(PqtlsError, "not-loaded", () => SigningKey.generate("ML-DSA-44"));
  const bytes = readFileSync(file("plain.wasm"));
  const [first, second] = [load(bytes), load()];
  ok(first === second, "one load");
  await first;
  await load();
  const key = SigningKey.generate("ML-DSA-44");
  ok(key.verifyingKey.verify(bytes, key.sign(bytes)));
});

test("the collector frees keys that nobody holds", () => {
  // Rounds in tasks of their own, since what a task held is collected after it.
  const program = `
    const { DecapsulationKey } = await import("pqtls");
    const glue = await import(new URL("pqtls_wasm.js", import.meta.resolve("pqtls")));
    const { memory } = glue.initSync();
    const round = async () => {
      for (let i = 0; i < 500; i++) DecapsulationKey.generate("ML-KEM-1024").encapsulationKey.encapsulate();
      for (let i = 0; i < 3; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    for (let i = 0; i < 3; i++) await round();
    const before = memory.buffer.byteLength;
    for (let i = 0; i < 8; i++) await round();
    console.log(memory.buffer.byteLength - before);`;
  same(evaluated(program, { flags: ["--expose-gc"] }), "0\n");
});

test("the entries have one class of errors", () => {
  ok(lattice.PqtlsError === all.PqtlsError);
  refused(lattice.PqtlsError, "unknown-algorithm", () => all.SigningKey.generate("RSA"));
  // and each its own keys
  refused(all.PqtlsError, "wrong-type", () => all.SigningKey.prototype.sign.call(lattice.SigningKey.generate("ML-DSA-44"), new Uint8Array(1)));
});

/** A worker that runs a program, which imports `entry` as "pqtls". */
function started(program, entry = "pqtls", options = {}) {
  const text = program.replace('"pqtls"', JSON.stringify(import.meta.resolve(entry)));
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`), options);
}

const answerOf = (worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));

test("in a worker thread", async () => {
  const program = `
    import { parentPort } from "node:worker_threads";
    import { SigningKey } from "pqtls";
    const key = SigningKey.generate("ML-DSA-65");
    parentPort.postMessage(key.verifyingKey.verify(new Uint8Array(3), key.sign(new Uint8Array(3))));`;
  const worker = started(program);
  const answer = await answerOf(worker);
  await worker.terminate();
  same(answer, true);
});

test("a worker that is terminated while it signs: another worker and this thread go on", { timeout: 60_000 }, async ({ signal }) => {
  // How often the victim began and ended a call, whether it is gone, and how often the witness signed and verified.
  const state = new Int32Array(new SharedArrayBuffer(16));
  const [BEGUN, ENDED, GONE, SIGNED] = [0, 1, 2, 3];
  const options = { workerData: state };
  const victim = started(
    `import { workerData as state } from "node:worker_threads";
    import { SigningKey } from "pqtls";
    const key = SigningKey.generate("SLH-DSA-SHAKE-128s");
    for (;;) {
      Atomics.add(state, ${BEGUN}, 1);
      key.sign(new Uint8Array(3));
      Atomics.add(state, ${ENDED}, 1);
    }`,
    "pqtls/slh-dsa",
    options,
  );
  const witness = started(
    `import { parentPort, workerData as state } from "node:worker_threads";
    import { SigningKey } from "pqtls";
    const key = SigningKey.generate("SLH-DSA-SHAKE-128f");
    const signs = () => key.verifyingKey.verify(new Uint8Array(3), key.sign(new Uint8Array(3)));
    let good = true;
    for (let last = false; !last; Atomics.add(state, ${SIGNED}, 1)) {
      last = Atomics.load(state, ${GONE}) === 1;
      good = signs() && good;
    }
    parentPort.postMessage(good);`,
    "pqtls/slh-dsa",
    options,
  );
  try {
    const answer = answerOf(witness);
    const key = all.SigningKey.generate("SLH-DSA-SHAKE-128f");
    const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    // The timeout fails the test, but does not end this loop.
    while (!signal.aborted && !(Atomics.load(state, BEGUN) && Atomics.load(state, SIGNED))) await pause(5);
    // Signing takes longer than this; an exception of the victim's arrives earlier.
    await pause(100);
    same(await victim.terminate(), 1, "the victim had ended by itself");
    same(state[BEGUN] - state[ENDED], 1, "the victim was not within a call");
    ok(key.verifyingKey.verify(new Uint8Array(3), key.sign(new Uint8Array(3))), "this thread");
    const before = Atomics.load(state, SIGNED);
    Atomics.store(state, GONE, 1);
    same(await answer, true);
    ok(Atomics.load(state, SIGNED) > before, "the witness signed after that");
  } finally {
    await Promise.all([victim.terminate(), witness.terminate()]);
  }
});

test("the package has what its package.json says", () => {
  const root = new URL("..", import.meta.resolve("pqtls"));
  const { exports, types, sideEffects } = JSON.parse(readFileSync(new URL("package.json", root)));
  const targets = Object.values(exports).flatMap((to) => (typeof to === "string" ? [to] : Object.values(to)));
  for (const path of [types, ...sideEffects, ...targets]) {
    ok(path.includes("*") || existsSync(new URL(path, root)), path);
  }
  for (const entry of ["lattice", "slh-dsa"]) {
    for (const engine of ["plain", "simd128"]) ok(existsSync(new URL(import.meta.resolve(`pqtls/${entry}/${engine}.wasm`))));
  }
});
