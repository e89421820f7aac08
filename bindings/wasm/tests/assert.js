// What the tests check values with, in Node and in browsers alike.
const shown = (value) => {
  if (value instanceof Uint8Array) return `${value.length} bytes ${[...value.subarray(0, 8)]}…`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
};

const same = (a, b) =>
  a instanceof Uint8Array && b instanceof Uint8Array
    ? a.length === b.length && a.every((byte, i) => byte === b[i])
    : Object.is(a, b);

export function equal(actual, expected, what = "") {
  if (!same(actual, expected)) throw new Error(`${what} is ${shown(actual)}, not ${shown(expected)}`);
}

export function differ(a, b, what = "") {
  if (same(a, b)) throw new Error(`${what}: both are ${shown(a)}`);
}

export function ok(value, what = "") {
  if (!value) throw new Error(`${what} does not hold`);
}

/** Checks that a function throws the package's error with this code, and a message in words. */
export function refused(PqtlsError, code, operation, message = /\w+ \w+/) {
  let thrown;
  try {
    operation();
  } catch (error) {
    thrown = error;
  }
  if (!thrown) throw new Error(`nothing was thrown, where ${code} should be: ${operation}`);
  if (!(thrown instanceof PqtlsError) || !(thrown instanceof Error) || thrown.name !== "PqtlsError") {
    throw new Error(`another error was thrown than ${code}, by ${operation}: ${thrown?.stack ?? thrown}`, { cause: thrown });
  }
  equal(thrown.code, code, `the code of "${thrown.message}", by ${operation},`);
  if (!message.test(thrown.message)) throw new Error(`"${thrown.message}" does not match ${message}`);
}
