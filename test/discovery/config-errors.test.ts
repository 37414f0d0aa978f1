import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverPacks, type Problem, TrailblazeError } from "../../src/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";

async function failureOf(cwd: string): Promise<Problem> {
  try {
    await discoverPacks({ cwd });
  } catch (error) {
    if (error instanceof TrailblazeError) return error.problem;
    throw error;
  }
  throw new Error("the config was accepted");
}

const withConfig = (file: string, content: unknown) =>
  makeTree({
    "package.json": { name: "app", dependencies: { notes: "*" } },
    "node_modules/notes/package.json": packManifest("notes"),
    [file]: content,
  });

describe("an invalid config", () => {
  test.each([
    ["trailblaze.config.yaml", "packs:\n  deny:\n    - ok\n    - 5\n", 4, 7, /number/],
    ["trailblaze.config.yaml", "packs:\n  allow: [a\n", 3, 1, /YAML/],
    ["trailblaze.config.json", '{\n  "packs": {\n    "deny": ["a", null]\n  }\n}', 3, 19, /null/],
    ["trailblaze.config.json", "", 1, 1, /empty/],
  ])("%s: %j ends discovery with an error at %i:%i", async (file, content, line, column, words) => {
    const problem = await failureOf(withConfig(file, content));
    expect(problem).toMatchObject({ code: "InvalidConfig", severity: "error", file, line, column });
    expect(problem.args).toMatchObject({ reason: expect.stringMatching(words) });
    expect(problem.message.length).toBeLessThan(300);
  });

  test("a config with an unsupported file name ends discovery, because it may deny something", async () => {
    expect(await failureOf(withConfig("trailblaze.config.yml", "packs: { deny: [notes] }"))).toMatchObject({
      code: "InvalidConfig",
      file: "trailblaze.config.yml",
      args: { hint: expect.stringContaining("trailblaze.config.yaml") },
    });
  });

  // Each of these fits no pack: taken for a rule, it would let in what somebody believes shut out.
  test.each(["a/b/c/d", "!acme/jira"])(
    "the pattern %j ends discovery with an error at its place",
    async (pattern) => {
      const problem = await failureOf(
        withConfig("trailblaze.config.json", { packs: { deny: ["a", pattern] } }),
      );
      expect(problem).toMatchObject({
        code: "InvalidConfig",
        path: ["packs", "deny", 1],
        line: 5,
        column: 7,
      });
      const reason = expect.stringContaining(`"${pattern}"`);
      expect(problem.args).toMatchObject({ reason, hint: expect.any(String) });
    },
  );

  test.each<[string, (path: string) => void]>([
    ["a folder", (path) => mkdirSync(path)],
    ["a named pipe", makeFifo],
    ["a dangling link", (path) => makeLink("nowhere.yaml", path)],
  ])("%s in place of the config ends discovery without waiting", async (_what, make) => {
    const root = makeTree({ "package.json": { name: "app" } });
    make(join(root, "trailblaze.config.yaml"));
    expect((await failureOf(root)).code).toBe("InvalidConfig");
  });
});

describe("a valid config", () => {
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
});
