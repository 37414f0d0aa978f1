import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const notes = (version: string | undefined) =>
  packManifest("notes", { version, trailblaze: { tools: ["a"] } });

/** A project with one copy of `notes` below each of the packages that are named. */
function makeCopies(
  copies: Readonly<Record<string, string | undefined>>,
  tree: Record<string, unknown> = {},
): string {
  const nested = Object.entries(copies).flatMap(([owner, version]) => [
    [`node_modules/${owner}/package.json`, { name: owner }],
    [`node_modules/${owner}/node_modules/notes/package.json`, notes(version)],
  ]);
  return makeTree({ "package.json": { name: "app" }, ...Object.fromEntries(nested), ...tree });
}

describe("several copies of one pack", () => {
  test("the copy that the project resolves wins, even if it is older and undeclared", async () => {
    const root = makeCopies({ desk: "2.0.0" }, { "node_modules/notes/package.json": notes("1.0.0") });
    const { packs, problems } = await discoverPacks({ cwd: root, all: true });
    expect(describeOrigins(packs)).toEqual([
      "notes@1.0.0 undeclared on demand",
      "notes@2.0.0 undeclared disabled shadowed",
    ]);
    expect(problems).toEqual([]);
    expect(packs[0]?.problems).toEqual([]);
    const location = join(root, "node_modules/notes");
    const args = { name: "notes", version: "2.0.0", winner: "1.0.0", location };
    expect(packs[1]?.problems).toMatchObject([
      { code: "ShadowedPack", severity: "warning", pack: "notes", args },
    ]);
  });

  test.each([
    [{ a: "9.0.0", b: "10.0.0" }, "10.0.0"],
    [{ a: "1.0.0-beta.2", b: "1.0.0-beta.10" }, "1.0.0-beta.10"],
    [{ a: "newest", b: "0.0.1" }, "0.0.1"],
  ])(
    "of the copies %j, none of which the project resolves, the highest version wins: %s",
    async (copies, version) => {
      const { packs } = await discoverPacks({ cwd: makeCopies(copies), all: true });
      expect(packs).toHaveLength(2);
      expect(packs.filter(({ shadowed }) => !shadowed).map((pack) => pack.version)).toEqual([version]);
    },
  );

  test("a shadowed copy is not enabled, whatever the config says", async () => {
    const root = makeCopies(
      { desk: "2.0.0" },
      {
        "package.json": { name: "app", dependencies: { notes: "1" } },
        "node_modules/notes/package.json": notes("1.0.0"),
        "trailblaze.config.yaml": "packs: { allow: [notes], transitive: [notes] }\n",
      },
    );
    expect(describeOrigins((await discoverPacks({ cwd: root, all: true })).packs)).toEqual([
      "notes@1.0.0 direct enabled",
      "notes@2.0.0 transitive disabled shadowed",
    ]);
  });
});
