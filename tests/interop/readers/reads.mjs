// Whether Node reads private keys: see `run` for the lines that this reads and answers. It has nothing for PKCS#12 files
// but TLS, whose certificate and key have to fit.

import { createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createSecureContext } from "node:tls";

const [passphrase] = process.argv.slice(2);

function answer(kind, file) {
    if (kind === "pkcs12") {
        createSecureContext({ pfx: file, passphrase });
        return "fits";
    }
    const key = createPrivateKey({
        key: file, format: "der", type: "pkcs8", passphrase: kind === "encrypted" ? passphrase : undefined,
    });
    return "public " + createPublicKey(key).export({ format: "der", type: "spki" }).toString("hex");
}

for await (const line of createInterface({ input: process.stdin })) {
    const [kind, , path] = line.split(" ");
    let said;
    try {
        said = answer(kind, readFileSync(path));
    } catch (error) {
        said = `no ${error}`;
    }
    console.log(said.replaceAll("\n", " "));
}
