import { describe, expect, test } from "vitest";
import { findNodeScript, findPreloads, isNode } from "../../src/extension-schema/node-script.ts";

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
    ["server.js other.js", 0],
    ["--enable-source-maps server.js", 1],
    ["--env-file .env server.js", 2],
    ["--env-file=.env server.js", 1],
    ["-r ./a.js --import ./b.js -C dev server.js --port 1", 6],
    ["--max-http-header-size 1 --watch-path src server.js", 4],
    ["--allow-fs-read /a --localstorage-file b server.js", 4],
    ["--watch -- server.js", 2],
    ["-- --odd.js", 1],
    ["--printer server.js", 1],
    ["--conditions=x-p server.js", 1],
    ["--running x", 1],
  ])("in %j, it is the argument with the index %i", (line, index) => {
    expect(findNodeScript(line.split(" "))).toBe(index);
  });

  test.each([
    "",
    "--",
    "--watch --",
    "-",
    "- server.js",
    "-e 1 server.js",
    "--eval=1 server.js",
    "-p 1 server.js",
    "-pe 1 server.js",
    "--print 1 server.js",
    "--run start",
    "--run=start",
    "-i server.js",
    "--interactive server.js",
    "--watch",
    "--env-file server.js",
  ])("in %j, there is none", (line) => {
    expect(findNodeScript(line === "" ? [] : line.split(" "))).toBe(-1);
  });

  test("arguments that are not strings are not options", () => {
    expect(findNodeScript([5, "server.js"])).toBe(0);
  });
});

describe("modules that node loads first", () => {
  test.each([
    ["server.js", []],
    ["-r ./a.js server.js", [["./a.js", 1, true]]],
    ["--require ./a.js server.js", [["./a.js", 1, true]]],
    ["--require=./a.js server.js", [["./a.js", 0, true]]],
    ["--import ./a.js server.js", [["./a.js", 1, false]]],
    ["--import=data:text/javascript,a=b server.js", [["data:text/javascript,a=b", 0, false]]],
    ["--loader ./a.js server.js", [["./a.js", 1, false]]],
    ["--experimental-loader=./a.js server.js", [["./a.js", 0, false]]],
    [
      "-C dev --import ./a.js --watch -r ./b.js server.js",
      [
        ["./a.js", 3, false],
        ["./b.js", 6, true],
      ],
    ],
    ["--env-file -r server.js", []],
    ["server.js -r ./a.js", []],
    ["-- -r ./a.js", []],
    ["--importer ./a.js server.js", []],
    ["--conditions=x-r server.js", []],
    ["--watch --x-import=./a.js", []],
    ["-r", []],
  ])("the modules of %j, with their places, are %j", (line, expected) => {
    const found = findPreloads(line.split(" "));
    expect(found.map(({ specifier, index, isRequired }) => [specifier, index, isRequired])).toEqual(expected);
  });

  test("a specifier may contain line breaks, and one that is not a string is ignored", () => {
    expect(findPreloads(["--import=data:,\n1", "x.js"])).toMatchObject([{ specifier: "data:,\n1" }]);
    expect(findPreloads(["-r", 5, "--import", "./a.js"])).toMatchObject([{ specifier: "./a.js", index: 3 }]);
  });
});
