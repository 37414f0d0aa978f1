import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { skillEntry } from "@modelcontextprotocol/server/ext/skills";
import { describe, expect, test } from "vitest";
import { inspectionPort as port } from "../../src/files/node-inspection-port.ts";
import { findSkills } from "../../src/skills/find-skills.ts";
import { readSkill } from "../../src/skills/read-skill.ts";
import { findSkillFault } from "../../src/skills/skill-entry.ts";
import { makeTree } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";

const skillText = (name: string, more = "") => `---\nname: ${name}\ndescription: Do it.\n${more}---\nText\n`;
const find = (location: string, isDependency = true) => findSkills(port, location, { isDependency });
const foldersOf = (location: string, isDependency = true) =>
  find(location, isDependency).map(({ folder }) => folder);

/** Reads the skill `triage` of a package with these files in its folder. */
async function readFiles(
  files: Readonly<Record<string, unknown>>,
  change?: (folder: string) => void,
  name = "triage",
) {
  const folder = `skills/${name}`;
  const tree = Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]);
  const location = makeTree(Object.fromEntries(tree));
  change?.(join(location, folder));
  const skill = { name, path: name, folder };
  return readSkill(port, { location, name: "@acme/jira" }, skill);
}

describe("finding skills", () => {
  test("folders of skills are found in order, nested ones too, and links and hidden folders are passed over", () => {
    const location = makeTree({
      "skills/z/SKILL.md": "",
      "skills/z/inner/SKILL.md": "",
      "skills/engineering/triage/SKILL.md": "",
      "skills/a/b/c/SKILL.md": "",
      "skills/a/b/c/d/SKILL.md": "",
      "skills/.hidden/SKILL.md": "",
      "skills/folder/SKILL.md/x": "",
      "skills/SKILL.md": "",
      ".agents/skills/review/SKILL.md": "",
      ".agents/skills/review/deeper/SKILL.md": "",
      ".agents/skills/group/other/SKILL.md": "",
      "elsewhere/SKILL.md": "",
    });
    makeLink(join(location, "elsewhere"), join(location, "skills/linked"));
    const own = ["skills/a/b/c", "skills/engineering/triage", "skills/z", "skills/z/inner"];
    expect(foldersOf(location)).toEqual([...own, ".agents/skills/review", ".agents/skills/review/deeper"]);
    expect(foldersOf(location, false)).toEqual(own);
    const linked = makeTree({});
    makeLink(join(location, "skills"), join(linked, "skills"));
    expect(foldersOf(linked)).toEqual([]);
  });

  test("those of one name are in the order that counts, and after 1,000 folders no more are read", () => {
    const location = makeTree({
      "skills/b/triage/SKILL.md": "",
      "skills/a/triage/SKILL.md": "",
      ".agents/skills/triage/SKILL.md": "",
    });
    expect(find(location)[0]).toEqual({ name: "triage", path: "a/triage", folder: "skills/a/triage" });
    expect(foldersOf(location).slice(1)).toEqual(["skills/b/triage", ".agents/skills/triage"]);
    for (let index = 0; index < 1100; index += 1)
      mkdirSync(join(location, "skills/a0", `x${index}`), { recursive: true });
    expect(foldersOf(location)).toEqual(["skills/a/triage"]);
  });

  test("a package without skills costs two look-ups", () => {
    const location = makeTree({ "index.js": "" });
    const calls: string[] = [];
    const counted = {
      exists: (path: string) => calls.push(path) < 0,
      listDirectory: () => expect.unreachable(),
      realPath: () => expect.unreachable(),
    };
    expect(findSkills(counted, location, { isDependency: true })).toEqual([]);
    expect(calls).toHaveLength(2);
  });
});

