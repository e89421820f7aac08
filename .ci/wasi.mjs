// Runs a wasm32-wasip1 program, such as a test binary of cargo, under Node.
//
//   node wasi.mjs PROGRAM [ARGUMENT...]
import { readFile } from 'node:fs/promises';
import { env, exit } from 'node:process';
import { WASI } from 'node:wasi';

const [program, ...rest] = process.argv.slice(2);
const wasi = new WASI({
    version: 'preview1',
    args: [program, ...rest],
    env,
    // Tests find their data by absolute paths.
    preopens: { '/': '/' },
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
exit(wasi.start(instance));
