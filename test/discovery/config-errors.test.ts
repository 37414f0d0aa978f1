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
    ["trailblaze.config.yaml", "packs:\n  alow: [a]\n", 2, 3, /alow/],
    ["trailblaze.config.yaml", "packs:\n  allow: acme/*\n", 2, 3, /`packs.allow`.*string/],
    ["trailblaze.config.yaml", "packs:\n  deny:\n    - ok\n    - 5\n", 4, 7, /number/],
    ["trailblaze.config.yaml", "packs:\n  transitive: ['']\n", 2, 16, /empty/],
    ["trailblaze.config.yaml", "device: {}\npacks: [a]\n", 2, 1, /`packs`.*array/],
    ["trailblaze.config.yaml", "- packs\n", 1, 1, /array/],
    ["trailblaze.config.yaml", "packs\n", 1, 1, /string/],
    ["trailblaze.config.yaml", "packs: {}\npacks: {}\n", 2, 1, /packs/],
    ["trailblaze.config.yaml", "packs: {}\n---\npacks: {}\n", 2, 1, /documents/],
    ["trailblaze.config.yaml", "packs:\n  allow: [a\n", 3, 1, /YAML/],
    ["trailblaze.config.yaml", "device: {}\npacks: *mine\n", 2, 8, /alias/i],
    ["trailblaze.config.json", '{\n  "packs": { "alow": [] }\n}', 2, 14, /alow/],
    ["trailblaze.config.json", '{\n  "packs": {\n    "deny": ["a", null]\n  }\n}', 3, 19, /null/],
    ["trailblaze.config.json", '{\n  "packs": }', 2, 12, /JSON/],
    ["trailblaze.config.json", "[]", 1, 1, /array/],
    ["trailblaze.config.json", "", 1, 1, /empty/],
    ["trailblaze.config.json", '{"packs": {"deny": ["a"]},\n "packs": {}}', 2, 2, /"packs"/],
    ["trailblaze.config.yaml", "packs:\n  onError: ignore\n", 2, 3, /skip.*fail/],
    ["trailblaze.config.yaml", "packs:\n  memory: some\n", 2, 3, /all.*none/],
    ["trailblaze.config.yaml", "packs:\n  memory: { 'acme/*': [] }\n", 2, 13, /"acme\/\*"/],
    ["trailblaze.config.yaml", "packs:\n  memory: { a: [], '@a': [] }\n", 2, 20, /"@?a"/],
    ["trailblaze.config.yaml", "packs:\n  memory: { a: token }\n", 2, 13, /string/],
    ["trailblaze.config.yaml", "packs:\n  memory: { a: [1] }\n", 2, 17, /number/],
    ["trailblaze.config.yaml", "packs:\n  autoInstall: x\n", 2, 3, /`packs.autoInstall`.*string/],
    ["trailblaze.config.yaml", "pack:\n  deny: [a]\n", 1, 1, /"pack"/],
    ["trailblaze.config.yaml", "Packs: {}\n", 1, 1, /"Packs"/],
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

  test("a misspelled key of `packs` gets a suggestion", async () => {
    const problem = await failureOf(withConfig("trailblaze.config.yaml", "packs: { alow: [a] }"));
    expect(problem.args).toMatchObject({ hint: expect.stringContaining('"allow"') });
  });

  // Each of these fits no pack: taken for a rule, it would let in what somebody believes shut out.
  test.each([
    "acme//jira",
    "/jira",
    "acme/",
    "@",
    "a/b/c/d",
    "acme/(jira|shop)",
    "acme/{jira,shop}",
    "acme/jira$",
    "acme\\/jira",
    "!acme/jira",
    "acme/jira@^1",
    "acme/jira ",
    "acme/j?ra",
    "@@acme/jira",
  ])("the pattern %j ends discovery with an error at its place", async (pattern) => {
    const problem = await failureOf(
      withConfig("trailblaze.config.json", { packs: { deny: ["a", pattern] } }),
    );
    expect(problem).toMatchObject({ code: "InvalidConfig", path: ["packs", "deny", 1], line: 5, column: 7 });
    const reason = expect.stringContaining(`"${pattern}"`);
    expect(problem.args).toMatchObject({ reason, hint: expect.any(String) });
  });

  test("several errors of a config are one problem, which names the first and counts the others", async () => {
    const config = "packs:\n  memory: 5\n  deny: 5\n  alow: [a]\n";
    const problem = await failureOf(withConfig("trailblaze.config.yaml", config));
    expect(problem).toMatchObject({ line: 2, args: { others: 2 } });
  });

  test("a config of more than 1 MiB ends discovery", async () => {
    const content = `packs: {}\n${"#".repeat(1 << 20)}`;
    expect(await failureOf(withConfig("trailblaze.config.yaml", content))).toMatchObject({
      code: "InvalidConfig",
      file: "trailblaze.config.yaml",
      args: { reason: expect.stringContaining("1048576") },
    });
  });

  test.each([
    ["bytes that are not UTF-8", Uint8Array.from([0x70, 0x3a, 0xff])],
    ["200 levels and one more", `packs: ${"[".repeat(201)}${"]".repeat(201)}`],
    ["aliases that multiply", `a: &a [1]\nb: &b [${"*a,".repeat(90)}]\nc: [${"*b,".repeat(90)}]\n`],
  ])("%s end discovery", async (_, content) => {
    const problem = await failureOf(withConfig("trailblaze.config.yaml", content));
    expect(problem).toMatchObject({ code: "InvalidConfig", file: "trailblaze.config.yaml" });
  });

  test("two config files end discovery", async () => {
    const root = makeTree({
      "package.json": { name: "app" },
      "trailblaze.config.yaml": "packs: {}",
      "trailblaze.config.json": "{}",
    });
    const problem = await failureOf(root);
    expect(problem).toMatchObject({
      code: "InvalidConfig",
      args: { reason: expect.stringMatching(/trailblaze.config.yaml.*trailblaze.config.json/) },
    });
  });

  test("a folder or a named pipe in place of the config ends discovery without waiting", async () => {
    const folder = makeTree({ "package.json": { name: "app" } });
    mkdirSync(join(folder, "trailblaze.config.yaml"));
    expect((await failureOf(folder)).code).toBe("InvalidConfig");

    const pipe = makeTree({ "package.json": { name: "app" } });
    makeFifo(join(pipe, "trailblaze.config.json"));
    expect((await failureOf(pipe)).code).toBe("InvalidConfig");
  });

  test("a config that is a dangling link ends discovery", async () => {
    const root = makeTree({ "package.json": { name: "app" } });
    makeLink("nowhere.yaml", join(root, "trailblaze.config.yaml"));
    expect((await failureOf(root)).code).toBe("InvalidConfig");
  });
});

