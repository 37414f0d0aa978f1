import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Json, LockedItem, LockFile } from "../../src/lock/json.ts";
import { formatLock, hashSurface, lockFileOf, readLock } from "../../src/lock/lock-file.ts";
import { lockOf, partsOf } from "../../src/lock/parts.ts";
import { makeTree } from "../support/packs.ts";

const packWith = (inputSchema: Json): LockedItem => {
  const pack: LockedItem = { surface: "", tools: { tool: { inputSchema } } };
  return { ...pack, surface: hashSurface(pack) };
};
const lockWith = (inputSchema: Json): LockFile => ({
  lockfileVersion: 1,
  packs: { pack: packWith(inputSchema) },
  servers: {},
});

async function read(text: string) {
  const project = makeTree({ "package.json": { name: "app" } });
  writeFileSync(lockFileOf(project), text);
  return lockOf((await readLock(project)) ?? new Map());
}

// JavaScript orders such keys in its own way.
const keys = {
  properties: {
    "10": {},
    "2": {},
    a: {},
    ["__proto__"]: { type: "string" },
    "\u20ac": {},
    "\ud83d\ude00": {},
  },
};

test.each([
  ["as it is written", (lock: LockFile) => formatLock(lock)],
  ["with other indentation", (lock: LockFile) => JSON.stringify(lock)],
  ["with CRLF", (lock: LockFile) => formatLock(lock).replaceAll("\n", "\r\n")],
  [
    "with other order of keys",
    ({ servers, packs }: LockFile) => JSON.stringify({ servers, packs, lockfileVersion: 1 }, null, 2),
  ],
])("a lock is read %s, whatever its keys are", async (_title, format) => {
  for (const schema of [keys, { type: "object", properties: { a: { type: "string" } } }]) {
    const lock = lockWith(schema);
    expect(formatLock(await read(format(lock)))).toEqual(formatLock(lock));
  }
});

test("a lock that is nested too deep is malformed, however it is indented", async () => {
  let value: Json = {};
  for (let level = 0; level < 250; level++) value = { a: value };
  const lock = lockWith(value);
  for (const text of [formatLock(lock), JSON.stringify(lock)])
    await expect(read(text)).rejects.toMatchObject({ code: "LockMalformed" });
});

test("an entry of a server that was merged from two halves is malformed, as one of a pack is", async () => {
  const server = { launch: { command: "node" }, lists: { a: { title: "A" } } };
  const text = formatLock({ lockfileVersion: 1, packs: {}, servers: { mine: server } });
  expect((await read(text)).servers.mine).toMatchObject(server);
  for (const merged of [
    text.replace('"node"', '"sh"'),
    text.replace('"A"', '"B"'),
    text.replace(/,\s*"surface".*/, ""),
  ])
    await expect(read(merged)).rejects.toMatchObject({
      code: "LockMalformed",
      message: expect.stringContaining('"mine"'),
    });
});

test.each(["packs", "servers"] as const)(
  "denials of %s that are no list of items are malformed",
  async (key) => {
    for (const denied of [[1], "tool:a", ["tool"], ["other:a"]]) {
      const lock = { lockfileVersion: 1, packs: {}, servers: {}, [key]: { mine: { denied, surface: "" } } };
      await expect(read(JSON.stringify(lock))).rejects.toMatchObject({
        code: "LockMalformed",
        message: expect.stringContaining("/denied"),
      });
    }
  },
);

test("a key __proto__ hides nothing: values of the wrong shape below it are malformed, what a server lists is kept", async () => {
  const server = (launch: string, lists: string) =>
    `"servers":{"mine":{"launch":${launch},"lists":${lists}}}`;
  for (const entries of [
    '"packs":{"__proto__":null},"servers":{}',
    '"packs":{},"servers":{"__proto__":"x"}',
    '"packs":{},"servers":{},"__proto__":{}',
    '"packs":{"a":{"tools":{"__proto__":null}}},"servers":{}',
    `"packs":{},${server("{}", '{"__proto__":null}')}`,
  ])
    await expect(read(`{"lockfileVersion":1,${entries}}`)).rejects.toMatchObject({
      code: "LockMalformed",
      message: expect.stringContaining('__proto__"'),
    });
  const text = formatLock(JSON.parse(`{"lockfileVersion":1,"packs":{},${server("{}", '{"__proto__":{}}')}}`));
  expect(Object.keys((await read(text)).servers.mine?.lists ?? {})).toEqual(["__proto__"]);
});

test("a pack's entry with an unknown key is malformed", async () => {
  const pack = { version: "1.0.0", surface: "", extra: {} };
  await expect(read(formatLock({ lockfileVersion: 1, packs: { pack }, servers: {} }))).rejects.toMatchObject({
    code: "LockMalformed",
    message: expect.stringContaining('/extra"'),
  });
});

test("denials are kept as they are written", () => {
  const denied = ["prompt:a/b", "server:a", "tool:a", "tool:b/c"];
  const entry = { surface: "", denied };
  const { packs, servers } = lockOf(partsOf({ lockfileVersion: 1, packs: { entry }, servers: { entry } }));
  expect([packs.entry?.denied, servers.entry?.denied]).toEqual([denied, denied]);
});
