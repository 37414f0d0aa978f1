import { describe, expect, test } from "vitest";
import { inspectItem } from "../../src/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeInstalled, validateTree } from "./validate-tree.ts";

const skill = (name: string, text = "") => `---\nname: ${name}\ndescription: Does ${name}.\n---\n${text}\n`;
const codesOf = (problems: readonly { code: string; file?: string; line?: number }[]) =>
  problems.map(({ code, file, line }) => [code, file, line].filter((one) => one !== undefined).join(" "));

describe("skills of a pack under development", () => {
  test("a package with skills is valid without the field, and invalid ones leave the others", async () => {
    const folder = makeTree({
      "package.json": { name: "plain", version: "1.0.0", license: "MIT", description: "Plain." },
      "skills/one/SKILL.md": skill("one"),
      "skills/two/SKILL.md": skill("other"),
    });
    const report = await validateExtension(folder);
    expect(report).toMatchObject({ ok: false, pack: "plain", skills: ["one", "two"] });
    expect(codesOf(report.problems)).toEqual(["InvalidSkill skills/two/SKILL.md"]);
  });

  test("links to missing files, invisible text and files that npm leaves out are found", async () => {
    const links = [
      "[a](guide.md) [b](references//deep/) [c](missing.md#part) [d](../elsewhere.md) [e](https://x.example/y.md)",
      "`[f](code.md)`",
      "```",
      "[g](fenced.md)",
      "```",
      '![h](img/a%20b.png "Title") [i]',
      "",
      "[i]: <gone.md>",
    ].join("\n");
    const problems = await validateTree({
      extension: {},
      fields: { files: ["skills/one/*.md", "skills/one/references"] },
      files: {
        "skills/one/SKILL.md": skill("one", links),
        "skills/one/guide.md": "Hidden\u200b text",
        "skills/one/references/deep/SKILL.md": skill("deep", "a\nb\u202e"),
        "skills/one/img/a b.png": "",
        "skills/one/run.js": "import 'nowhere'; {",
      },
    });
    expect(codesOf(problems).sort()).toEqual([
      "BrokenLink skills/one/SKILL.md 12",
      "BrokenLink skills/one/SKILL.md 5",
      "FileNotPublished skills/one/img/a b.png",
      "FileNotPublished skills/one/run.js",
      "HiddenText skills/one/guide.md 1",
      "HiddenText skills/one/references/deep/SKILL.md 6",
    ]);
    expect(problems.every(({ kind }) => kind === "skill")).toBe(true);
  });
});

test("an installed skill is inspected with its front matter, its files and its text", async () => {
  const text = skill("triage", "Text");
  const cwd = makeInstalled({
    extension: { tools: ["triage"] },
    files: { "skills/work/triage/SKILL.md": text, "skills/work/triage/a.bin": new Uint8Array([255]) },
  });
  const item = await inspectItem("acme/sample/triage", { cwd, kind: "skill" });
  expect(item).toMatchObject({
    kind: "skill",
    definition: { name: "triage", description: "Does triage." },
    path: "work/triage",
    file: "skills/work/triage/SKILL.md",
    files: [
      { path: "SKILL.md", size: text.length, digest: expect.stringMatching(/^sha256-[\w+/]{43}=$/) },
      { path: "a.bin", size: 1, digest: expect.any(String) },
    ],
    text,
  });
  await expect(inspectItem("acme/sample/triage", { cwd })).rejects.toMatchObject({
    code: "AmbiguousName",
  });
  await expect(inspectItem("acme/sample/triag", { cwd, kind: "skill" })).rejects.toMatchObject({
    code: "SkillNotFound",
  });
  const plain = makeTree({
    "package.json": { name: "app", dependencies: { plain: "*" } },
    "node_modules/plain/package.json": { name: "plain" },
    "node_modules/plain/skills/one/SKILL.md": skill("one"),
    "node_modules/other/package.json": packManifest("other"),
  });
  expect((await inspectItem("plain/one", { cwd: plain })).text).toBe(skill("one"));
});