describe("reading skills", () => {
  test("a skill has its front matter as clients parse it, and the digests of its files", async () => {
    const text = skillText(
      "triage",
      "metadata:\n  version: '1'\nlicense: MIT\nallowed-tools: [Read, 1.50]\n",
    );
    const files = {
      "SKILL.md": text,
      "references/guide.md": "Guide\n",
      "inner/SKILL.md": "no front matter",
      "data.bin": new Uint8Array([255, 0]),
      ".hidden": "x",
    };
    const skill = await readFiles(files);
    const { ".hidden": _, ...visible } = files;
    const entry = await skillEntry("acme/jira/triage", visible);
    expect(skill).toMatchObject({ name: "triage", text, entry });
    expect(skill.files).toContainEqual({
      path: "references/guide.md",
      size: 6,
      digest: `sha256-${createHash("sha256").update("Guide\n").digest("base64")}`,
    });
  });

  const big = new Uint8Array(9 << 20);
  const many = Object.fromEntries(Array.from({ length: 512 }, (_, index) => [`f${index}`, ""]));
  test.each<[string, Readonly<Record<string, unknown>>, object?]>([
    ["without front matter", { "SKILL.md": "Text" }, { line: 1 }],
    ["anchors", { "SKILL.md": skillText("triage", "metadata: &a\n  b: c\n") }, { line: 4 }],
    ["a list", { "SKILL.md": "---\n- a\n---\n" }, { line: 2 }],
    ["another name", { "SKILL.md": skillText("other") }],
    ["no description", { "SKILL.md": "---\nname: triage\n---\n" }],
    ["a long description", { "SKILL.md": `---\nname: triage\ndescription: ${"x".repeat(1025)}\n---\n` }],
    ["compatibility", { "SKILL.md": skillText("triage", `compatibility: ${"x".repeat(501)}\n`) }],
    ["metadata", { "SKILL.md": skillText("triage", "metadata:\n  a: 1\n") }],
    ["bytes that are not UTF-8", { "SKILL.md": new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff]) }],
    ["more than 1 MiB", { "SKILL.md": skillText("triage") + "x".repeat(1 << 20) }],
    ["more than 16 MiB", { "SKILL.md": skillText("triage"), a: big, b: big }],
    ["more than 512 files", { "SKILL.md": skillText("triage"), ...many }],
  ])("%s is invalid", async (_, files, place = {}) => {
    await expect(readFiles(files)).rejects.toMatchObject({
      problem: {
        ...{ code: "InvalidSkill", severity: "error" },
        ...{ file: "skills/triage/SKILL.md", hint: expect.any(String), ...place },
      },
    });
  });

  test("a name has 1 to 64 lower-case letters, digits and single hyphens inside", async () => {
    const read = (name: string) => readFiles({ "SKILL.md": skillText(name) }, undefined, name);
    for (const name of ["a", "a-1", "x".repeat(64)]) expect(await read(name)).toMatchObject({ name });
    for (const name of ["-a", "a-", "a--b", "A", "a_b", "x".repeat(65)])
      await expect(read(name)).rejects.toMatchObject({ code: "InvalidSkill" });
  });

  test("links, pipes and vanished files make a skill invalid", async () => {
    const files = { "SKILL.md": skillText("triage"), "a.md": "" };
    const refused = (file: string, change: (folder: string) => void) =>
      expect(readFiles(files, change)).rejects.toMatchObject({
        problem: { code: "InvalidSkill", file: `skills/triage/${file}` },
      });
    await refused("b.md", (folder) => makeLink(join(folder, "a.md"), join(folder, "b.md")));
    await refused("again", (folder) => makeLink(folder, join(folder, "again")));
    await refused("pipe", (folder) => makeFifo(join(folder, "pipe")));
    await refused("SKILL.md", (folder) => rmSync(folder, { recursive: true }));
  });
});

describe("entries of servers", () => {
  const file = (path: string, size = 1) => ({
    uri: `skill://code/${path}`,
    digest: `sha256:${"0".repeat(64)}`,
    size,
  });
  const front = { name: "triage", description: "Do it." };
  const entry = {
    uri: "skill://code/triage/SKILL.md",
    frontmatter: { ...front, metadata: { a: "b" }, license: "MIT" },
    resources: [file("triage/SKILL.md"), file("triage/docs/a%20b.md")],
  };
  const listing = (...paths: string[]) => ({ resources: paths.map((path) => file(path)) });

  test("those that clients take have no fault", () => {
    expect(findSkillFault(entry)).toBeUndefined();
    expect(findSkillFault({ ...entry, resources: "dynamic" })).toBeUndefined();
  });

  test.each<[object, string]>([
    [{ uri: "skill://code/other/SKILL.md" }, "URI"],
    [{ uri: "skill://../triage/SKILL.md" }, "URI"],
    [{ uri: "skill://code/triage/SKILL.md?x" }, "URI"],
    [{ uri: "code/triage/SKILL.md" }, "URI"],
    [{ uri: "skill://code/Triage/SKILL.md", frontmatter: { ...front, name: "Triage" } }, "name"],
    [{ frontmatter: { ...front, description: "x".repeat(1025) } }, "description"],
    [{ frontmatter: { ...front, compatibility: "x".repeat(501) } }, "compatibility"],
    [{ frontmatter: { ...front, metadata: { a: 1 } } }, "metadata"],
    [{ frontmatter: JSON.parse('{ "name": "triage", "description": "Do it.", "__proto__": 1 }') }, "key"],
    [listing("triage/a.md"), "SKILL.md"],
    [listing("triage/SKILL.md", "triage/SKILL.md"), "twice"],
    [listing("triage/SKILL.md", "other/a.md"), "outside"],
    [listing("triage/SKILL.md", "triage/%2e%2e/a.md"), "outside"],
    [listing("triage/SKILL.md", ...Array.from({ length: 512 }, (_, at) => `triage/${at}`)), "more files"],
    [{ resources: [file("triage/SKILL.md", (16 << 20) + 1)] }, "more files"],
  ])("%j is refused", (changes, words) => {
    expect(findSkillFault({ ...entry, ...changes })).toContain(words);
  });
});
