import { expect, test } from "vitest";
import type { Kind } from "../../src/kinds.ts";
import { LockGate } from "../../src/lock/lock-gate.ts";

function scopeOf(...unlocked: string[]) {
  const config = { lock: { frozen: false, workspace: false, unlocked }, labels: ["notes"] };
  const gate = new LockGate({ parts: new Map(), folder: "/project" }, config as never, false);
  const isItemFree = (pack: string, kind: Kind, name: string, definition: object | null) =>
    gate.isItemFree(pack, { declaration: { kind, name }, definition } as never);
  return { gate, isItemFree };
}

test("a pattern frees its kind alone, and * stays within a segment", () => {
  const scope = scopeOf("tool:acme/jira/query", "prompt:mine/*", "resource:mine/db://*", "server:acme/*/db");
  expect(scope.isItemFree("acme/jira", "tool", "query", null)).toBe(true);
  expect(scope.gate.isListedFree("tool", "acme/jira/db", "query", "acme/jira")).toBe(true);
  expect(scope.isItemFree("acme/jira", "prompt", "query", null)).toBe(false);
  expect(scope.isItemFree("acme/jira", "server", "query", null)).toBe(false);
  expect(scope.gate.isListedFree("tool", "mine", "report", undefined)).toBe(false);
  expect(scope.gate.isListedFree("prompt", "mine", "report", undefined)).toBe(true);
  expect(scope.gate.isListedFree("prompt", "mine", "a/b", undefined)).toBe(false);
  expect(scope.gate.isListedFree("resource", "mine", "db://tables", undefined)).toBe(true);
  expect(scope.gate.isListedFree("resource", "mine", "db://tables/1", undefined)).toBe(false);
  expect(scope.gate.isServerFree("acme/jira/db")).toBe(true);
  expect(scope.gate.isPackFree("acme/jira")).toBe(false);
});

test("a resource of a pack is meant by its URI", () => {
  const scope = scopeOf("resource:@acme/jira/db://tables", "resource:acme/jira/db://{table}");
  expect(scope.isItemFree("acme/jira", "resource", "tables", { uri: "db://tables" })).toBe(true);
  expect(scope.isItemFree("acme/jira", "resource", "table", { uriTemplate: "db://{table}" })).toBe(true);
  expect(scope.isItemFree("acme/jira", "resource", "db://tables", { uri: "db://other" })).toBe(false);
});

test("a server of the config goes before a pack with the same name", () => {
  const scope = scopeOf("tool:notes/search", "tool:other/search");
  expect(scope.gate.isListedFree("tool", "notes", "search", undefined)).toBe(true);
  expect(scope.isItemFree("notes", "tool", "search", null)).toBe(false);
  expect(scope.gate.isListedFree("tool", "notes/db", "search", "notes")).toBe(false);
  expect(scope.isItemFree("other", "tool", "search", null)).toBe(true);
});
