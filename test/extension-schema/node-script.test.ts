import { describe, expect, test } from "vitest";
import { findNodeScript } from "../../src/extension-schema/node-script.ts";

describe("the file that node runs", () => {
  test.each<[string, number]>([
    ["server.js", 0],
    ["--enable-source-maps server.js", 1],
    ["--env-file .env server.js", 2],
    ["-r ./a.js --import ./b.js -C dev server.js --port 1", 6],
    ["--watch -- server.js", 2],
  ])("in %j, it is the argument with the index %i", (line, index) => {
    expect(findNodeScript(line.split(" "))).toBe(index);
  });

  test.each(["", "--watch", "--import server.js", "--env-file x"])("in %j, there is none", (line) => {
    expect(findNodeScript(line === "" ? [] : line.split(" "))).toBe(-1);
  });
});
