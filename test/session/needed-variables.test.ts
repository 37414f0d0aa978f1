// `needs.env` of a pack, and the variables that its servers take. Each server is a process that leaves a file when it
// starts; sessions and servers end with their tests.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { startServer } from "../../src/serve.ts";
import { jsonOf, makeProject, namesOf, openForTest, probeServer, toolPack } from "./support/session.ts";

const server = (envPassthrough: unknown, prefix: string) => ({
  script: "./server.js",
  env: { PROBE_PREFIX: prefix },
  envPassthrough,
});

/** A pack with the servers `desk`, which takes DESK_TOKEN, and `door`, which also takes DOOR_CODE, and a tool. */
const reception = (needs: unknown) =>
  toolPack({ greet: {} }, "export const greet = () => 'hello';", {
    "package.json": { trailblaze: { servers: ["desk", "door"], needs } },
    "server.js": [
      'import { writeFileSync } from "node:fs";',
      "writeFileSync(new URL(`./started-$" + '{process.env.PROBE_PREFIX}`, import.meta.url), "");',
      `await import(${JSON.stringify(probeServer)});`,
    ].join("\n"),
    "trailblaze/servers/desk.json": server(["DESK_TOKEN"], "desk"),
    "trailblaze/servers/door.json": server(["DESK_TOKEN", "DOOR_CODE"], "door"),
  });

const project = (needs: unknown) => makeProject({ "@acme/reception": reception(needs) });
const started = (cwd: string, prefix: string) =>
  existsSync(join(cwd, "node_modules/@acme/reception", `started-${prefix}`));

function setVariables(): void {
  vi.stubEnv("DESK_TOKEN", "token");
  vi.stubEnv("DOOR_CODE", "code");
}

const exceeded = {
  code: "NeedsExceeded",
  severity: "error",
  pack: "@acme/reception",
  kind: "server",
  item: "door",
  file: "trailblaze/servers/door.json",
  path: ["envPassthrough", 1],
  line: expect.any(Number),
  args: { name: "DOOR_CODE" },
};

test.each([[undefined], [{ env: ["DOOR_CODE", "DESK_TOKEN", "OTHER"] }]])(
  "with the needs %j, both servers start and get their variables",
  async (needs) => {
    setVariables();
    const session = await openForTest(project(needs));
    expect(session.problems).toEqual([]);
    const environment = jsonOf(await session.callTool("desk_env"));
    expect(environment).toMatchObject({ DESK_TOKEN: "token" });
    expect(environment).not.toHaveProperty("DOOR_CODE");
    expect(jsonOf(await session.callTool("door_env"))).toMatchObject({ DOOR_CODE: "code" });
  },
);

describe("a server with a variable that `needs.env` does not list", () => {
  test("a session excludes it without starting it, and uses the rest of the pack", async () => {
    setVariables();
    const cwd = project({ env: ["DESK_TOKEN"] });
    const session = await openForTest(cwd);
    expect(session.problems).toMatchObject([exceeded]);
    expect(session.skipped).toMatchObject([
      { name: "door", reason: "Invalid", message: expect.stringContaining("needs.env") },
    ]);
    expect(jsonOf(await session.callTool("desk_env"))).toMatchObject({ DESK_TOKEN: "token" });
    expect(await session.callTool("greet")).toMatchObject({ variant: "Success", message: "hello" });
    expect([started(cwd, "desk"), started(cwd, "door")]).toEqual([true, false]);
  });

  test.each([[{ env: ["desk_token"] }], [5]])("the needs %j allow neither server", async (needs) => {
    const cwd = project(needs);
    const session = await openForTest(cwd);
    expect(namesOf(session.skipped)).toEqual(["desk", "door"]);
    expect(namesOf(session.tools)).toEqual(["greet"]);
    expect([started(cwd, "desk"), started(cwd, "door")]).toEqual([false, false]);
  });

  test("`startServer` rejects it and starts nothing", async () => {
    setVariables();
    const cwd = project({ env: ["DESK_TOKEN"] });
    const starting = startServer("acme/reception/door", { cwd, transport: { port: 0 } });
    await expect(starting).rejects.toMatchObject({
      code: "NeedsExceeded",
      problem: exceeded,
    });
    expect(started(cwd, "door")).toBe(false);
  });
});
