import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/session/servers/redact.ts";

const inPieces = (secrets: readonly string[], pieces: readonly string[]) => {
  const stream = createRedactor(secrets).createStream();
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
};

describe("secrets in text", () => {
  test("are replaced, also as JSON and in addresses, the longest first", () => {
    const { redact } = createRedactor(["ab", "abc", 'q"/é', ""]);
    expect(redact("x abc ab")).toBe("x [redacted] [redacted]");
    expect(redact('q"/é q\\"/é q%22%2F%C3%A9')).toBe("[redacted] [redacted] [redacted]");
    expect(createRedactor([""]).redact("all of it")).toBe("all of it");
  });

  test("are not shown in part where a text was cut", () => {
    expect(createRedactor(["hunter2"]).redactCut("x hunter2 hunt")).toBe("x [redacted] [redacted]");
  });

  test("are no patterns", () => {
    expect(createRedactor(["a.c", "(x", "\\d"]).redact("abc a.c (x 5 \\d")).toBe(
      "abc [redacted] [redacted] 5 [redacted]",
    );
  });

  test("are found however they are cut, and a cut-off one is not shown", () => {
    const secret = "hunter2-hunter2-hunter3";
    for (let at = 0; at <= secret.length; at++) {
      expect(inPieces([secret], [`a${secret.slice(0, at)}`, `${secret.slice(at)}b`])).toBe("a[redacted]b");
    }
    expect(inPieces([secret], ["a hunter2-hun"])).toBe("a [redacted]");
    expect(inPieces([secret], ["a hunter2-hun", "gry"])).toBe("a hunter2-hungry");
  });

  test("that begin like one another lose no end", () => {
    expect(inPieces(["abc", "abcdef"], ["xabc", "def"])).toBe("x[redacted]");
    expect(inPieces(["abc", "abcdef"], ["xabc", "dxx"])).toBe("x[redacted]dxx");
    expect(inPieces(["xab", "abc"], ["xab", "c"])).toBe("[redacted]c");
  });

  test("nothing is held back that cannot become one", () => {
    const stream = createRedactor(["token"]).createStream();
    expect(stream.push("no t to tok")).toBe("no t to ");
    expect(stream.push("x")).toBe("tokx");
  });

  test("in pieces come out as in the whole", () => {
    const letters = fc.stringMatching(/^[ab]{1,5}$/);
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
