// Prints Node.js's version, and the CPU time of a signature of ML-DSA-65 in nanoseconds.
import { generateKeyPairSync, sign } from "node:crypto";

const { privateKey } = generateKeyPairSync("ml-dsa-65");
const messages = Array.from({ length: 256 }, (_, index) => Buffer.alloc(130, index));
const pass = () => messages.forEach((message) => sign(null, message, privateKey));
pass();
const passes = 16;
const before = process.cpuUsage();
for (let i = 0; i < passes; i++) pass();
const { user, system } = process.cpuUsage(before);
console.log(process.versions.node, ((user + system) * 1e3) / (passes * messages.length));
