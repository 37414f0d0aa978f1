import { closeSync, openSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { parts } from "../../soak/parts.ts";
import { formatResult } from "../../soak/support/format-result.ts";
import { expectThat, type Part, type Steps } from "../../soak/support/part.ts";
import { runPart } from "../../soak/support/run-part.ts";
import { findLeaks } from "../../soak/support/usage.ts";
import { TrailblazeError } from "../../src/problems/index.ts";

const partOf = (step: Steps["step"], limitMs?: number): Part => ({
  steps: 1,
  ...(limitMs === undefined ? {} : { limitMs }),
  open: async () => ({ step, close: async () => {} }),
});

const tiny: Readonly<Record<string, number>> = { "in-process": 10, manifests: 10, edits: 20 };

// Killed additions need a registry: test/integration has them.
test.each([...parts.keys()].filter((name) => name !== "add-kills"))(
  "the part %s holds for a few steps",
  async (name) => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(name);
    const result = await runPart(part, { seed: 7, steps: tiny[name] ?? 1 });
    expect(formatResult(name, result, 0)).toMatch(/: held$/);
  },
);

test("a part repeats its steps from their seeds", async () => {
  const drawn: number[] = [];
  const part = partOf(async (random) => {
    drawn.push(random.next());
    return {};
  });
  await runPart(part, { seed: 3, steps: 3 });
  await runPart(part, { seed: 5, steps: 1 });
  expect(drawn[3]).toBe(drawn[2]);
  expect(new Set(drawn).size).toBe(3);
});

test("a part names the seed of a lost byte and of an exception that is no TrailblazeError", async () => {
  let step = 0;
  const part = partOf(async () => {
    step++;
    if (step === 2) expectThat(false, () => "a byte is lost");
    if (step === 4) throw new TypeError("x is not a function");
    return { steps: 1 };
  });
  const result = await runPart(part, { seed: 10, steps: 5 });
  expect(result.breaks).toEqual([
    { seed: 11, reason: "a byte is lost" },
    { seed: 13, reason: expect.stringMatching(/no TrailblazeError: TypeError: x is not a function/) },
  ]);
  const lines = formatResult("broken", result, 0).split("\n");
  expect(lines[0]).toMatch(/^broken: 5 steps, 3 steps, .* BROKEN$/);
  expect(lines[2]).toBe("    npm run soak -- broken --seed 11 --steps 1");
});

test("a part counts a TrailblazeError that its step does not expect", async () => {
  const problem = { code: "ToolNotFound", severity: "error", message: "No tool.", args: {} };
  const part = partOf(async () => {
    throw new TrailblazeError(problem as never);
  });
  const { breaks } = await runPart(part, { seed: 0, steps: 1 });
  expect(breaks[0]?.reason).toBe("an unexpected TrailblazeError: No tool.");
});

test("a part notices a descriptor that stays open", { skip: process.platform !== "linux" }, async () => {
  const opened: number[] = [];
  const part = partOf(async () => {
    opened.push(openSync(import.meta.filename, "r"));
    return {};
  });
  const { leaks } = await runPart(part, { seed: 0, steps: 10 });
  for (const descriptor of opened) closeSync(descriptor);
  expect(leaks).toEqual([expect.stringMatching(/^descriptors grew from \d+ to \d+$/)]);
});

test("a part judges memory only after enough steps", () => {
  const before = { descriptors: 9, processes: 1, live: 50e6, resident: 90e6 };
  const after = { ...before, live: 53e6, resident: 99e6 };
  expect(findLeaks(before, after, true)).toEqual(["memory grew from 50.0 MB to 53.0 MB"]);
  expect(findLeaks(before, after, false)).toEqual([]);
  expect(findLeaks(before, { ...before, live: 52e6 }, true)).toEqual([]);
  expect(findLeaks(before, { ...before, processes: 2 }, false)).toEqual(["processes grew from 1 to 2"]);
});

test("a step that always takes too long hangs, and one that was slow once does not", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let calls = 0;
  const slow = await runPart(
    partOf(async () => {
      vi.advanceTimersByTime(2000);
      return {};
    }),
    { seed: 0, steps: 1 },
  );
  const once = await runPart(
    partOf(async () => {
      if (calls++ === 0) vi.advanceTimersByTime(2000);
      return {};
    }),
    { seed: 0, steps: 1 },
  );
  vi.useRealTimers();
  expect(slow.breaks[0]?.reason).toMatch(/^it took 2000 ms/);
  expect(once.breaks).toEqual([]);
});
