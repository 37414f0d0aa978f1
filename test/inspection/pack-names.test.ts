import { describe, expect, test } from "vitest";
import { inspectPack } from "../../src/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { runCli } from "../support/run-cli.ts";
import { prompt } from "../validate/validate-tree.ts";

const jira = packManifest("@acme/jira", { trailblaze: { prompts: ["hello"] } });
const notes = packManifest("notes", { version: "2.0.0" });

/** As after `npm install tracker@npm:@acme/jira`. */
const installed = (alias: string, more: Record<string, unknown> = {}) =>
  makeTree({
    "package.json": { name: "app", dependencies: { [alias]: "npm:@acme/jira@^1.0.0" } },
    [`node_modules/${alias}/package.json`]: jira,
    [`node_modules/${alias}/trailblaze/prompts/hello.json`]: prompt("hello"),
    ...more,
  });

describe("a pack that is installed under an alias", () => {
  test.each([
    ["tracker", "tracker"],
    ["@mine/tracker", "@mine/tracker"],
    ["tracker", "@acme/jira"],
    ["tracker", "acme/jira"],
    // The alias is the name of another pack, which is not installed.
    ["notes", "notes"],
  ])("the pack %s is found as %s", async (alias, name) => {
    const cwd = installed(alias);
    expect(await inspectPack(name, { cwd })).toMatchObject({
      name: "@acme/jira",
      origin: "direct",
      prompts: [{ qualifiedName: "acme/jira/hello", file: "trailblaze/prompts/hello.json" }],
    });
    expect(await validateExtension(name, { cwd })).toMatchObject({ ok: true, pack: "@acme/jira" });
  });

  test("an alias does not hide the pack that has this name", async () => {
    const cwd = installed("notes", {
      "node_modules/desk/package.json": { name: "desk" },
      "node_modules/desk/node_modules/notes/package.json": notes,
    });
    expect(await inspectPack("notes", { cwd })).toMatchObject({ name: "notes", version: "2.0.0" });
    expect(await validateExtension("notes", { cwd })).toMatchObject({ pack: "notes", version: "2.0.0" });
  });

  test.each(["trackers", "mine/tracker", "@acme/tracker"])("the pack is not found as %s", async (name) => {
    const cwd = installed("tracker");
    for (const found of [inspectPack(name, { cwd }), validateExtension(name, { cwd })])
      await expect(found).rejects.toMatchObject({ code: "PackNotInstalled" });
  });

  test("commands find a pack by its alias", async () => {
    const cwd = installed("tracker");
    const inspected = await runCli(["inspect", "tracker", "--json"], { cwd });
    expect(JSON.parse(inspected.stdout)).toMatchObject({ name: "@acme/jira" });
    const validated = await runCli(["validate", "tracker", "--json"], { cwd });
    expect(JSON.parse(validated.stdout)).toMatchObject({ ok: true, pack: "@acme/jira" });
  });
});
