// Whether Vite's server for developers, in the folder that this is called in, gives a page the module of WebAssembly.
import { createRequire } from "node:module";
import { realpathSync } from "node:fs";
import { ok } from "./assert.js";

const { createServer } = await import(createRequire(realpathSync("node_modules/.bin/vite")).resolve("vite"));
const server = await createServer({ logLevel: "silent", server: { host: "127.0.0.1", port: 0, ws: false } });
await server.listen();
try {
  const { port } = server.httpServer.address();
  const get = async (path) => {
    const answer = await fetch(new URL(path, `http://127.0.0.1:${port}/`));
    ok(answer.ok, `${path}: ${answer.status}`);
    return answer;
  };
  const program = await (await get("/main.js")).text();
  const [, address] = program.match(/SigningKey \} from "([^"]*)"/) ?? [];
  ok(address, `the program imports no package: ${program}`);
  const code = await (await get(address)).text();
  const modules = [...code.matchAll(/new URL\("([^"]*\.wasm)"/g)].map(([, path]) => path);
  ok(modules.length === 2, `the package has no modules: ${code.slice(0, 500)}`);
  for (const module of modules) {
    const bytes = await (await get(new URL(module, new URL(address, server.resolvedUrls.local[0])).pathname)).arrayBuffer();
    ok(WebAssembly.validate(bytes), `${module} is no module`);
  }
} finally {
  await server.close();
}
