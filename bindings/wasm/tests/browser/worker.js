import { suite } from "./suite.js";

suite(new URL(location.href).searchParams.get("engine")).then(
  (results) => postMessage(results),
  (error) => postMessage([{ name: "the suite", ok: false, value: `${error}\n${error?.stack}` }]),
);
