import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { TimeLimit } from "../../../src/runtime/time-limit.ts";
import { inRepository } from "../../support/repository.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";
import { call, startFixture } from "./start-fixture.ts";

const folders: { remove(): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

/** A new limit each time. */
const limit = {
  get limit() {
    return new TimeLimit(60_000);
  },
};

/** A server from npm, by the end of its package's name. */
function startReal(name: string, args: readonly string[], env: Record<string, string> = {}) {
  const program = inRepository(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
  const timeouts = { handshakeMs: 60_000, listMs: 60_000 };
  const launch = { label: name, args: [program, ...args], env: { PATH: "/usr/bin:/bin", ...env }, timeouts };
  return startFixture({}, { launch });
}

test("server-everything lists its tools, echoes, and reports progress", async () => {
  const { ready, reports } = startReal("everything", []);
  const server = await ready;
  expect(server.tools.length).toBeGreaterThanOrEqual(10);
  const echo = server.tools.find(({ name }) => name === "echo");
  expect(echo?.inputSchema).toMatchObject({ $schema: expect.any(String), properties: { message: {} } });
  const result = await server.callTool(call("echo", { message: "hi" }), limit);
  expect(result.content).toEqual([{ type: "text", text: expect.stringContaining("hi") }]);
  const long = server.tools.find(({ name }) => name.includes("long-running"));
  const steps: number[] = [];
  const onProgress = ({ progress }: { progress: number }) => steps.push(progress);
  await server.callTool(call(long?.name ?? "", { duration: 0.2, steps: 2 }), { ...limit, onProgress });
  expect(steps).toEqual([1, 2]);
  expect(reports).toMatchObject({ noise: [], invalid: [], listChanges: [] });
});

test("server-filesystem reads a file in its folder and rejects others", async () => {
  const folder = makeTemporaryFolder();
  folders.push(folder);
  const path = realpathSync(folder.path);
  writeFileSync(join(path, "note.txt"), "remember");
  const server = await startReal("filesystem", [path]).ready;
  const read = (file: string) => server.callTool(call("read_text_file", { path: file }), limit);
  const result = await read(join(path, "note.txt"));
  expect(result).toMatchObject({ content: [{ type: "text", text: "remember" }], structuredContent: {} });
  expect(await read("/etc/passwd")).toMatchObject({ isError: true });
});

test("server-memory remembers what it is given", async () => {
  const folder = makeTemporaryFolder();
  folders.push(folder);
  const server = await startReal("memory", [], { MEMORY_FILE_PATH: join(folder.path, "memory.json") }).ready;
  const entities = [{ name: "Ada", entityType: "person", observations: ["wrote programs"] }];
  await server.callTool(call("create_entities", { entities }), limit);
  const graph = await server.callTool(call("read_graph"), limit);
  expect(graph.structuredContent).toMatchObject({ entities });
});
