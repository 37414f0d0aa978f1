import { join } from "node:path";
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

describe("a field with something wrong in it", () => {
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

  test("leaves the pack listed with what is right, and says of each fault where it is", async () => {
    const { packs, problems } = await discoverPacks({ cwd: makeProject(text) });
    expect(problems).toEqual([]);
    expect(packs.map(({ name }) => name)).toEqual(["broken", "zebra"]);
    const [broken] = packs;
    expect(broken?.tools.map(({ name }) => name)).toEqual(["good", "b"]);
    expect(broken?.enabled).toBe(true);
    expect(
      broken?.problems.map(({ code, severity, pack, file, line, column }) => [
        code,
        severity,
        pack,
        file,
        line,
        column,
      ]),
    ).toEqual([
      ["UnknownExtensionKey", "warning", "broken", "package.json", 7, 5],
      ["InvalidItemName", "error", "broken", "package.json", 5, 23],
      ["InvalidDeclaration", "error", "broken", "package.json", 5, 34],
      ["UnknownExtensionKey", "warning", "broken", "package.json", 5, 56],
      ["DuplicateDeclaration", "error", "broken", "package.json", 5, 71],
      ["InvalidItemName", "error", "broken", "package.json", 5, 79],
      ["MalformedExtension", "error", "broken", "package.json", 6, 5],
    ]);
  });

  test.each([[null], [[]], ["tools"], [5], [false]])(
    "that is %j is reported at the field's place",
    async (trailblaze) => {
      const { packs } = await discoverPacks({ cwd: makeProject(packManifest("broken", { trailblaze })) });
      expect(describeOrigins(packs)).toEqual(["broken@1.0.0 direct disabled", "zebra@1.0.0 direct enabled"]);
      expect(packs[0]?.problems).toEqual([
        expect.objectContaining({
          code: "MalformedExtension",
          severity: "error",
          path: [],
          line: 10,
          column: 3,
        }),
      ]);
    },
  );

  test("is reported without any byte that acts on a terminal", async () => {
    const name = "\u001b[31mred\u0007\u202e\u0000";
    const manifest = packManifest("broken", {
      trailblaze: { [name]: [], tools: [name, { name }, [name, name], { name: "a", [name]: 1 }] },
    });
    const { packs } = await discoverPacks({ cwd: makeProject(manifest) });
    const found = packs[0]?.problems ?? [];
    expect(found.map(({ code }) => code)).toEqual([
      "UnknownExtensionKey",
      "InvalidItemName",
      "InvalidItemName",
      "InvalidItemName",
      "UnknownExtensionKey",
    ]);
    for (const { message, hint = "" } of found) expect(message + hint).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test("so often that it fills the file takes seconds, not hours", { timeout: 60_000 }, async () => {
    const tools = Array.from({ length: 40_000 }, (_, index) => `../${index}`);
    const { packs } = await discoverPacks({
      cwd: makeProject(JSON.stringify(packManifest("broken", { trailblaze: { tools } }))),
    });
    expect(packs.map(({ name }) => name)).toEqual(["broken", "zebra"]);
    expect(packs[0]?.problems.length).toBeGreaterThan(0);
  });

  test("by keys that nobody knows, as many as fit, takes seconds, not hours", {
    timeout: 60_000,
  }, async () => {
    const trailblaze = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`key${index}`, 1]));
    await discoverPacks({ cwd: makeProject(JSON.stringify(packManifest("broken", { trailblaze }))) });
  });

  test("does no harm by names that every object has", async () => {
    const manifest = `{"name": "broken", "version": "1.0.0", "__proto__": {"trailblaze": {"tools": ["ghost"]}, "polluted": 1},
      "constructor": {"prototype": {"polluted": 1}},
      "trailblaze": {"__proto__": {"tools": ["ghost"]}, "tools": [{"name": "a", "__proto__": {"polluted": 1}}, "toString"]}}`;
    const { packs } = await discoverPacks({ cwd: makeProject(manifest) });
    expect(packs[0]?.tools.map(({ name }) => name)).toEqual(["a", "toString"]);
    expect({}).not.toHaveProperty("polluted");
  });

  test("that only stands in __proto__ is no field", async () => {
    const manifest =
      '{"name": "broken", "version": "1.0.0", "__proto__": {"trailblaze": {"tools": ["ghost"]}}}';
    const { packs, problems } = await discoverPacks({ cwd: makeProject(manifest) });
    expect(packs.map(({ name }) => name)).toEqual(["zebra"]);
    expect(problems).toEqual([]);
  });
});

