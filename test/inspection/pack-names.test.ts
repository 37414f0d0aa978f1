import { describe, expect, test } from "vitest";
import { inspectItem, inspectPack } from "../../src/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { prompt } from "../validate/validate-tree.ts";

const jira = packManifest("@acme/jira", { trailblaze: { prompts: ["hello"] } });

/** As after `npm install tracker@npm:@acme/jira`. */
const installed = (alias: string, more: Record<string, unknown> = {}) =>
  makeTree({
    "package.json": { name: "app", dependencies: { [alias]: "npm:@acme/jira@^1.0.0" } },
    [`node_modules/${alias}/package.json`]: jira,
    [`node_modules/${alias}/trailblaze/prompts/hello.json`]: prompt("hello"),
    ...more,
  });

describe("a pack that is installed under an alias", () => {
  test.each(["tracker", "@mine/tracker"])("the pack %s has the name it is installed under", async (alias) => {
    const cwd = installed(alias);
    const qualifiedName = alias.replace("@", "");
    expect(await inspectPack(alias, { cwd })).toMatchObject({
      name: alias,
      packageName: "@acme/jira",
      origin: "direct",
      prompts: [{ qualifiedName: `${qualifiedName}/hello`, file: "trailblaze/prompts/hello.json" }],
      problems: [{ code: "AliasedPack", severity: "info" }],
    });
    expect(await validateExtension(qualifiedName, { cwd })).toMatchObject({ ok: true, pack: alias });
    expect(await inspectItem(`${qualifiedName}/hello`, { cwd })).toMatchObject({ pack: alias });
  });

  test.each(["@acme/jira", "trackers"])("the pack is not found as %s", async (name) => {
    const cwd = installed("tracker");
    for (const found of [inspectPack(name, { cwd }), validateExtension(name, { cwd })])
      await expect(found).rejects.toMatchObject({ code: "PackNotInstalled" });
  });

  test("its own definitions may use the name in its package.json, and those of other packs may not", async () => {
    const server = { name: "desk", version: "1.0.0", description: "A desk.", prompts: ["acme/jira/hello"] };
    const cwd = installed("tracker", {
      "package.json": { name: "app", dependencies: { tracker: "npm:@acme/jira@^1.0.0", other: "*" } },
      "node_modules/tracker/package.json": packManifest("@acme/jira", {
        trailblaze: { prompts: ["hello"], servers: ["desk"] },
      }),
      "node_modules/tracker/trailblaze/servers/desk.json": server,
      "node_modules/other/package.json": packManifest("other", { trailblaze: { servers: ["desk"] } }),
      "node_modules/other/trailblaze/servers/desk.json": server,
    });
    expect(await inspectItem("tracker/desk", { cwd })).toMatchObject({
      promptNames: ["tracker/hello"],
      problems: [],
    });
    expect(await inspectItem("other/desk", { cwd })).toMatchObject({
      promptNames: [],
      problems: [{ code: "PackNotInstalled" }],
    });
  });
});

describe("a pack that the project does not declare", () => {
  const undeclared = () =>
    makeTree({
      "package.json": { name: "app" },
      "node_modules/@acme/jira/package.json": jira,
      "node_modules/@acme/jira/trailblaze/prompts/hello.json": prompt("hello"),
    });

  test.each(["@acme/jira", "acme/jira"])("the pack is found as %s", async (name) => {
    const cwd = undeclared();
    expect(await inspectPack(name, { cwd })).toMatchObject({ origin: "undeclared", enabled: "onDemand" });
    expect(await validateExtension(name, { cwd })).toMatchObject({ ok: true, pack: "@acme/jira" });
  });

  test("its item is found, and one that it does not have is not", async () => {
    const cwd = undeclared();
    expect(await inspectItem("acme/jira/hello", { cwd })).toMatchObject({
      kind: "prompt",
      pack: "@acme/jira",
    });
    await expect(inspectItem("acme/jira/helo", { cwd })).rejects.toMatchObject({
      problem: { args: { nearest: ["acme/jira/hello"] } },
    });
  });

  test("a pack that only a definition names is found from the package that refers to it", async () => {
    const server = { name: "desk", version: "1.0.0", description: "A desk.", prompts: ["acme/jira/hello"] };
    const cwd = makeTree({
      "package.json": { name: "app", dependencies: { desk: "*" } },
      "node_modules/desk/package.json": packManifest("desk", { trailblaze: { servers: ["desk"] } }),
      "node_modules/desk/trailblaze/servers/desk.json": server,
      "node_modules/desk/node_modules/@acme/jira/package.json": jira,
      "node_modules/desk/node_modules/@acme/jira/trailblaze/prompts/hello.json": prompt("hello"),
    });
    expect(await inspectItem("desk/desk", { cwd })).toMatchObject({
      promptNames: ["acme/jira/hello"],
      problems: [],
    });
    expect(await validateExtension("desk", { cwd })).toMatchObject({
      problems: expect.not.arrayContaining([expect.objectContaining({ code: "PackNotInstalled" })]),
    });
    await expect(inspectPack("@acme/jira", { cwd })).rejects.toMatchObject({ code: "PackNotInstalled" });
  });
});
