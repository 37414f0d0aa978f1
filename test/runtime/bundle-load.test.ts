// The weather example under load.
import { expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { runToSuccess } from "../support/run-process.ts";
import { samplePack } from "../support/sample-packs.ts";

const { folder } = samplePack("weather-tools");

test("a process answers other calls while hostile calls run", async () => {
  const script = inRepository("test/runtime/bundle-hostile-host.ts");
  const args = ["--import", import.meta.resolve("tsx"), script];
  // Killed, and the test failed, where a call blocks the process.
  const stdout = await runToSuccess(process.execPath, args, {
    cwd: folder,
    env: process.env,
    timeoutMs: 60_000,
  });
  const { answered, errors, longestPause } = JSON.parse(stdout);
  // Patterns are matched in time proportional to the string; the loops take too many steps.
  expect({ answered, errors }).toEqual({ answered: 3, errors: 1 });
  expect(longestPause).toBeLessThan(5000);
});
