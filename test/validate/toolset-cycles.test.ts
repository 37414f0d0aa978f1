import { expect, test } from "vitest";
import { createInspectionPorts } from "../../src/inspection/inspection-ports.ts";
import { validateTarget } from "../../src/validate/validate-target.ts";
import { packManifest } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";
import { makePack, toolset } from "./validate-tree.ts";

/** The toolsets that each toolset of a pack lists. */
type Lists = Readonly<Record<string, readonly string[]>>;

const definitionsOf = (lists: Lists) =>
  Object.fromEntries(Object.entries(lists).map(([name, toolsets]) => [name, toolset(name, { toolsets })]));

/** An installed pack with the definitions of its toolsets in the given file. */
const installed = (pack: string, lists: Lists, file = "toolsets.json"): Tree => {
  const definitions = JSON.stringify(definitionsOf(lists));
  return {
    [`node_modules/${pack}/package.json`]: packManifest(pack, {
      trailblaze: { toolsets: Object.keys(lists) },
    }),
    [`node_modules/${pack}/trailblaze/${file}`]: file.endsWith(".mjs")
      ? `export default ${definitions};`
      : definitions,
  };
};

/** Validates a pack with these toolsets. Returns all its problems, and the definition files of other packs that were read. */
async function validateToolsets(lists: Lists, others: Tree = {}) {
  const folder = makePack({
    extension: { toolsets: Object.keys(lists) },
    files: { "trailblaze/toolsets.json": definitionsOf(lists), ...others },
    fields: { dependencies: { "@globex/text": "^1.0.0" } },
  });
  const ports = createInspectionPorts();
  const read: string[] = [];
  const port: typeof ports.port = {
    ...ports.port,
    readFile(packageRoot, path, limit) {
      if (packageRoot !== folder) read.push(`${packageRoot.split("node_modules/").at(-1)}/${path}`);
      return ports.port.readFile(packageRoot, path, limit);
    },
  };
  const { report } = await validateTarget(folder, {}, { ...ports, port });
  return { problems: report.problems, read };
}

/** The reported cycles, each with the place of the reference that closes it. */
async function findCycles(lists: Lists, others: Tree = {}): Promise<string[]> {
  const { problems } = await validateToolsets(lists, others);
  return problems.flatMap(({ code, severity, item, path, args }) => {
    if (code !== "ReferenceCycle") return [];
    expect(severity).toBe("error");
    return `${item}.${path?.join(".")}: ${"cycle" in args ? args.cycle.join(" → ") : ""}`;
  });
}

test.each([
  ["a chain of toolsets", { a: ["b"], b: ["c"], c: [] }],
  ["two ways to one toolset", { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }],
  ["a toolset that lists another one twice", { a: ["b", "b"], b: [] }],
])("validate reports no cycle for %s", async (_what, lists) => {
  expect(await findCycles(lists)).toEqual([]);
});

test("validate reports a toolset that contains itself", async () => {
  expect(await findCycles({ a: ["a"] })).toEqual(["a.toolsets.0: a → a"]);
});

test("validate reports two toolsets that contain each other, by short or by qualified name", async () => {
  expect(await findCycles({ a: ["b"], b: ["a"] })).toEqual(["b.toolsets.0: a → b → a"]);
  const qualified = { a: ["@acme/sample/b"], b: ["acme/sample@^1.0.0/a"] };
  expect(await findCycles(qualified)).toEqual(["b.toolsets.0: a → b → a"]);
});

test("a reported cycle excludes the toolsets that only lead to it", async () => {
  const lists = { start: ["a"], a: ["b"], b: ["c"], c: ["a"] };
  expect(await findCycles(lists)).toEqual(["c.toolsets.0: a → b → c → a"]);
});

test("validate reports several cycles in one run, each once", async () => {
  const lists = { a: ["b", "a"], b: ["a"], c: ["d"], d: ["c"] };
  expect(await findCycles(lists)).toEqual([
    "b.toolsets.0: a → b → a",
    "a.toolsets.1: a → a",
    "d.toolsets.0: c → d → c",
  ]);
});

test("validate follows a chain of thousands of toolsets without running out of stack", async () => {
  const last = 5000;
  const names = Array.from({ length: last + 1 }, (_, index) => `s${index}`);
  const next = (index: number) => [`s${index === last ? 0 : index + 1}`];
  const found = await findCycles(Object.fromEntries(names.map((name, index) => [name, next(index)])));
  expect(found).toHaveLength(1);
});

test("validate reports a cycle through a toolset of another pack at the pack's own reference", async () => {
  const others = installed("@globex/text", { formatting: ["acme/sample/a"] });
  expect(await findCycles({ a: ["globex/text/formatting"] }, others)).toEqual([
    "a.toolsets.0: a → globex/text/formatting → a",
  ]);
  expect(await findCycles({ a: ["b"], b: ["@globex/text@^1/formatting"] }, others)).toEqual([
    "b.toolsets.0: a → b → globex/text/formatting → a",
  ]);
});