describe("a package's name that npm does not allow", () => {
  const names = [
    "../../evil",
    "a/b",
    "..",
    "@acme",
    "@acme/..",
    "",
    "a b",
    "\u001b[31m",
    "a\n",
    "__proto__",
    ".hidden",
    5,
    null,
    {},
    ["x"],
  ];

  test.each(names.map((name) => [name]))(
    "%j of a declared dependency is an error; the pack goes by the name it is installed under",
    async (name) => {
      const { packs, problems } = await discoverPacks({
        cwd: makeProject({ ...packManifest("x", { trailblaze: { tools: ["a"] } }), name }),
      });
      expect(packs.map((pack) => [pack.name, pack.qualifiedName])).toEqual([
        ["broken", "broken"],
        ["zebra", "zebra"],
      ]);
      expect(packs[0]?.tools[0]?.qualifiedName).toBe("broken/a");
      const found = [...problems, ...(packs[0]?.problems ?? [])];
      expect(found).toEqual([
        expect.objectContaining({
          code: "MalformedPackageJson",
          severity: "error",
          pack: "broken",
          file: "package.json",
        }),
      ]);
    },
  );

  test("of a package that nobody declared is a warning", async () => {
    const { packs } = await discoverPacks({
      cwd: makeProject({ ...packManifest("x"), name: "../evil" }, { zebra: "*" }),
    });
    expect(packs[0]?.problems).toEqual([
      expect.objectContaining({ code: "MalformedPackageJson", severity: "warning", pack: "broken" }),
    ]);
  });

  test.each([["../evil"], ["a b"], [5], ["@acme"]])(
    "%j of the project itself is an error as well",
    async (name) => {
      const root = makeTree({ "pack/package.json": { ...packManifest("x"), name } });
      const { packs, problems } = await discoverPacks({ cwd: join(root, "pack") });
      expect(packs.map((pack) => pack.name)).toEqual(["pack"]);
      expect([...problems, ...(packs[0]?.problems ?? [])]).toEqual([
        expect.objectContaining({ code: "MalformedPackageJson", severity: "error" }),
      ]);
    },
  );

  test("that is missing is reported of an installed package, which npm does not install like that", async () => {
    const { name: _, ...nameless } = packManifest("x");
    const { packs } = await discoverPacks({ cwd: makeProject(nameless) });
    expect(packs.map((pack) => [pack.name, pack.problems.map(({ code }) => code)])).toEqual([
      ["broken", ["MalformedPackageJson"]],
      ["zebra", []],
    ]);
  });
});

describe("other fields of the wrong type", () => {
  test("count as missing", async () => {
    const manifest = packManifest("broken", { version: 5, description: ["x"], engines: "x", keywords: {} });
    const { packs } = await discoverPacks({ cwd: makeProject(manifest) });
    expect(packs[0]).toMatchObject({ name: "broken", version: null, description: null, enabled: true });
  });
});

describe("a field that is there twice", () => {
  const listed = async (text: string) => {
    const root = makeTree({
      "package.json": { name: "app", dependencies: { twice: "*" } },
      "node_modules/twice/package.json": text,
    });
    const { packs } = await discoverPacks({ cwd: root });
    return packs[0];
  };

  test.each([
    ["as it is", '"trailblaze": { "tools": ["b"] }'],
    ["with an escape", '"trail\\u0062laze": { "tools": ["b"] }'],
    ["of no right shape", '"trailblaze": null'],
  ])("is reported, and the last one counts: %s", async (_what, again) => {
    const text = `{ "name": "twice", "version": "1.0.0",\n  "trailblaze": { "tools": ["a"] },\n  ${again} }`;
    const pack = await listed(text);
    const [problem] =
      pack?.problems.filter(({ args }) => "found" in args && args.found.includes("duplicated")) ?? [];
    expect(problem).toMatchObject({
      code: "MalformedExtension",
      path: [],
      line: 3,
      column: 3,
      severity: "error",
      args: { what: expect.stringContaining("trailblaze"), found: expect.stringContaining("duplicated") },
    });
    expect(pack?.tools.map(({ name }) => name)).toEqual(again.includes("null") ? [] : ["b"]);
  });

  test.each([
    '{ "name": "twice", "trailblaze": { "x-trailblaze": { "trailblaze": 1 } }, "engines": { "trailblaze": "*" } }',
    '{ "name": "twice", "description": "\\"trailblaze\\": {", "trailblaze": {}, "dependencies": { "trailblaze": "*" } }',
    '{ "name": "twice", "files": ["trailblaze", "trailblaze"], "trailblaze": {}, "x": [{ "trailblaze": 1 }, "\\u0041,"] }',
  ])("is not what only looks so: %s", async (text) => {
    expect((await listed(text))?.problems).toEqual([]);
  });
});
