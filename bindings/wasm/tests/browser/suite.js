// What a page and a worker run: the tests of both entries, with one of the modules.
import { cases } from "../cases.js";
import { runVectors } from "../vectors.js";

/** @param engine "chosen" for the module that load() chooses, or the name of one */
export async function suite(engine) {
  const results = [];
  const run = async (name, test) => {
    try {
      results.push({ name, ok: true, value: await test() });
    } catch (error) {
      results.push({ name, ok: false, value: `${error?.message ?? error}\n${error?.stack ?? ""}` });
    }
  };
  const vectors = await (await fetch("/vectors.json")).json();
  for (const entry of ["lattice", "slh-dsa"]) {
    const pqtls = await import(`/pqtls/${entry}/index.js`);
    if (engine !== "chosen") await pqtls.load(`/pqtls/${entry}/${engine}.wasm`);
    else await pqtls.load();
    for (const [name, test] of Object.entries(cases(pqtls, { slhDsa: entry === "slh-dsa" }))) await run(`${entry}: ${name}`, test);
    if (vectors) await run(`${entry}: vectors`, () => JSON.stringify(runVectors(pqtls, vectors)));
  }
  return results;
}
