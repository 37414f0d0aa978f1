import { expect, onTestFinished, test, vi } from "vitest";
import { parseExactly } from "../../src/data/exact-integers.ts";
import { readStateKey } from "../../src/mcp/served-server.ts";
import { createStateSeal } from "../../src/serve/serve-clients.ts";

const key = Buffer.from("k".repeat(32));
const request = ["tools/call", "greet", { a: 1, b: { c: 2 } }];

test("a sealed state is opened for the same request, also by a replica with the same key", async () => {
  const sealed = await createStateSeal(key, "token").seal(request, { runs: 1 });
  expect(await createStateSeal(key, "token").open(request, sealed)).toEqual({ runs: 1 });
});

test.each<
  [string, (sealed: string) => [seal: ReturnType<typeof createStateSeal>, request: unknown, sealed: string]]
>([
  [
    "other arguments",
    (sealed) => [createStateSeal(key), ["tools/call", "greet", { a: 2, b: { c: 2 } }], sealed],
  ],
  ["another method", (sealed) => [createStateSeal(key), ["prompts/get", ...request.slice(1)], sealed]],
  ["another token", (sealed) => [createStateSeal(key, "token"), request, sealed]],
  ["another key", (sealed) => [createStateSeal(Buffer.from("l".repeat(32))), request, sealed]],
  ["a changed state", (sealed) => [createStateSeal(key), request, sealed.replace(/\../, ".f")]],
])("a sealed state is refused for %s", async (_what, change) => {
  const [seal, asked, sealed] = change(await createStateSeal(key).seal(request, { runs: 1 }));
  await expect(seal.open(asked, sealed)).rejects.toThrow(expect.objectContaining({ code: -32602 }));
});

test("a sealed state does not depend on the order of keys, but on each digit", async () => {
  const seal = createStateSeal(key);
  const sealed = await seal.seal(parseExactly('["m", {"a": 725653563933458433, "b": {"c": 1, "d": 2}}]'), 1);
  const reordered = parseExactly('["m", {"b": {"d": 2, "c": 1}, "a": 725653563933458433}]');
  expect(await seal.open(reordered, sealed)).toBe(1);
  const other = parseExactly('["m", {"a": 725653563933458434, "b": {"c": 1, "d": 2}}]');
  await expect(seal.open(other, sealed)).rejects.toThrow("not valid");
});

test("a sealed state expires after ten minutes", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  const seal = createStateSeal(key);
  const sealed = await seal.seal(request, 1);
  vi.setSystemTime(1_600_000);
  expect(await seal.open(request, sealed)).toBe(1);
  vi.setSystemTime(1_601_000);
  await expect(seal.open(request, sealed)).rejects.toThrow("expired");
});

test("a key is random for each process, or has at least 32 bytes", () => {
  expect(readStateKey({}).equals(readStateKey({}))).toBe(false);
  expect(readStateKey({ TRAILBLAZE_STATE_KEY: "ü".repeat(16) })).toHaveLength(32);
  expect(() => readStateKey({ TRAILBLAZE_STATE_KEY: "x".repeat(31) })).toThrow(
    expect.objectContaining({ code: "InvalidArguments" }),
  );
});
