import { describe, expect, test } from "vitest";
import { faultsIn, faultsOfObject, makeProject, readObject } from "./configs.ts";

const schema = { type: "object" };

describe("built-ins in a config object", () => {
  test("built-ins in a config object may have functions, which are kept", async () => {
    const handler = () => "done";
    const initialize = () => undefined;
    const given = { name: "myapp_login", inputSchema: schema, handler, initialize };
    const { builtIns } = await readObject({ builtIns: [given] });
    expect(builtIns).toEqual([given]);
    expect(builtIns[0]?.handler).toBe(handler);
    expect(builtIns[0]?.initialize).toBe(initialize);
  });

  test.each([
    [{ name: "a", inputSchema: schema }, ["builtIns", 0]],
    [{ name: "a", inputSchema: schema, handler: {} }, ["builtIns", 0, "handler"]],
    [{ name: "a", inputSchema: schema, handler: { $function: "x" } }, ["builtIns", 0, "handler"]],
    [{ name: "a", inputSchema: () => schema, handler: () => 1 }, ["builtIns", 0, "inputSchema"]],
    [() => 1, ["builtIns", 0]],
  ])("%o is rejected as a built-in", async (definition, path) => {
    expect(await faultsOfObject({ builtIns: [definition] })).toEqual([expect.objectContaining({ path })]);
  });
});

test("the internal marker of a function is rejected in a config file", async () => {
  const builtIns = [{ name: "a", inputSchema: schema, handler: { $function: "handler" } }];
  const problems = await faultsIn(makeProject({ "trailblaze.config.json": { builtIns } }));
  expect(problems).toMatchObject([
    { path: ["builtIns", 0, "handler"], args: { reason: expect.stringContaining("./module.js#export") } },
  ]);
});
