// The results of node:test: failures in full, and the numbers of tests that passed.
export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type === "test:fail" && data.details.error.failureType !== "subtestsFailed") {
      yield `failed: ${data.name}\n${data.details.error.cause?.stack ?? data.details.error}\n`;
    } else if (type === "test:diagnostic" && /^(pass|fail|skipped|duration_ms) |^\{/.test(data.message)) {
      yield `${data.message}\n`;
    } else if (type === "test:stderr") {
      yield data.message;
    }
  }
}
