import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { describeOrigins } from "../support/listing.ts";
import { makeTree, packManifest } from "../support/packs.ts";

/** A project with one pack of which nothing is right but that it is there, and a good one. */
const makeProject = (manifest: unknown, dependencies: object = { broken: "*", zebra: "*" }) =>
  makeTree({
    "package.json": { name: "app", dependencies },
    "node_modules/broken/package.json": manifest,
    "node_modules/zebra/package.json": packManifest("zebra"),
  });

describe("a field with errors", () => {
  const text = `{
  "name": "broken",
  "version": "1.0.0",
  "trailblaze": {
    "tools": ["good", "../evil", ["a"], { "name": "b", "colour": 1 }, "Good", "__proto__"],
    "prompts": {},
    "tool": []
  }
}
`;

  test("a pack with errors in its field is listed with its valid items, and each error has its place", async () => {
    const { packs, problems } = await discoverPacks({ cwd: makeProject(text) });
    expect(problems).toEqual([]);
    expect(packs.map(({ name }) => name)).toEqual(["broken", "zebra"]);
    const [broken] = packs;
    expect(broken?.tools.map(({ name }) => name)).toEqual(["good", "b"]);
    expect(broken?.enabled).toBe(true);
    expect(broken?.problems[0]).toMatchObject({ pack: "broken", file: "package.json" });
    expect(
      broken?.problems.map(({ code, severity, line, column }) => `${severity} ${code} ${line}:${column}`),
    ).toEqual([
      "warning UnknownExtensionKey 7:5",
      "error InvalidItemName 5:23",
      "error InvalidDeclaration 5:34",
      "warning UnknownExtensionKey 5:56",
      "error DuplicateDeclaration 5:71",
      "error InvalidItemName 5:79",
      "error MalformedExtension 6:5",
    ]);
  });

  test.each([[null], [[]]])("the field %j is reported at its place", async (trailblaze) => {
    const { packs } = await discoverPacks({ cwd: makeProject(packManifest("broken", { trailblaze })) });
    expect(describeOrigins(packs)).toEqual(["broken@1.0.0 direct disabled", "zebra@1.0.0 direct enabled"]);
    const place = { path: [], line: 10, column: 3 };
    expect(packs[0]?.problems).toMatchObject([{ code: "MalformedExtension", severity: "error", ...place }]);
  });

  test("keys of a field that are named like properties of Object.prototype are harmless", async () => {
    const manifest = `{"name": "broken", "version": "1.0.0", "__proto__": {"trailblaze": {"tools": ["ghost"]}, "polluted": 1},
      "constructor": {"prototype": {"polluted": 1}},
      "trailblaze": {"__proto__": {"tools": ["ghost"]}, "tools": [{"name": "a", "__proto__": {"polluted": 1}}, "toString"]}}`;
    const { packs } = await discoverPacks({ cwd: makeProject(manifest) });
    expect(packs[0]?.tools.map(({ name }) => name)).toEqual(["a", "toString"]);
    expect({}).not.toHaveProperty("polluted");
  });
});

test.each([["../../evil"], ["\u001b[31m"], [5]])(
  "the name %j of a declared dependency is an error, else a warning, and the pack has its installed name",
  async (name) => {
    const manifest = { ...packManifest("x", { trailblaze: { tools: ["a"] } }), name };
    const { packs, problems } = await discoverPacks({ cwd: makeProject(manifest) });
    expect(packs).toMatchObject([
      { name: "broken", qualifiedName: "broken", tools: [{ qualifiedName: "broken/a" }] },
      { name: "zebra" },
    ]);
    expect([...problems, ...(packs[0]?.problems ?? [])]).toMatchObject([
      { code: "MalformedPackageJson", severity: "error", pack: "broken", file: "package.json" },
    ]);
    const others = await discoverPacks({ cwd: makeProject(manifest, {}), all: true });
    expect(others.packs[0]?.problems).toMatchObject([{ code: "MalformedPackageJson", severity: "warning" }]);
  },
);
