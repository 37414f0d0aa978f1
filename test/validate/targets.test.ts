import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DiscoveredPack } from "../../src/discovery/types.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const makeProject = () =>
  makeTree({
    "package.json": packManifest("app"),
    "empty/readme.txt": "",
    "esm/package.json": { type: "module" },
    "esm/index.js": "",
    "other/package.json": packManifest("other"),
    "node_modules/empty-pack/package.json": packManifest("empty-pack"),
  });

describe("folders without package.json", () => {
  test("validating a folder without package.json rejects with ProjectNotFound", async () => {
    const cwd = makeProject();
    await expect(validateExtension("empty", { cwd })).rejects.toMatchObject({
      code: "ProjectNotFound",
      problem: { args: { directory: join(cwd, "empty"), exists: true } },
    });
  });

  test("in a folder without package.json, only the target . means the project around it", async () => {
    const cwd = join(makeProject(), "empty");
    expect(await validateExtension(".", { cwd })).toMatchObject({ pack: "app", ok: true });
    await expect(validateExtension("./", { cwd })).rejects.toMatchObject({ code: "ProjectNotFound" });
  });

  test("the command validate exits with 1 if its target does not exist", async () => {
    const { stdout, exitCode } = await runMain(["validate", "no/such/folder", "--json"], {
      cwd: makeProject(),
    });
    const message = expect.stringMatching(/^Folder ".*folder" does not exist\.$/);
    expect(JSON.parse(stdout).error).toMatchObject({ code: "ProjectNotFound", message });
    expect(exitCode).toBe(1);
  });
});

test("validating a folder whose package.json has only `type` reports NoExtension", async () => {
  const report = await validateExtension("./esm", { cwd: makeProject() });
  expect(report).toMatchObject({ ok: false, pack: null, version: null });
  expect(report.problems).toMatchObject([{ code: "NoExtension", file: "package.json", line: 1 }]);
  expect(report.problems[0]).not.toHaveProperty("pack");
});

test.each([
  [{ workspaces: ["packages/*"] }, {}],
  [{}, { "pnpm-workspace.yaml": "packages: ['packages/*']\n" }],
])("the root of a workspace without the field leads to --workspaces: %j", async (fields, files) => {
  const cwd = makeTree({ "package.json": { name: "root", private: true, ...fields }, ...files });
  const { problems } = await validateExtension(".", { cwd });
  expect(problems).toMatchObject([
    { code: "NoExtension", hint: expect.stringContaining("trailblaze validate --workspaces") },
  ]);
});

test("an item is no target: its pack is", async () => {
  const cwd = makeTree({
    "package.json": packManifest("app"),
    "node_modules/@acme/jira/package.json": packManifest("@acme/jira", { trailblaze: { tools: ["issue"] } }),
  });
  const args = { reason: expect.stringMatching(/\bitem\b/), hint: "Pass its pack, @acme/jira." };
  await expect(validateExtension("acme/jira/issue", { cwd })).rejects.toMatchObject({
    code: "InvalidArguments",
    problem: { args },
  });
});

test.each([
  ["self", "InvalidPackageManifest"],
  ["transitive", "MalformedPackageJson"],
])(
  "unknown keys and a name that npm does not allow are errors in a pack that is %s",
  async (origin, ofName) => {
    const location = makeTree({ "package.json": { ...packManifest("A b"), trailblaze: { tool: [] } } });
    const { problems } = await validateExtension({ location, origin, name: "a-b" } as DiscoveredPack);
    const errors = problems.filter(({ severity }) => severity === "error").map(({ code }) => code);
    expect(errors.sort()).toEqual([ofName, "UnknownExtensionKey"]);
  },
);