describe("a valid config", () => {
  test.each([
    ["trailblaze.config.yaml", ""],
    ["trailblaze.config.yaml", "# nothing yet\n"],
    ["trailblaze.config.yaml", "\uFEFFpacks:\n"],
    ["trailblaze.config.yaml", "packs:\n  allow:\n  deny:\n"],
    ["trailblaze.config.json", "{}"],
    ["trailblaze.config.json", '\uFEFF{"packs": null}'],
    ["trailblaze.config.yaml", "x-packs: { deny: [notes] }\npacks: { x-mine: 1 }\n"],
    ["trailblaze.config.yaml", "device: {}\ncrash: no such thing\nunheard: of\n"],
  ])("the config %s, %j, changes nothing", async (file, content) => {
    const { packs } = await discoverPacks({ cwd: withConfig(file, content) });
    expect(packs).toEqual([expect.objectContaining({ name: "notes", enabled: true })]);
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

  test("the config of an installed pack is ignored", async () => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { notes: "*" } },
      "node_modules/notes/package.json": packManifest("notes"),
      "node_modules/notes/trailblaze.config.yaml": "packs: { deny: ['*'] }",
    });
    const { packs } = await discoverPacks({ cwd: root });
    expect(packs).toEqual([expect.objectContaining({ name: "notes", enabled: true })]);
  });
});
