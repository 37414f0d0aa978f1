import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { failureOf } from "../support/failure-of.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";

/** The problem that ends discovery in a project with this config. */
const failureWith = (file: string, content: unknown) =>
  failureOf(discoverPacks({ cwd: makeTree({ "package.json": { name: "app" }, [file]: content }) }));

describe("an invalid config", () => {
  test.each([
    ["trailblaze.config.yaml", "packs:\n  deny:\n    - ok\n    - 5\n", 4, 7, /number/],
    ["trailblaze.config.json", "", 1, 1, /empty/],
    // Each of these fits no pack: taken for a rule, it would let in what somebody believes shut out.
    ["trailblaze.config.yaml", "packs: { deny: [a, a/b/c/d] }", 1, 20, /"a\/b\/c\/d"/],
    ["trailblaze.config.yaml", 'packs: { deny: [a, "!acme/jira"] }', 1, 20, /"!acme\/jira"/],
  ])("%s: %j ends discovery with an error at %i:%i", async (file, content, line, column, words) => {
    const problem = await failureWith(file, content);
    expect(problem).toMatchObject({ code: "InvalidConfig", severity: "error", file, line, column });
    expect(problem.args).toMatchObject({ reason: expect.stringMatching(words) });
    expect(problem.message.length).toBeLessThan(300);
  });

  test("a config with an unsupported file name ends discovery, because it may deny something", async () => {
    expect(await failureWith("trailblaze.config.yml", "packs: { deny: [notes] }")).toMatchObject({
      code: "InvalidConfig",
      file: "trailblaze.config.yml",
      args: { hint: expect.stringContaining("trailblaze.config.yaml") },
    });
  });

  test.each<[string, (path: string) => void]>([
    ["a folder", (path) => mkdirSync(path)],
    ["a named pipe", makeFifo],
    ["a dangling link", (path) => makeLink("nowhere.yaml", path)],
  ])("%s in place of the config ends discovery without waiting", async (_what, make) => {
    const root = makeTree({ "package.json": { name: "app" } });
    make(join(root, "trailblaze.config.yaml"));
    expect((await failureOf(discoverPacks({ cwd: root }))).code).toBe("InvalidConfig");
  });
});

test("discovery reads the config of the project, not of the current folder or of the workspace's root", async () => {
  const root = makeTree({
    "package.json": { name: "root", workspaces: ["app"] },
    "trailblaze.config.yaml": "packs: { deny: [notes] }",
    "app/package.json": { name: "app", dependencies: { notes: "*" } },
    "app/src/trailblaze.config.yaml": "packs: { deny: [notes] }",
    "node_modules/notes/package.json": packManifest("notes"),
  });
  const { packs } = await discoverPacks({ cwd: join(root, "app/src") });
  expect(packs).toEqual([expect.objectContaining({ name: "notes", enabled: true })]);
});
