import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { formatLock } from "../../src/lock/lock-file.ts";
import { describePacks } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeFifo } from "../support/special-files.ts";

const app = (dependencies: readonly string[], fields: object = {}) => ({
  name: "app",
  dependencies: Object.fromEntries(dependencies.map((name) => [name, "*"])),
  ...fields,
});

describe("packs with skills", () => {
  test("declared packages have skills with and without the field, and no file of a skill is opened", async () => {
    const root = makeTree({
      "package.json": app(["pack", "plain", "none"], { workspaces: ["member"] }),
      "skills/own/SKILL.md": "",
      ".agents/skills/of-agents/SKILL.md": "",
      "member/package.json": { name: "member" },
      "member/skills/mine/SKILL.md": "",
      "node_modules/pack/package.json": packManifest("pack", { trailblaze: { tools: ["a"] } }),
      "node_modules/pack/skills/engineering/triage/x": "",
      "node_modules/plain/package.json": { name: "plain", version: "1.0.0", dependencies: { deep: "*" } },
      "node_modules/plain/.agents/skills/one/SKILL.md": "",
      "node_modules/none/package.json": { name: "none", version: "1.0.0" },
      "node_modules/deep/package.json": { name: "deep", version: "1.0.0" },
      "node_modules/deep/skills/hidden/SKILL.md": "",
    });
    makeFifo(join(root, "node_modules/pack/skills/engineering/triage/SKILL.md"));
    const { packs } = await discoverPacks({ cwd: root, all: true });
    expect(describePacks(packs)).toEqual([
      "app@null self enabled | skills: own",
      "member@null workspace enabled | skills: mine",
      "pack@1.0.0 direct enabled | tools: a | skills: triage",
      "plain@1.0.0 direct approval | skills: one",
    ]);
    expect(packs[2]?.skills).toEqual([
      { name: "triage", qualifiedName: "pack/triage", description: null, path: "engineering/triage" },
    ]);
  });

  test("the field narrows what counts, and describes it", async () => {
    const skills = ["b", ["a", "Does A."], { name: "gone" }];
    const root = makeTree({
      "package.json": app(["some", "empty"]),
      "node_modules/some/package.json": packManifest("some", { trailblaze: { skills } }),
      "node_modules/empty/package.json": packManifest("empty", { trailblaze: { skills: [] } }),
      ...Object.fromEntries(
        [
          "some/skills/a",
          "some/skills/b",
          "some/skills/c",
          "some/skills/x/a",
          "some/skills/x/c",
          "empty/skills/a",
        ].map((folder) => [`node_modules/${folder}/SKILL.md`, ""]),
      ),
    });
    const { packs } = await discoverPacks({ cwd: root });
    expect(describePacks(packs)).toEqual([
      "empty@1.0.0 direct enabled",
      "some@1.0.0 direct enabled | skills: a, b",
    ]);
    expect(packs[1]?.skills[0]).toMatchObject({ name: "a", description: "Does A." });
    expect(packs[1]?.problems).toMatchObject([
      { code: "ShadowedDefinition", severity: "warning", item: "a", file: "skills/x/a/SKILL.md" },
      { code: "MissingDefinitionFile", kind: "skill", item: "gone", file: "skills/gone/SKILL.md", line: 17 },
    ]);
  });

  test("a dependency without the field is enabled when a lock has a skill of it, and the config can exclude it", async () => {
    const root = makeTree({
      "package.json": app(["plain"]),
      "node_modules/plain/package.json": { name: "plain", version: "1.0.0" },
      "node_modules/plain/skills/one/SKILL.md": "",
    });
    const enabled = async () => (await discoverPacks({ cwd: root })).packs[0]?.enabled;
    const writeLock = (plain: object) =>
      writeFileSync(
        join(root, "trailblaze.lock"),
        formatLock({ lockfileVersion: 1, packs: { plain: { surface: "", ...plain } }, servers: {} }),
      );
    expect(await enabled()).toBe("approval");
    writeLock({ denied: ["skill:one"] });
    expect(await enabled()).toBe("approval");
    writeLock({ skills: { one: { description: ["x"] } } });
    expect(await enabled()).toBe(true);
    writeFileSync(join(root, "trailblaze.config.yaml"), "packs: { deny: [plain] }\n");
    expect(await enabled()).toBe(false);
  });
});