test("validate reports a cycle through several packs and several toolsets of one pack", async () => {
  const others = {
    ...installed("@globex/text", { formatting: ["inner"], inner: ["initech/files/all"] }),
    ...installed("@initech/files", { all: ["acme/sample/b"] }),
  };
  expect(await findCycles({ a: ["globex/text/formatting"], b: ["a"] }, others)).toEqual([
    "b.toolsets.0: a → globex/text/formatting → globex/text/inner → initech/files/all → b → a",
  ]);
});

test("validate reports a cycle through another pack that also leads into a cycle of its own", async () => {
  const others = installed("@globex/text", { x: ["y", "acme/sample/b"], y: ["x"] });
  expect(await findCycles({ a: ["globex/text/x"], b: ["globex/text/y"] }, others)).toEqual([
    "b.toolsets.0: b → globex/text/y → globex/text/x → b",
  ]);
});

test("validate follows a chain of thousands of toolsets of another pack", async () => {
  const last = 5000;
  const lists = Object.fromEntries(
    Array.from({ length: last + 1 }, (_, index) => [
      `s${index}`,
      [index === last ? "acme/sample/a" : `s${index + 1}`],
    ]),
  );
  const [found, ...more] = await findCycles({ a: ["globex/text/s0"] }, installed("@globex/text", lists));
  expect(more).toEqual([]);
  expect(found).toMatch(
    /^a\.toolsets\.0: a → globex\/text\/s0 → .* → \(\d+ others\) → .* → globex\/text\/s5000 → a$/,
  );
});

test("validate reports cycles between thousands of toolsets of two packs, as far as its limit on steps allows", async () => {
  const count = 2000;
  const own: Record<string, string[]> = {};
  const others: Record<string, string[]> = {};
  for (let index = 0; index < count; index++) {
    own[`a${index}`] = [`globex/text/s${index}`];
    others[`s${index}`] = [`s${(index + 1) % count}`, `acme/sample/a${index}`];
  }
  const found = await findCycles(own, installed("@globex/text", others));
  expect(found).toContain("a0.toolsets.0: a0 → globex/text/s0 → a0");
});

test("validate does not report a cycle of other packs that excludes the pack's own toolsets", async () => {
  const others = {
    ...installed("@globex/text", { formatting: ["initech/files/all"], self: ["self"] }),
    ...installed("@initech/files", { all: ["globex/text/formatting", "globex/text/self"] }),
  };
  expect(await findCycles({ a: ["globex/text/formatting"] }, others)).toEqual([]);
});

test.each<[string, Tree]>([
  ["is not installed", {}],
  [
    "has an invalid package.json",
    { ...installed("@globex/text", { formatting: [] }), "node_modules/@globex/text/package.json": "{" },
  ],
  [
    "has an invalid definition file",
    {
      ...installed("@globex/text", { formatting: [] }),
      "node_modules/@globex/text/trailblaze/toolsets.json": "{",
    },
  ],
  ["has no such toolset", installed("@globex/text", { other: ["acme/sample/a"] })],
  [
    "refers to missing packs and toolsets",
    installed("@globex/text", { formatting: ["missing", "none/such/one", "acme/sample/none", "no name"] }),
  ],
])("validate reports no cycle for a toolset of another pack that %s", async (_what, others) => {
  expect(await findCycles({ a: ["globex/text/formatting"] }, others)).toEqual([]);
});

test("problems of another pack's definitions are not problems of the pack that refers to them", async () => {
  const others = {
    ...installed("@globex/text", { formatting: [] }),
    "node_modules/@globex/text/trailblaze/toolsets.json": "{",
  };
  const { problems } = await validateToolsets({ a: ["globex/text/formatting"] }, others);
  const { problems: without } = await validateToolsets({ a: [] }, others);
  expect(problems).toEqual(without);
});

test("validate does not evaluate definitions of other packs that are code to find a cycle", async () => {
  const others = installed("@globex/text", { formatting: ["acme/sample/a"] }, "toolsets.mjs");
  expect(await validateToolsets({ a: ["globex/text/formatting"] }, others)).toMatchObject({
    problems: expect.not.arrayContaining([expect.objectContaining({ code: "ReferenceCycle" })]),
    read: [],
  });
});

test("validate reads definitions only of the packs that the pack's own toolsets include", async () => {
  const others = {
    ...installed("@globex/text", { formatting: ["initech/files/all"] }),
    ...installed("@initech/files", { all: [] }),
    ...installed("@umbrella/unused", { unused: ["acme/sample/a"] }),
  };
  const included = await validateToolsets({ a: ["b", "globex/text/formatting"], b: [] }, others);
  expect(included.read).toEqual([
    "@globex/text/trailblaze/toolsets.json",
    "@initech/files/trailblaze/toolsets.json",
  ]);
  expect((await validateToolsets({ a: ["b", "acme/sample/b"], b: ["missing"] }, others)).read).toEqual([]);
});
