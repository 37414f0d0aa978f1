import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/read-config.ts";
import { inspectionPort } from "../../src/files/node-inspection-port.ts";
import { describeUserServer } from "../../src/lock/describe.ts";
import type { LockedItem } from "../../src/lock/json.ts";
import { createEnvironment } from "../../src/runtime/server-environment.ts";
import { planUserServer } from "../../src/runtime/server-launches.ts";
import { jsonOf, makeProject, openForTest, probe, probeDefinition, withServers } from "./support/session.ts";

const shared =
  "\uFEFFWHO=\"config file\"\r\nSHARED=of-the-config\r\nLONG_KEY='hunter2hunter2'\r\nON=true\r\nUSER=of-a-file\r\n";
const files = { ".env": shared, "own.env": "WHO=entry-file\nexport MORE=more-of-it\n", token: "tok\nen\r\n" };

test("variables come from the host, the config's file, the server's file and `env`, the later ones first", async () => {
  const definition = { ...probeDefinition({ PROBE_PREFIX: "packed" }), envPassthrough: ["SHARED", "MORE"] };
  const pack = {
    "package.json": { trailblaze: { servers: ["s"] } },
    "trailblaze/servers/s.json": definition,
  };
  const cwd = makeProject({ "@acme/p": pack }, files);
  const env = { PROBE_PREFIX: "own", WHO_REFERS: "${WHO}", TOKEN: { file: "./token" }, SHARED: "env" };
  const own = { ...probe("own"), envFile: "./own.env", env };
  const config = { ...withServers(own, probe("plain")), envFile: ".env" };
  const session = await openForTest(cwd, { config });
  const envOf = async (name: string) => jsonOf(await session.callTool(`${name}_env`, {}));
  expect(await envOf("own")).toMatchObject({
    WHO: "entry-file",
    WHO_REFERS: "entry-file",
    TOKEN: "tok\nen",
    SHARED: "env",
    MORE: "more-of-it",
    ON: "true",
  });
  expect(await envOf("plain")).toMatchObject({ WHO: "config file", SHARED: "of-the-config" });
  const packed = await envOf("packed");
  expect(packed.SHARED).toBe("of-the-config");
  expect(packed).not.toHaveProperty("MORE");
  expect(packed).not.toHaveProperty("WHO");
  // It inherits the host's.
  expect(packed.USER).toBe(process.env.USER);
  expect(process.env.SHARED).toBeUndefined();
});

test("values of files are in no log, but for short ones of an `envFile`, while an answer keeps them", async () => {
  const cwd = makeProject(
    {},
    {
      ...files,
      "say.mjs": `
    process.stderr.write("key " + process.env.LONG_KEY + " on " + process.env.ON + " token " + JSON.stringify(process.env.TOKEN) + "\\n");
    await import(${JSON.stringify(new URL("support/probe-server.mjs", import.meta.url).href)});`,
    },
  );
  const say = {
    name: "say",
    command: process.execPath,
    args: ["say.mjs"],
    env: { PROBE_PREFIX: "say", TOKEN: { file: "token" } },
    envFile: ".env",
  };
  const session = await openForTest(cwd, { config: { ...withServers(say), logDir: "logs" } });
  expect(jsonOf(await session.callTool("say_env", {})).LONG_KEY).toBe("hunter2hunter2");
  const log = () => readFileSync(join(cwd, "logs/say.log"), "utf8");
  await expect.poll(log).toContain('key [redacted] on true token "[redacted]"');
});

test.each<[string, object, object, RegExp]>([
  ["a missing file of the config", { envFile: "gone.env" }, {}, /"gone\.env".*does not exist/],
  ["a folder as the server's file", {}, { envFile: "folder" }, /"folder".*a folder/],
  ["a file over 1 MiB", {}, { envFile: "large" }, /"large".*1048578 bytes; the limit is 1 MiB/],
  [
    "a secret in a missing file",
    {},
    { env: { TOKEN: { file: "./no-${HOME}" } } },
    /"\.\/no-\$\{HOME\}".*does not exist/,
  ],
])("%s fails the servers that need it, by its name", async (_what, top, changes, reason) => {
  const cwd = makeProject({}, { "folder/file": "", large: `A=${"x".repeat(1 << 20)}` });
  const others = { mcpServers: { far: { url: "http://127.0.0.1:9/mcp" } } };
  const config = { ...withServers({ ...probe("own"), ...changes }), ...others, ...top };
  const opening = openForTest(cwd, { config });
  await expect(opening).rejects.toMatchObject({
    code: "ServerStartFailed",
    message: expect.stringMatching(reason),
  });
});

test("with a lock, a file sets nothing that decides what runs, and the lock has its name", async () => {
  const cwd = makeProject({}, { ".env": "NODE_OPTIONS=--require ./x.js\nPATH=/x\nFINE=yes\n", path: "/x" });
  const plan = async (entry: object, isLocked: boolean) => {
    const given = { envFile: ".env", mcpServers: { a: { command: process.execPath, ...entry } } };
    const config = await readConfig(inspectionPort, { directory: cwd, config: given });
    const [server] = config.subprocessServers;
    if (server === undefined) throw new Error("The config has no server.");
    const planned = await planUserServer(server, config, isLocked);
    const facts = { hostEnvironment: { PATH: "/bin" }, platform: "linux" } as const;
    return {
      planned,
      env: createEnvironment(planned.environment, facts),
      launch: describeUserServer(server, undefined).launch as LockedItem,
    };
  };
  expect((await plan({}, false)).env).toMatchObject({
    PATH: "/x",
    NODE_OPTIONS: "--require ./x.js",
    FINE: "yes",
  });
  const locked = await plan({ envFile: "./.env" }, true);
  expect(locked.env).toMatchObject({ PATH: "/bin", FINE: "yes" });
  expect(locked.env).not.toHaveProperty("NODE_OPTIONS");
  expect(locked.launch.envFile).toEqual([".env", "./.env"]);
  expect((await plan({}, true)).launch.envFile).toBe(".env");
  const { planned } = await plan({ env: { PATH: { file: "path" } } }, true);
  expect(planned.fault?.message).toContain("PATH decides what runs");
});
