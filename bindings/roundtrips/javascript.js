// The package for JavaScript as one of the programs that exchange keys, signatures and ciphertexts: see `run`.
import { strict as assert } from "node:assert";
import { randomBytes, randomInt } from "node:crypto";
import { createInterface } from "node:readline";
import { DecapsulationKey, EncapsulationKey, SigningKey, VerifyingKey } from "pqtls/slh-dsa";

const toHex = (bytes) => Buffer.from(bytes).toString("hex") || "-";
const fromHex = (text) => new Uint8Array(Buffer.from(text.replace("-", ""), "hex"));

function write(number, privateKey, publicKey) {
  let message, output;
  let context = new Uint8Array();
  if (publicKey instanceof EncapsulationKey) {
    ({ sharedSecret: message, ciphertext: output } = publicKey.encapsulate());
  } else {
    message = new Uint8Array(randomBytes((number * 7919) % 2000));
    context = new Uint8Array(randomBytes(number % 256));
    output = privateKey.sign(message, { context });
  }
  const fields = [privateKey.toPkcs8(), publicKey.toSpki(), message, context, output];
  console.log([publicKey.algorithm, ...fields.map(toHex)].join(" "));
}

function answer(number, line) {
  const [algorithm, ...fields] = line.split(" ");
  const [privateDer, publicDer, message, context, output] = fields.map(fromHex);
  const changed = output.slice();
  changed[randomInt(changed.length)] ^= 1 << randomInt(8);
  let privateKey, publicKey;
  if (algorithm.startsWith("ML-KEM")) {
    privateKey = DecapsulationKey.fromPkcs8(privateDer);
    publicKey = EncapsulationKey.fromSpki(publicDer);
    assert.deepEqual(privateKey.encapsulationKey.toBytes(), publicKey.toBytes());
    assert.deepEqual(privateKey.decapsulate(output), message);
    assert.notDeepEqual(privateKey.decapsulate(changed), message);
  } else {
    privateKey = SigningKey.fromPkcs8(privateDer);
    publicKey = VerifyingKey.fromSpki(publicDer);
    assert.deepEqual(privateKey.verifyingKey.toBytes(), publicKey.toBytes());
    assert.equal(publicKey.verify(message, output, { context }), true);
    assert.equal(publicKey.verify(message, changed, { context }), false);
  }
  write(number, privateKey, publicKey);
  privateKey.free();
  publicKey.free();
}

function make(number, algorithm) {
  const isKem = algorithm.startsWith("ML-KEM");
  const privateKey = (isKem ? DecapsulationKey : SigningKey).generate(algorithm);
  write(number, privateKey, isKem ? privateKey.encapsulationKey : privateKey.verifyingKey);
  privateKey.free();
}

const act = { make, answer }[process.argv[2]];
let number = 0;
for await (const line of createInterface({ input: process.stdin })) {
  try {
    act(number++, line);
  } catch (error) {
    console.error(`JavaScript: number ${number - 1}: ${error.message}\n${line}`);
    process.exit(1);
  }
}
