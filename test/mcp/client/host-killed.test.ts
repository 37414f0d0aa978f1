import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { attempt } from "../../../src/files/file-errors.ts";
import { lifelineScript } from "../../../src/processes/server-process.ts";
import { isRunning } from "../../support/processes.ts";
import { inRepository } from "../../support/repository.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";
import { fixture } from "./start-fixture.ts";

/** All processes below one, as Linux knows them. */
function descendantsOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean);
    return children.map(Number).flatMap((child) => [child, ...descendantsOf(child)]);
  } catch {
    // It has just ended.
    return [];
  }
}

async function startHost(servers: readonly object[]) {
  const script = inRepository("test/mcp/client/fixtures/host.ts");
  const args = ["--import", import.meta.resolve("tsx"), script, fixture, JSON.stringify(servers)];
  const host = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void host.kill("SIGKILL"));
  const [output] = await once(host.stdout, "data");
  expect(String(output)).toBe("ready\n");
  return host;
}

/** The processes below the host, which end with the test whatever comes of it. */
function processesBelow(host: ChildProcess): number[] {
  if (host.pid === undefined) throw new Error("The host was not started");
  const pids = descendantsOf(host.pid);
  onTestFinished(() => {
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  });
  return pids;
}

const isWatcher = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/bin/sh");
const survivors = (pids: readonly number[]) => pids.filter(isRunning).length;

test.skipIf(process.platform !== "linux")(
  "after their host was killed, servers, their child processes and a watcher that took the place of a killed one end",
  async () => {
    const host = await startHost([{}, { ignoreEnd: true }]);
    // For each server one, its child, and the watcher.
    const before = processesBelow(host);
    expect(before).toHaveLength(5);
    const [watcher = 0, ...others] = before.filter(isWatcher);
    expect(others).toEqual([]);
    process.kill(watcher, "SIGKILL");
    const current = () => processesBelow(host);
    await expect.poll(() => current().filter((pid) => !before.includes(pid)).length).toBe(1);
    const pids = current();
    host.kill("SIGKILL");
    await expect.poll(() => survivors(pids)).toBe(0);
  },
);

test.skipIf(process.platform !== "linux")("a server ends whose host is killed while it starts", async () => {
  const folder = makeTemporaryFolder();
  onTestFinished(folder.remove);
  const file = join(folder.path, "pid");
  const launch = { command: "/bin/sh", args: ["-c", `echo $$ > ${file}; exec sleep 600`], cwd: "/", env: {} };
  const code = `
    import { createProcessPort } from ${JSON.stringify(inRepository("src/processes/server-process.ts"))};
    createProcessPort().start(${JSON.stringify(launch)});
    process.kill(process.pid, "SIGKILL");`;
  const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", code];
  await once(spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] }), "exit");
  const read = () => Number(attempt(() => readFileSync(file, "latin1")));
  await expect.poll(read).toBeGreaterThan(0);
  onTestFinished(() => void attempt(() => process.kill(read(), "SIGKILL")));
  await expect.poll(() => isRunning(read())).toBe(false);
});

test.skipIf(process.platform === "win32")(
  "the watcher sends SIGTERM 2 s after the end of its host, SIGKILL after 2 s more, and nothing to ended servers",
  () => {
    // In place of the commands, functions that only tell what they are asked. Group 7 ends by SIGTERM.
    const commands = `
      sleep() { echo "sleep $1"; }
      kill() { [ "$2" = 0 ] || echo "$2 $4"; [ "$2$4" = TERM-7 ] && ended=yes; [ "$4$ended" != -7yes ]; }
    `;
    const input = "+ 7\n+ 8\n+ 9\n- 8\n";
    const output = execFileSync("/bin/sh", ["-c", `${commands}${lifelineScript}`, "sh"], { input });
    const twoSeconds = Array.from({ length: 10 }, () => "sleep 0.2");
    expect(String(output).trim().split("\n")).toEqual([
      ...[...twoSeconds, "TERM -7", "TERM -9"],
      ...[...twoSeconds, "KILL -9"],
    ]);
  },
);
