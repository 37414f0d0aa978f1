import { expect, test } from "vitest";
import { diffLocks } from "../../src/lock/difference.ts";
import type { LockedItem, LockFile } from "../../src/lock/json.ts";

const lockOf = (pack: LockedItem | undefined, servers: LockFile["servers"] = {}): LockFile => ({
  lockfileVersion: 1,
  packs: pack === undefined ? {} : { "@acme/jira": { version: "1.2.0", surface: "", ...pack } },
  servers,
});
const tool = (item: LockedItem) => lockOf({ tools: { createIssue: item } });
const textOf = (from: LockFile, to: LockFile) =>
  diffLocks(from, to)
    .map(({ diff }) => diff)
    .join("\n");

test("each item that differs is a unified difference of its lines in the lock", () => {
  const from = tool({ description: ["One", "Two", "Three", "Four", "Five"], title: "Old" });
  const to = tool({ description: ["One", "Two", "Three", "4", "Five"], title: "Old" });
  expect(diffLocks(from, to)).toEqual([
    {
      pack: "@acme/jira",
      kind: "tool",
      name: "createIssue",
      change: "changed",
      diff: [
        "--- @acme/jira tool createIssue",
        "+++ @acme/jira tool createIssue",
        "@@ -3,7 +3,7 @@",
        '     "One",\n     "Two",\n     "Three",\n-    "Four",\n+    "4",\n     "Five"\n   ],\n   "title": "Old"',
      ].join("\n"),
    },
  ]);
  expect(diffLocks(from, from)).toEqual([]);
});

test("new and removed items are shown whole, with everything that is nested in them", () => {
  const inner = {
    type: "object",
    properties: { note: { description: "Secret order.", enum: ["x".repeat(5000)] } },
  };
  const item = { name: "a", inputSchema: { properties: { filter: { items: inner } } } };
  const [added, ...more] = diffLocks(lockOf({ tools: {} }), tool(item));
  expect(more).toEqual([]);
  expect(added).toMatchObject({ kind: "tool", name: "createIssue", change: "added" });
  expect(added?.diff).toMatch(
    /^--- \/dev\/null\n\+\+\+ @acme\/jira tool createIssue\n@@ -0,0 \+1,\d+ @@\n\+\{/,
  );
  expect(added?.diff).toContain("Secret order.");
  expect(added?.diff).toContain(`"${"x".repeat(5000)}"`);
  const [removed] = diffLocks(tool(item), lockOf({ tools: {} }));
  expect(removed?.change).toBe("removed");
  expect(removed?.diff).toContain("+++ /dev/null");
});

test("a pack, its needs, and servers with what they list have entries", () => {
  const server = (lists: LockedItem) =>
    ({ mine: { launch: { command: "node" }, lists } }) as LockFile["servers"];
  const from = lockOf(undefined, server({}));
  const to = lockOf(
    { needs: { env: ["A"] } },
    { ...server({ search: {} }), other: { launch: {}, lists: null } },
  );
  const entries = diffLocks(from, to);
  expect(entries.map(({ pack, server: label, kind, change }) => [pack ?? label, kind, change])).toEqual([
    ["mine", "server", "changed"],
    ["@acme/jira", "pack", "added"],
    ["@acme/jira", "needs", "added"],
    ["other", "server", "added"],
  ]);
  expect(entries[0]?.diff).toContain('-  "lists": {}\n+  "lists": {\n+    "search": {}\n+  }');
});

test("text of packs hides nothing: every character is visible, and nothing is cut", () => {
  const hostile = "a\x1b[2K\u202eb\u200bc\r\nd\ne";
  const of = (text: string): LockFile =>
    lockOf(
      {
        version: text,
        needs: { [text]: [text] },
        tools: { [text]: { description: [text], [text]: { [text]: text } } },
      },
      { [text]: { launch: { command: text }, lists: { [text]: { title: text } } } },
    );
  for (const [from, to] of [
    [lockOf(undefined), of(hostile)],
    [of("x"), of(hostile)],
    [of(hostile), of("x")],
  ] as const) {
    const text = textOf(from, to);
    expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]/);
    expect(text.split("\n").filter((line) => !/^(?:[-+ ]|@@ )/.test(line))).toEqual([]);
  }
  const blanks = textOf(tool({}), tool({ description: [`x${" ".repeat(500)}Hidden.`] }));
  expect(blanks).toContain('"x [500 blanks] Hidden."');
});
