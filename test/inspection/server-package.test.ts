import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inspectionPort as port } from "../../src/files/node-inspection-port.ts";
import { findCommandOwner, findPackageProgram } from "../../src/inspection/server-package.ts";
import { makeTree } from "../support/packs.ts";

/** A project with the package `@acme/mcp`, whose package.json has this `bin`. */
function makePackage(bin: unknown, files: Readonly<Record<string, string>> = {}): string {
  const entries = Object.entries(files).map(([path, text]) => [`node_modules/@acme/mcp/${path}`, text]);
  const manifest = { name: "@acme/mcp", version: "1.0.0", bin };
  return realpathSync(
    makeTree({
      "package.json": { name: "app" },
      "node_modules/@acme/mcp/package.json": manifest,
      ...Object.fromEntries(entries),
    }),
  );
}

const find = (root: string, bin?: string) => findPackageProgram(port, root, { package: "@acme/mcp", bin });
const pathOf = (root: string, path: string) => join(root, "node_modules/@acme/mcp", path);

describe("the command of a package", () => {
  test.each([
    ["a path", "cli.js", undefined],
    ["the only one", { other: "cli.js" }, undefined],
    ["the one named like the package", { other: "other.js", mcp: "cli.js" }, undefined],
    ["the named one", { mcp: "other.js", other: "./cli.js" }, "other"],
  ])("the command of a package is %s", (_, bin, name) => {
    const root = makePackage(bin, { "cli.js": "", "other.js": "" });
    const file = pathOf(root, "cli.js");
    expect(find(root, name)).toEqual({ state: "found", file, nodeOptions: [], version: "1.0.0" });
  });

  test.each([
    ["cli", "#!/usr/bin/env node\nrun();", []],
    ["cli", "#!/usr/local/bin/node --no-warnings\r\nrun();", ["--no-warnings"]],
    ["cli.js", "#!/usr/bin/env -S node --no-warnings --expose-gc\n", ["--no-warnings", "--expose-gc"]],
    ["cli", "#!/bin/sh\nnode x\n", undefined],
  ])("the name %s and the content %j decide whether a command runs with Node", (file, text, nodeOptions) => {
    const root = makePackage(file, { [file]: text });
    expect(find(root)).toMatchObject({ state: "found", nodeOptions });
  });

  test("a command is found in the nearest node_modules that has a package.json for its package", () => {
    const root = makePackage("cli.js", { "cli.js": "" });
    const inner = join(root, "packages/inner");
    mkdirSync(join(inner, "node_modules/@acme/mcp"), { recursive: true });
    expect(find(inner)).toMatchObject({ file: pathOf(root, "cli.js") });
    writeFileSync(join(inner, "node_modules/@acme/mcp/package.json"), '{"bin":"near.js"}');
    writeFileSync(join(inner, "node_modules/@acme/mcp/near.js"), "");
    expect(find(inner)).toMatchObject({ file: join(inner, "node_modules/@acme/mcp/near.js") });
  });

  test("a command may be a link inside its package, but not a link out of it", () => {
    const root = makePackage({ mcp: "in.js", out: "out.js" }, { "cli.js": "" });
    writeFileSync(join(root, "outside.js"), "");
    symlinkSync("cli.js", pathOf(root, "in.js"));
    symlinkSync("../../../outside.js", pathOf(root, "out.js"));
    expect(find(root)).toMatchObject({ file: pathOf(root, "cli.js") });
    expect(find(root, "out")).toMatchObject({ state: "unusable", key: "bin" });
  });

  test.each([
    ["is missing in package.json", undefined, undefined, "package"],
    ["is ambiguous", { one: "cli.js", two: "cli.js" }, undefined, "package"],
    ["has another name", { mcp: "cli.js" }, "other", "bin"],
    ["is outside the package", "../../../package.json", undefined, "package"],
  ])("a command is unusable if it %s", (_, bin, name, key) => {
    const root = makePackage(bin, { "cli.js": "", "folder/cli.js": "" });
    expect(find(root, name)).toMatchObject({ state: "unusable", key });
  });

  test("no command is found for a package that is not installed, or whose name is a path", () => {
    const root = makePackage("cli.js", { "cli.js": "" });
    expect(findPackageProgram(port, root, { package: "@acme/other" })).toEqual({ state: "notInstalled" });
    expect(findPackageProgram(port, root, { package: "../node_modules/@acme/mcp" })).toEqual({
      state: "notInstalled",
    });
  });
});

test.each([
  [999, "@acme/mcp"],
  [1000, undefined],
])("behind %i other dependencies, the owner of a command is %s", (count, owner) => {
  const others = Array.from({ length: count }, (_, index) => `other-${index}`);
  expect(findCommandOwner(port, makePackage("cli.js"), [...others, "@acme/mcp"], "mcp")).toBe(owner);
});
