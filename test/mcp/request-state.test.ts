import { expect, test } from "vitest";
import { createStateSeal, readStateKey } from "../../src/mcp/request-state.ts";

const key = Buffer.from("k".repeat(32));
const request = ["tools/call", "greet", { a: 1, b: { c: 2 } }];

test("a sealed state is opened for the same request, also by a replica with the same key", () => {
  const sealed = createStateSeal(key, "token").seal(request, { runs: 1 });
  const same = ["tools/call", "greet", { b: { c: 2 }, a: 1 }];
  expect(createStateSeal(key, "token").open(same, sealed)).toEqual({ runs: 1 });
});

test.each<
  [string, (sealed: string) => [seal: ReturnType<typeof createStateSeal>, request: unknown, sealed: string]]
>([
  ["another tool", (sealed) => [createStateSeal(key), ["tools/call", "other", {}], sealed]],
  [
    "other arguments",
    (sealed) => [createStateSeal(key), ["tools/call", "greet", { a: 2, b: { c: 2 } }], sealed],
  ],
  ["another method", (sealed) => [createStateSeal(key), ["prompts/get", ...request.slice(1)], sealed]],
  ["another token", (sealed) => [createStateSeal(key, "token"), request, sealed]],
  ["another key", (sealed) => [createStateSeal(Buffer.from("l".repeat(32))), request, sealed]],
  ["a changed state", (sealed) => [createStateSeal(key), request, sealed.replace(/^./, "f")]],
  ["a longer signature", (sealed) => [createStateSeal(key), request, `${sealed}A`]],
  ["a changed signature", (sealed) => [createStateSeal(key), request, sealed.replace(/..$/, "!!")]],
  ["another part", (sealed) => [createStateSeal(key), request, `${sealed}.x`]],
  ["no signature", (sealed) => [createStateSeal(key), request, sealed.split(".")[0] ?? ""]],
  ["nothing", () => [createStateSeal(key), request, ""]],
])("a sealed state is refused for %s", (_what, change) => {
  const [seal, asked, sealed] = change(createStateSeal(key).seal(request, { runs: 1 }));
  expect(() => seal.open(asked, sealed)).toThrow(expect.objectContaining({ code: -32602 }));
});

test("a sealed state expires after ten minutes", () => {
  let now = 1_000_000;
  const seal = createStateSeal(key, undefined, () => now);
  const sealed = seal.seal(request, 1);
  now += 600_000;
  expect(seal.open(request, sealed)).toBe(1);
  now += 1;
  expect(() => seal.open(request, sealed)).toThrow("expired");
});

test("a key is random for each process, or has at least 32 bytes", () => {
  expect(readStateKey({}).equals(readStateKey({}))).toBe(false);
  expect(readStateKey({ TRAILBLAZE_STATE_KEY: "ü".repeat(16) })).toHaveLength(32);
  expect(() => readStateKey({ TRAILBLAZE_STATE_KEY: "x".repeat(31) })).toThrow(
    expect.objectContaining({ code: "InvalidArguments" }),
  );
});
