import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { prompt } from "./validate-tree.ts";

const pack = (folder: string, name: string, declared: readonly string[]) => ({
  [`${folder}/package.json`]: packManifest(name, { trailblaze: { prompts: [...declared] } }),
  [`${folder}/trailblaze/prompts/note.json`]: prompt("note"),
});

const makeWorkspace = () =>
  makeTree({
    "package.json": { name: "root", private: true, workspaces: ["packages/*"] },
    ...pack("packages/broken", "broken", ["note", "missing"]),
    ...pack("packages/good", "good", ["note"]),
    "packages/other/package.json": { name: "other", version: "1.0.0" },
  });

const validate = async (cwd: string, args: readonly string[], env = {}) =>
  runMain(["validate", ...args], { cwd, env: { GITHUB_WORKSPACE: undefined, ...env } });
const names = (document: { reports: { pack: string; ok: boolean }[] }) =>
  document.reports.map(({ pack, ok }) => [pack, ok]);

describe("several targets", () => {
  test("several targets are reported in one document, each as if it were alone", async () => {
    const cwd = makeWorkspace();
    const { stdout, exitCode } = await validate(cwd, ["packages/good", "packages/broken", "--json"]);
    const document = JSON.parse(stdout);
    expect(Object.keys(document)).toEqual(["ok", "reports", "problems"]);
    expect(document).toMatchObject({ ok: false, problems: [] });
    expect(names(document)).toEqual([
      ["good", true],
      ["broken", false],
    ]);
    expect(document.reports[1]).toEqual(
      JSON.parse((await validate(cwd, ["packages/broken", "--json"])).stdout),
    );
    expect(exitCode).toBe(1);
  });

  test("validate reports a missing target and validates the others", async () => {
    const { stdout, exitCode } = await validate(makeWorkspace(), ["./nothing", "packages/good", "--json"]);
    const document = JSON.parse(stdout);
    expect(names(document)).toEqual([["good", true]]);
    expect(document).toMatchObject({ ok: false, problems: [{ code: "ProjectNotFound" }] });
    expect(exitCode).toBe(1);
  });
});

describe("--workspaces", () => {
  test("--workspaces validates the members that have the field, and takes no targets", async () => {
    expect((await validate(makeWorkspace(), ["packages/good", "--workspaces"])).exitCode).toBe(2);
    const { stdout, exitCode } = await validate(makeWorkspace(), ["--workspaces", "--json"]);
    expect(names(JSON.parse(stdout))).toEqual([
      ["broken", false],
      ["good", true],
    ]);
    expect(exitCode).toBe(1);
  });

  test("--workspaces reports a member whose package.json is invalid", async () => {
    const tree = makeTree({
      "package.json": { name: "root", workspaces: ["packages/*"] },
      "packages/bad/package.json": "{",
    });
    const { stdout } = await validate(tree, ["--workspaces", "--json"]);
    expect(JSON.parse(stdout).reports).toMatchObject([{ problems: [{ code: "MalformedPackageJson" }] }]);
  });

  test.each([{ workspaces: ["packages/*"] }, {}])(
    "--workspaces without a member that has the field is NoExtension: %j",
    async (fields) => {
      const tree = makeTree({
        "package.json": { name: "root", ...fields },
        "packages/other/package.json": { name: "other", version: "1.0.0" },
      });
      const { stdout, exitCode } = await validate(tree, ["--workspaces", "--json"]);
      expect(JSON.parse(stdout).error.code).toBe("NoExtension");
      expect(exitCode).toBe(1);
    },
  );
});

describe("paths in annotations", () => {
  const marks = (stdout: string) => stdout.match(/file=([^,]+)/)?.[1];

  test("paths start at GITHUB_WORKSPACE, even for one target and through a symbolic link", async () => {
    const cwd = makeWorkspace();
    const link = join(makeTree({}), "link");
    symlinkSync(cwd, link);
    for (const root of [cwd, link]) {
      const env = { GITHUB_WORKSPACE: root };
      const folder = join(cwd, "packages/broken");
      const github = await validate(folder, ["--format", "github"], env);
      expect(marks(github.stdout)).toBe("packages/broken/package.json");
    }
  });
});
