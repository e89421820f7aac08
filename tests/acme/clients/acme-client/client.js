// acme-client obtains, renews and revokes certificates by http-01, and one by dns-01.
"use strict";

const acme = require("acme-client");
const fs = require("node:fs");
const http = require("node:http");

const { DIRECTORY, HTTP_PORT, NAME, TEXTS } = process.env;
const names = [NAME, `www.${NAME}`];
const shown = new Map();

async function obtain(client, csr, challenge) {
  return client.auto({
    csr,
    email: "admin@example.org",
    termsOfServiceAgreed: true,
    // It would ask the DNS servers of this machine.
    skipChallengeVerification: true,
    challengePriority: [challenge],
    challengeCreateFn: async (authorization, { type, token }, answer) => {
      if (type !== challenge) throw new Error(`it chose ${type}`);
      if (type === "dns-01") fs.appendFileSync(TEXTS, `_acme-challenge.${authorization.identifier.value} ${answer}\n`);
      else shown.set(`/.well-known/acme-challenge/${token}`, answer);
    },
    challengeRemoveFn: async () => {},
  });
}

async function main() {
  const server = http.createServer((request, response) => {
    response.statusCode = shown.has(request.url) ? 200 : 404;
    response.end(shown.get(request.url));
  });
  await new Promise((listening) => server.listen(Number(HTTP_PORT), "127.0.0.1", listening));

  const client = new acme.Client({ directoryUrl: DIRECTORY, accountKey: await acme.crypto.createPrivateEcdsaKey() });
  const [, csr] = await acme.crypto.createCsr({ altNames: names }, await acme.crypto.createPrivateEcdsaKey());
  const first = await obtain(client, csr, "http-01");
  fs.writeFileSync("revoked.pem", first);
  const [, next] = await acme.crypto.createCsr({ altNames: names }, await acme.crypto.createPrivateEcdsaKey());
  fs.writeFileSync("valid.pem", await obtain(client, next, "http-01"));
  await client.revokeCertificate(first, { reason: 4 });

  // Another account, of RSA, shows by dns-01 that it has the names.
  const other = new acme.Client({ directoryUrl: DIRECTORY, accountKey: await acme.crypto.createPrivateRsaKey() });
  fs.writeFileSync("pq.pem", await obtain(other, fs.readFileSync("request.pem"), "dns-01"));

  await client.updateAccountKey(await acme.crypto.createPrivateEcdsaKey("P-384"));
  const [, refused] = await acme.crypto.createCsr({ altNames: ["refused.example.com"] });
  const why = await obtain(client, refused, "http-01").then(() => undefined, (error) => error.message);
  fs.writeFileSync("refused", why);
  await client.updateAccount({ status: "deactivated" });
  server.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
