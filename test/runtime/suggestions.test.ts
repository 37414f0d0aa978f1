import { expect, onTestFinished, test } from "vitest";
import { createInProcessRunner } from "../../src/runtime/in-process-runner.ts";
import { suggestValues } from "../../src/session/collect-items.ts";
import { makeTree } from "../support/packs.ts";
import { createContext } from "./run-place.ts";

const suggest = (complete: unknown, value: string) => {
  const root = makeTree({
    "complete.mjs": `export const text = () => "not an array";
      export const fails = () => { throw new Error("No list today."); };`,
  });
  const runner = createInProcessRunner(root);
  onTestFinished(() => runner.close());
  const item = { definition: { complete: { city: complete } }, file: null, base: [] };
  const request = { argument: { name: "city", value }, context: { arguments: {} } };
  return suggestValues(item as never, request, {
    runner: async () => runner,
    context: createContext(),
  });
};

test("a list is filtered by its beginnings, whatever their case", async () => {
  expect(await suggest(["Lisbon", "London", "Porto", "lima"], "LI")).toEqual({ values: ["Lisbon", "lima"] });
  expect(await suggest(["Lisbon"], "x")).toEqual({ values: [] });
});

test("a function that throws or returns no array is an error", async () => {
  await expect(suggest("./complete.mjs#fails", "")).rejects.toThrow("No list today.");
  await expect(suggest("./complete.mjs#text", "")).rejects.toThrow("must return an array of strings");
});
