import { expect, test } from "vitest";
import { toolset, validateTree } from "./validate-tree.ts";

/** The toolsets that each toolset of a pack lists. */
type Lists = Readonly<Record<string, readonly string[]>>;

const definitionsOf = (lists: Lists) =>
  Object.fromEntries(Object.entries(lists).map(([name, toolsets]) => [name, toolset(name, { toolsets })]));

/** The reported cycles of a pack with these toolsets, each with the place of the reference that closes it. */
async function findCycles(lists: Lists): Promise<string[]> {
  const problems = await validateTree(
    {
      extension: { toolsets: Object.keys(lists) },
      files: { "trailblaze/toolsets.json": definitionsOf(lists) },
    },
    ["ReferenceCycle"],
  );
  return problems.map(({ severity, item, path, args }) => {
    expect(severity).toBe("error");
    return `${item}.${path?.join(".")}: ${"cycle" in args ? args.cycle.join(" → ") : ""}`;
  });
}

test("validate reports no cycle for two ways to one toolset", async () => {
  expect(await findCycles({ a: ["b", "c"], b: ["d"], c: ["d"], d: [] })).toEqual([]);
});

test("validate reports two toolsets that contain each other, by short or by qualified name", async () => {
  expect(await findCycles({ a: ["b"], b: ["a"] })).toEqual(["b.toolsets.0: a → b → a"]);
  const qualified = { a: ["@acme/sample/b"], b: ["acme/sample@^1.0.0/a"] };
  expect(await findCycles(qualified)).toEqual(["b.toolsets.0: a → b → a"]);
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
  expect(found).toEqual([expect.stringMatching(/^s5000\.toolsets\.0: s4981 → .* → s5000 → s0$/)]);
});
