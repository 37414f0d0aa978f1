import { describe, expect, test } from "vitest";
import { findNodeScript, isNode } from "../../src/extension-schema/node-script.ts";

test.each([
  ["node", true],
  ["Node.EXE", true],
  ["/usr/bin/node", true],
  ["C:\\Program Files\\nodejs\\node.exe", true],
  ["line\n/node", false],
  ["nodejs", false],
  ["mynode", false],
  ["node.cmd", false],
  ["node/x", false],
  ["", false],
])("whether the command %j is Node: %j", (command, expected) => {
  expect(isNode(command)).toBe(expected);
});

describe("the file that node runs", () => {
  test.each<[string, number]>([
    ["server.js", 0],
    ["--enable-source-maps server.js", 1],
    ["--env-file .env server.js", 2],
    ["--env-file=.env server.js", 1],
    ["-r ./a.js --import ./b.js -C dev server.js --port 1", 6],
    ["--watch -- server.js", 2],
    ["-- --odd.js", 1],
    ["--printer server.js", 1],
    ["--import not/this.js --loader=x server.mjs", 3],
  ])("in %j, it is the argument with the index %i", (line, index) => {
    expect(findNodeScript(line.split(" "))).toBe(index);
  });

  test.each([
    "",
    "--",
    "-",
    "-e 1 server.js",
    "--eval=1 server.js",
    "--run start",
    "-i server.js",
    "--watch",
    "--import server.js",
    "--env-file x",
  ])("in %j, there is none", (line) => {
    expect(findNodeScript(line === "" ? [] : line.split(" "))).toBe(-1);
  });

  test("arguments that are not strings are not options", () => {
    expect(findNodeScript([5, "server.js"])).toBe(0);
  });
});
