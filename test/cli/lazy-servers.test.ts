// When the commands start servers. Each server ends with its command.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listed } from "../approval/support/locked-project.ts";
import { listingConfig, makeLocked, namesOf, pidsOf, write, writeListing } from "../session/support/lazy.ts";
import { connectToCommand } from "../support/clients.ts";
import { runMain } from "../support/main.ts";
import { isRunning } from "../support/processes.ts";
import { waitUntil } from "../support/wait-until.ts";

const makeProject = (config: object = {}) =>
  makeLocked(
    listingConfig(["a", "b"], {}, config),
    {},
    { "a.json": { tools: [listed("one"), listed("two")] }, "b.json": { tools: [listed("other")] } },
  );

/** Runs a command, and returns how many servers it has started. */
async function run(args: readonly string[], cwd: string) {
  rmSync(join(cwd, "pids"), { force: true });
  const result = await runMain([...args, "--json"], { cwd });
  const started = result.stderr.split("\n").filter((line) => line.startsWith("Starting ")).length;
  const pids = pidsOf(cwd);
  expect(pids.filter(isRunning)).toEqual([]);
  expect(started).toBe(pids.length);
  return { ...result, answer: JSON.parse(result.stdout), started };
}

test("`tools` starts all servers, and none with --lazy or `serversStart: lazy`, with the same answer", async () => {
  const cwd = await makeProject();
  const textOf = ({ sessionId: _, servers: __, ...others }: Record<string, unknown>) =>
    JSON.stringify(others);
  const eager = await run(["tools"], cwd);
  const lazy = await run(["tools", "--lazy"], cwd);
  expect([eager.exitCode, eager.started]).toEqual([0, 2]);
  expect([lazy.exitCode, lazy.started]).toEqual([0, 0]);
  expect(textOf(lazy.answer)).toBe(textOf(eager.answer));
  expect(lazy.answer.servers).toMatchObject([
    { label: "a", state: "idle", era: null, protocolVersion: null, serverInfo: null, tools: ["one", "two"] },
    { label: "b", state: "idle", era: null, protocolVersion: null, serverInfo: null, tools: ["other"] },
  ]);
  write(cwd, listingConfig(["a", "b"], {}, { serversStart: "lazy" }));
  expect((await run(["tools"], cwd)).started).toBe(0);
  expect((await run(["tools", "--eager"], cwd)).started).toBe(2);
});

test("options that cannot be combined, or do not apply to what is started, are errors", async () => {
  const cwd = await makeProject();
  for (const args of [
    ["tools", "--lazy", "--eager"],
    ["start", "--lazy", "--eager"],
    ["start", "a", "--lazy"],
    ["start", "a", "--eager"],
    ["start", "a", "--allowed-host", "x.test"],
    ["call", "one", "--lazy"],
  ]) {
    const { answer, exitCode, started } = await run(args, cwd);
    expect([exitCode, started, answer.error.code]).toEqual([2, 0, "InvalidArguments"]);
  }
});

test("`call` starts only the server of its tool, and all of them if the config says `eager`", async () => {
  const cwd = await makeProject();
  for (const name of ["two", "a/two"]) {
    const { answer, started } = await run(["call", name], cwd);
    expect([answer.variant, started]).toEqual(["Success", 1]);
  }
  write(cwd, listingConfig(["a", "b"], {}, { serversStart: "eager" }));
  expect((await run(["call", "two"], cwd)).started).toBe(2);
});

test("`call` exits with 1 and the code if the server fails, or lists something else than approved", async () => {
  const cwd = await makeProject();
  const call = async (...args: string[]) => {
    const { answer, exitCode } = await run(["call", ...args], cwd);
    expect(exitCode).toBe(1);
    return answer;
  };
  writeListing(cwd, { tools: [listed("one", { title: "Poison" })] });
  expect(await call("one")).toMatchObject({ details: { code: "NotApproved" } });
  expect(await call("two")).toMatchObject({ details: { code: "LockOutdated" } });
  expect(await call("one", "--frozen")).toMatchObject({ error: { code: "LockMismatch" } });
  writeFileSync(join(cwd, "broken"), "");
  expect(await call("one")).toMatchObject({
    variant: "ExceptionThrown",
    details: { code: "ServerStartFailed" },
  });
});

test.each([
  ["", [], {}, 0],
  [" with --lazy and `serversStart: eager`", ["--lazy"], { serversStart: "eager" }, 0],
])("`start` without a server%s starts as many servers with the session", async (_, args, config, count) => {
  const cwd = await makeProject(config);
  const { client } = await connectToCommand(cwd, ...args);
  expect(namesOf((await client.listTools()).tools)).toEqual(["one", "two", "other"]);
  expect(pidsOf(cwd)).toHaveLength(count);
  await client.callTool({ name: "other", arguments: {} });
  expect(pidsOf(cwd)).toHaveLength(Math.max(count, 1));
  await client.close();
  await waitUntil(() => pidsOf(cwd).filter(isRunning).length === 0);
});
