// Checks the sizes of the modules against README.md, and the one of ML-KEM and ML-DSA against its limit:
// node sizes.js PACKAGE README [--write]
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const LIMIT = 180_000;
const [folder, readme, write] = process.argv.slice(2);
const MODULES = [
  ["lattice", "`pqtls`: ML-KEM, ML-DSA"],
  ["slh-dsa", "`pqtls/slh-dsa`: and SLH-DSA"],
];
const size = (entry, engine) => {
  const bytes = readFileSync(join(folder, entry, `${engine}.wasm`));
  return { whole: bytes.length, zipped: gzipSync(bytes, { level: 9 }).length };
};
const kilobytes = (bytes) => `${Math.round(bytes / 1000)} KB`;

let text = readFileSync(readme, "utf8");
let wrong = 0;
for (const [entry, title] of MODULES) {
  const [simd, plain] = [size(entry, "simd128"), size(entry, "plain")];
  for (const [engine, { whole, zipped }] of Object.entries({ simd128: simd, plain })) {
    console.log(`${entry}, ${engine}: ${zipped} bytes gzipped, ${whole} bytes`);
    if (entry === "lattice" && zipped > LIMIT) {
      console.error(`${entry}, ${engine}: more than ${LIMIT} bytes gzipped`);
      wrong++;
    }
  }
  const found = text.split("\n").find((line) => line.startsWith(`| ${title} |`));
  const row = `| ${title} | ${kilobytes(simd.zipped)} | ${kilobytes(plain.zipped)} |`;
  // Compilers differ by a little; a change of the code shows.
  const near = (said, is) => Math.abs(said * 1000 - is) <= 0.02 * is;
  const said = found?.match(/(\d+) KB/g)?.map((number) => parseInt(number, 10)) ?? [];
  if (write) text = text.replace(found, row);
  else if (said.length !== 2 || !near(said[0], simd.zipped) || !near(said[1], plain.zipped)) {
    console.error(`README.md says "${found}", where it should say "${row}": bindings/wasm/test --sizes`);
    wrong++;
  }
}
if (write) writeFileSync(readme, text);
process.exitCode = wrong ? 1 : 0;
