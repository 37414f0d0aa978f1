import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { jsonOf, makeProject, openForTest, toolPack } from "./support/session.ts";

const real = (name: string, args: readonly string[] = [], env = {}) => ({
  name,
  command: process.execPath,
  args: [inRepository(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
  env,
});

test("real servers and a pack share one session", async () => {
  const folder = realpathSync(makeTree({ "a.txt": "Trailblaze" }));
  const cwd = makeProject({
    greeter: toolPack({ greet: {} }, "export const greet = ({ name }) => `Hello, ${name}!`;"),
  });
  const graph = join(folder, "graph");
  mkdirSync(graph);
  writeFileSync(join(graph, "memory.json"), "");
  const session = await openForTest(cwd, {
    config: {
      trailblazeSubprocessToolsets: [
        real("everything"),
        real("filesystem", [folder]),
        real("memory", [], { MEMORY_FILE_PATH: join(graph, "memory.json") }),
      ],
    },
  });
  const from = (server: string) => session.tools.filter(({ source }) => source.server === server);
  expect(from("everything").length).toBeGreaterThanOrEqual(10);
  expect(from("filesystem").length).toBeGreaterThanOrEqual(10);
  expect(from("memory").length).toBeGreaterThanOrEqual(9);
  expect(session.tools.at(-1)).toMatchObject({ name: "greet", qualifiedName: "greeter/greet" });
  expect(session.skipped).toMatchObject([{ name: "simulate-research-query", reason: "TaskRequired" }]);

  const calls = await Promise.all([
    session.callTool("greet", { name: "Ada" }),
    session.callTool("echo", { message: "hi" }),
    session.callTool("read_text_file", { path: join(folder, "a.txt") }),
    session.callTool("create_entities", {
      entities: [{ name: "Ada", entityType: "person", observations: ["writes programs"] }],
    }),
  ]);
  expect(calls.map(({ variant }) => variant)).toEqual(Array(4).fill("Success"));
  expect(calls.map(({ message }) => message).slice(0, 3)).toEqual(["Hello, Ada!", "Echo: hi", "Trailblaze"]);
  expect(jsonOf(await session.callTool("read_graph")).entities).toMatchObject([{ name: "Ada" }]);

  const steps: unknown[] = [];
  const slow = { duration: 0.2, steps: 2 };
  const result = await session.callTool("trigger-long-running-operation", slow, {
    onProgress: (step) => steps.push(step),
  });
  expect(result.variant).toBe("Success");
  expect(steps).toMatchObject([
    { progress: 1, total: 2 },
    { progress: 2, total: 2 },
  ]);
  // The server itself refuses what breaks its schema; that is a failure of the tool, not of the session.
  expect(await session.callTool("echo", { message: 1 })).toMatchObject({ variant: "ExceptionThrown" });
});
