import { Session } from "node:inspector/promises";
import { describe, expect, test } from "vitest";
import { inspectPack, validateExtension } from "../../src/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const names = (count: number, prefix = "t") =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const byName = (list: readonly string[], make: (name: string) => unknown) =>
  JSON.stringify(Object.fromEntries(list.map((name) => [name, make(name)])));
const toolset = (tools: readonly string[], toolsets: readonly string[] = []) =>
  JSON.stringify({ name: "s", description: "All of it.", tools, toolsets });

interface Pack {
  field: Record<string, unknown>;
  files: Record<string, string>;
}

/** A pack with so many of something, and the kinds of work that must not cost more than their number each. */
const packs: readonly [what: string, make: (count: number) => Pack][] = [
  [
    "references to items of another pack that it does not have",
    (count) => ({
      field: { toolsets: ["s"] },
      files: { "toolsets/s.json": toolset(names(count, "big/nope")) },
    }),
  ],
  [
    "toolsets that contain each other",
    (count) => ({
      field: { toolsets: names(count) },
      files: {
        "toolsets.json": byName(names(count), (name) => ({
          name,
          tools: [],
          toolsets: ["t0", `t${(Number(name.slice(1)) + 1) % count}`],
        })),
      },
    }),
  ],
  [
    "servers that are all made of the same toolsets",
    (count) => ({
      field: { servers: names(count / 2, "s"), toolsets: names(count / 2) },
      files: {
        "servers.json": byName(names(count / 2, "s"), (name) => ({ name, toolsets: ["t0"] })),
        "toolsets.json": byName(names(count / 2), (name) => ({
          name,
          tools: [],
          toolsets: [`t${Number(name.slice(1)) + 1}`],
        })),
      },
    }),
  ],
];

/** How many calls of functions the work takes, which is the same on every machine. */
async function measure(work: () => Promise<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await work();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const calls = result.flatMap(({ functions }) => functions.map(({ ranges }) => ranges[0]?.count ?? 0));
    return calls.reduce((sum, count) => sum + count, 0);
  } finally {
    session.disconnect();
  }
}

function install({ field, files }: Pack): string {
  return makeTree({
    "package.json": { name: "app", dependencies: { many: "*", big: "*" } },
    "node_modules/many/package.json": packManifest("many", { trailblaze: field }),
    "node_modules/big/package.json": packManifest("big", { trailblaze: { tools: names(4000) } }),
    ...Object.fromEntries(
      Object.entries(files).map(([file, text]) => [`node_modules/many/trailblaze/${file}`, text]),
    ),
  });
}

describe.each(packs)("%s", (_, make) => {
  test("the cost of each item does not grow with their number", { timeout: 60_000 }, async () => {
    const callsOf = async (count: number) => {
      const cwd = install(make(count));
      return await measure(async () => {
        await inspectPack("many", { cwd });
        return await validateExtension("many", { cwd });
      });
    };
    const few = await callsOf(40);
    // What is quadratic takes 36 times as many calls.
    expect(await callsOf(240)).toBeLessThan(12 * few);
  });
});
