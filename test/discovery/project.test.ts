import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { failureOf } from "../support/failure-of.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeLink } from "../support/special-files.ts";

const installed = {
  "node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
};
const project = { "package.json": { name: "app", dependencies: { "@acme/jira": "^1.0.0" } }, ...installed };

describe("finding the project", () => {
  test("the project is the folder of the nearest package.json", async () => {
    const root = makeTree(project);
    mkdirSync(join(root, "src/deep/er"), { recursive: true });
    for (const cwd of [root, join(root, "src"), join(root, "src/deep/er")]) {
      const found = await discoverPacks({ cwd });
      expect(found.project).toBe(root);
      expect(describeOrigins(found.packs)).toEqual(["@acme/jira@1.0.0 direct enabled"]);
    }
  });

  test("a package.json that holds only `type` does not make its folder a project", async () => {
    const root = makeTree({
      ...project,
      "dist/esm/package.json": { type: "module" },
      "dist/package.json": { type: "commonjs" },
    });
    expect((await discoverPacks({ cwd: join(root, "dist/esm") })).project).toBe(root);
  });

  test.each([{ type: "module", name: "inner" }, { type: "module", private: true }, { name: "inner" }])(
    "a package.json with %j makes its folder a project",
    async (manifest) => {
      const root = makeTree({ ...project, "inner/package.json": manifest });
      expect((await discoverPacks({ cwd: join(root, "inner") })).project).toBe(join(root, "inner"));
    },
  );

  test("the search starts in the process's folder by default, and a relative folder is relative to it", async () => {
    const root = makeTree(project);
    mkdirSync(join(root, "src"));
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(join(root, "src"));
    onTestFinished(() => {
      cwd.mockRestore();
    });
    expect((await discoverPacks()).project).toBe(root);
    expect((await discoverPacks({})).project).toBe(root);
    expect((await discoverPacks({ cwd: ".." })).project).toBe(root);
    expect((await discoverPacks({ cwd: relative(process.cwd(), root) })).project).toBe(root);
  });

  test("the nearest package.json makes a project even if it is broken, and its declared dependencies are unknown", async () => {
    const root = makeTree({ "package.json": { name: "outer" }, "app/package.json": "{ broken" });
    makeLink(join(makeTree(installed), "node_modules"), join(root, "app/node_modules"));
    const found = await discoverPacks({ cwd: join(root, "app") });
    expect(found.project).toBe(join(root, "app"));
    expect(found.problems).toEqual([
      expect.objectContaining({ code: "MalformedPackageJson", severity: "error", line: 1 }),
    ]);
    expect(found.packs).toEqual([]);
  });
});

test("the error for a project of Deno without package.json says how to install packages", async () => {
  const root = makeTree({ "deno.json": "{}", "a/readme.txt": "" });
  const problem = await failureOf(discoverPacks({ cwd: join(root, "a") }));
  expect(problem).toMatchObject({ code: "ProjectNotFound", args: { denoFile: join(root, "deno.json") } });
  expect(problem.hint).toContain('"nodeModulesDir": "auto"');
});
