// Reads NIST's and the RFCs' vectors: of each group of NIST's the first cases, without what the package does not do
// (pre-hashes, randomness from outside for signatures) and without SLH-DSA's s sets where they sign, which take long.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const CASES = 2;

export function readVectors(folder) {
  const vectors = [];
  const groups = (name, file = "internalProjection") =>
    JSON.parse(gunzipSync(readFileSync(join(folder, "acvp", name, `${file}.json.gz`)))).testGroups;
  const slow = ({ parameterSet }) => parameterSet.startsWith("SLH") && parameterSet.endsWith("s");
  // Groups without an interface are an earlier release's.
  const pure = (group) => (group.signatureInterface ?? "external") === "external" && group.preHash !== "preHash";

  for (const { parameterSet, tests } of groups("ML-KEM-keyGen-FIPS203")) {
    for (const { d, z, ek, dk } of tests.slice(0, CASES)) vectors.push(["kem-keygen", parameterSet, d + z, ek, dk]);
  }
  for (const { parameterSet, function: what, tests } of groups("ML-KEM-encapDecap-FIPS203-tr1")) {
    for (const { ek, dk, m, c, k, testPassed } of what.endsWith("Check") ? tests : tests.slice(0, CASES)) {
      if (what === "encapsulation") vectors.push(["kem-encaps", parameterSet, ek, m, c, k]);
      else if (what === "decapsulation" && dk) vectors.push(["kem-decaps", parameterSet, dk, c, k]);
      else if (what === "encapsulationKeyCheck") vectors.push(["kem-check-ek", parameterSet, ek, testPassed]);
      else if (what === "decapsulationKeyCheck") vectors.push(["kem-check-dk", parameterSet, dk, testPassed]);
    }
  }
  for (const { parameterSet, tests } of groups("ML-DSA-keyGen-FIPS204")) {
    for (const { seed, pk, sk } of tests.slice(0, CASES)) vectors.push(["keygen", parameterSet, seed, pk, sk]);
  }
  for (const group of groups("SLH-DSA-keyGen-FIPS205")) {
    if (slow(group)) continue;
    for (const { skSeed, skPrf, pkSeed, pk, sk } of group.tests.slice(0, CASES)) {
      vectors.push(["keygen", group.parameterSet, skSeed + skPrf + pkSeed, pk, sk]);
    }
  }
  const results = groups("ML-DSA-sigGen-FIPS204", "expectedResults");
  for (const group of groups("ML-DSA-sigGen-FIPS204", "prompt")) {
    if (!group.deterministic) continue;
    const expected = results.find(({ tgId }) => tgId === group.tgId).tests;
    for (const { tcId, sk, message, context = "", mu } of group.tests.slice(0, CASES)) {
      const { signature } = expected.find((result) => result.tcId === tcId);
      if (group.externalMu) vectors.push(["sign-mu", group.parameterSet, sk, mu, signature]);
      else if (pure(group)) vectors.push(["sign", group.parameterSet, sk, message, context, signature]);
    }
  }
  for (const group of groups("SLH-DSA-sigGen-FIPS205", "subset")) {
    if (!pure(group)) continue;
    for (const { sk, message, context = "", signature } of group.tests.slice(0, CASES)) {
      vectors.push(["verify", group.parameterSet, sk.slice(sk.length / 2), message, context, signature, true]);
      if (group.deterministic && !slow(group)) vectors.push(["sign", group.parameterSet, sk, message, context, signature]);
    }
  }
  for (const name of ["ML-DSA-sigVer-FIPS204", "SLH-DSA-sigVer-FIPS205"]) {
    for (const group of groups(name)) {
      if (!group.signatureInterface) continue;
      for (const { pk, message, context = "", mu, signature, testPassed } of group.tests.slice(0, CASES + 4)) {
        if (group.externalMu) vectors.push(["verify-mu", group.parameterSet, pk, mu, signature, testPassed]);
        else if (pure(group)) vectors.push(["verify", group.parameterSet, pk, message, context, signature, testPassed]);
      }
    }
  }

  const files = readTar(gunzipSync(readFileSync(join(folder, "rfc.tar.gz"))));
  for (const [name, text] of files) {
    const found = /\/(bad-)?(?:id-)?(ml-\w+-\d+|slh-dsa-\w+-\d+[sf])(?:-\w+)?\.priv$/i.exec(name);
    if (!found) continue;
    const algorithm = found[2].toUpperCase().replace(/[SF]$/, (kind) => kind.toLowerCase());
    if (found[1]) vectors.push(["rfc-bad", algorithm, text]);
    else vectors.push(["rfc-key", algorithm, text, files.get(name.replace(/(-(seed|expanded|both))?\.priv$/, ".pub"))]);
  }
  return vectors;
}

/** The texts in an archive, by their names. */
function readTar(archive) {
  const files = new Map();
  const field = (at, length) => archive.toString("latin1", at, at + length).replace(/\0.*$/s, "");
  for (let at = 0; at < archive.length && archive[at]; ) {
    const size = parseInt(field(at + 124, 12), 8) || 0;
    files.set(field(at, 100), archive.toString("utf8", at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
