import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nestsDeeper } from "../../../src/mcp/client/json-depth.ts";
import { LineDecoder } from "../../../src/runtime/line-decoder.mjs";

describe("lines of a server's stdout", () => {
  const decode = (limit: number, chunks: readonly string[]) => {
    const read: string[] = [];
    const decoder = new LineDecoder(limit, {
      onLine: (line) => read.push(line.toString()),
      onTooLong: () => read.push("(too long)"),
    });
    for (const chunk of chunks) decoder.push(Buffer.from(chunk));
    return read;
  };

  test("lines are the same however they are split into chunks", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a\n\r]{0,6}$/)), (chunks) => {
        const whole = chunks.join("").split("\n").slice(0, -1);
        expect(decode(1000, chunks)).toEqual(whole.map((line) => line.replace(/\r$/, "")));
      }),
    );
  });

  test("a line that is too long is reported once, immediately, and the next line is read", () => {
    expect(decode(4, ["abcd\nef", "gh"])).toEqual(["abcd"]);
    expect(decode(4, ["abcd\nef", "ghi", "jklmno"])).toEqual(["abcd", "(too long)"]);
    expect(decode(4, ["abcde\nx\n", "y\n"])).toEqual(["(too long)", "x", "y"]);
  });
});

describe("the nesting depth of a message", () => {
  const deeper = (text: string, limit: number) => nestsDeeper(Buffer.from(text), limit);

  test("the nesting depth counts arrays and objects, not brackets in strings", () => {
    expect(deeper('[[{"a":[1]}]]', 4)).toBe(false);
    expect(deeper('[[{"a":[1]}]]', 3)).toBe(true);
    expect(deeper(JSON.stringify(["[[[[", '"[[[[', "\\", "[[[[\\"]), 1)).toBe(false);
    expect(deeper(JSON.stringify(["]]", ["]]", ["]]", []]]]), 3)).toBe(true);
  });

  test("the nesting depth is right for any JSON", () => {
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map((member) => depthOf(member)))
        : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = `    ${JSON.stringify(value)}    `;
        const depth = depthOf(JSON.parse(text));
        expect(deeper(text, depth)).toBe(false);
        if (depth > 0) expect(deeper(text, depth - 1)).toBe(true);
      }),
    );
  });

  test("the nesting depth is measured even if a string has no end", () => {
    expect(deeper('["abc', 2)).toBe(false);
  });
});
