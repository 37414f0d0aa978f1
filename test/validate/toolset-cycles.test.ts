import { expect, test } from "vitest";
import { toolset, validateTree } from "./validate-tree.ts";

/** The circles among toolsets, each of which contains those that are given for it. */
async function findCycles(contained: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  const names = Object.keys(contained);
  const problems = await validateTree(
    {
      extension: { toolsets: names },
      files: {
        "trailblaze/toolsets.json": Object.fromEntries(
          names.map((name) => [name, toolset(name, { toolsets: contained[name] })]),
        ),
      },
    },
    ["ReferenceCycle"],
  );
  return problems.map(({ severity, item, path, args }) => {
    expect(severity).toBe("error");
    return `${item}.${path?.join(".")}: ${"cycle" in args ? args.cycle.join(" → ") : ""}`;
  });
}

test.each([
  ["a chain", { a: ["b"], b: ["c"], c: [] }],
  ["two ways to one toolset", { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }],
  ["the same toolset twice", { a: ["b", "b"], b: [] }],
])("%s is no circle", async (_what, contained) => {
  expect(await findCycles(contained)).toEqual([]);
});

test("a toolset that contains itself", async () => {
  expect(await findCycles({ a: ["a"] })).toEqual(["a.toolsets.0: a → a"]);
});

test("two that contain each other, by short or by qualified name", async () => {
  expect(await findCycles({ a: ["b"], b: ["a"] })).toEqual(["b.toolsets.0: a → b → a"]);
  const qualified = { a: ["@acme/sample/b"], b: ["acme/sample@^1.0.0/a"] };
  expect(await findCycles(qualified)).toEqual(["b.toolsets.0: a → b → a"]);
});

test("a circle that others lead to is told without them", async () => {
  const contained = { start: ["a"], a: ["b"], b: ["c"], c: ["a"] };
  expect(await findCycles(contained)).toEqual(["c.toolsets.0: a → b → c → a"]);
});

test("several circles are told in one run, each once", async () => {
  const contained = { a: ["b", "a"], b: ["a"], c: ["d"], d: ["c"] };
  expect(await findCycles(contained)).toEqual([
    "b.toolsets.0: a → b → a",
    "a.toolsets.1: a → a",
    "d.toolsets.0: c → d → c",
  ]);
});

test("a server is no part of a circle, and toolsets of other packs are not looked into", async () => {
  expect(await findCycles({ a: ["globex/text/formatting"] })).toEqual([]);
});

test("a chain of thousands is followed without running out of stack", async () => {
  const last = 5000;
  const names = Array.from({ length: last + 1 }, (_, index) => `s${index}`);
  const next = (index: number) => [`s${index === last ? 0 : index + 1}`];
  const found = await findCycles(Object.fromEntries(names.map((name, index) => [name, next(index)])));
  expect(found).toHaveLength(1);
});
