import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/runtime/redact.ts";

const inPieces = (secrets: readonly string[], pieces: readonly string[]) => {
  const stream = createRedactor(secrets).createStream();
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
};

describe("redacting secrets", () => {
  test("secrets are replaced, also as JSON and in URLs, the longest first", () => {
    const { redact } = createRedactor(["abcd", "abcde", 'q"/é', ""]);
    expect(redact("x abcde abcd")).toBe("x [redacted] [redacted]");
    expect(redact('q"/é q\\"/é q%22%2F%C3%A9')).toBe("[redacted] [redacted] [redacted]");
    expect(createRedactor([""]).redact("all of it")).toBe("all of it");
  });

  test("a secret that is cut at the end of a string is not shown in part", () => {
    expect(createRedactor(["hunter2"]).redactCut("x hunter2 hunt")).toBe("x [redacted] [redacted]");
  });

  test("a secret that is cut off at the end is not shown, and what only begins like one is", () => {
    const secret = "hunter2-hunter2-hunter3";
    expect(inPieces([secret], ["a hunter2-hun"])).toBe("a [redacted]");
    expect(inPieces([secret], ["a hunter2-hun", "gry"])).toBe("a hunter2-hungry");
  });

  test("secrets shorter than 4 characters are replaced only as a whole string", () => {
    const redactor = createRedactor(["on", 'a"b']);
    expect(redactor.redact("on")).toBe("[redacted]");
    expect(redactor.redact('only on a"b a\\"b')).toBe('only on a"b a\\"b');
    expect(inPieces(["on"], ["on"])).toBe("on");
  });

  test("the secrets at the time of redaction count", () => {
    const secrets = ["first"];
    const redactor = createRedactor(() => [...secrets]);
    const stream = redactor.createStream();
    expect(stream.push("first second sec")).toBe("[redacted] second sec");
    secrets.push("second");
    expect(redactor.redact("first second")).toBe("[redacted] [redacted]");
    expect(stream.push(" second sec")).toBe(" [redacted] ");
    secrets.length = 0;
    expect(stream.push("ond")).toBe("second");
  });

  test("secrets in data are replaced: in strings, in keys, and where values read like one", () => {
    const { redactValue } = createRedactor(["12345", "true", "7", 'q"uote']);
    const data = {
      "is 12345": [12345, 123456, true, false, 7, 77, null],
      nested: { "7": '{"a":"q\\"uote"}' },
    };
    expect(redactValue(data)).toEqual({
      "is [redacted]": ["[redacted]", 123456, "[redacted]", false, "[redacted]", 77, null],
      nested: { "[redacted]": '{"a":"[redacted]"}' },
    });
    expect(createRedactor([]).redactValue(data)).toBe(data);
    const proto = JSON.parse('{"__proto__":{"x":"12345"}}');
    expect(JSON.stringify(redactValue(proto))).toBe('{"__proto__":{"x":"[redacted]"}}');
  });

  test("secrets in very deep data are replaced", () => {
    const { redactValue } = createRedactor(["hunter2"]);
    let deep: unknown = "hunter2";
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(JSON.stringify(redactValue(deep))).not.toContain("hunter2");
  });

  test("redacting chunks gives the same as redacting the whole", () => {
    const letters = fc.stringMatching(/^[ab]{4,7}$/);
    fc.assert(
      fc.property(
        fc.array(letters, { minLength: 1, maxLength: 3 }),
        fc.array(letters, { maxLength: 8 }),
        (secrets, pieces) => {
          // The stop keeps the end of the text from being taken for a secret cut off.
          const all = [...pieces, "."];
          expect(inPieces(secrets, all)).toBe(createRedactor(secrets).redact(all.join("")));
        },
      ),
    );
  });
});
