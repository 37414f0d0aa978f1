import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { inRepository } from "../../support/repository.ts";
import { fixture, isRunning } from "./start-fixture.ts";

/** All processes below one, as Linux knows them. */
function descendantsOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean);
  return children.map(Number).flatMap((child) => [child, ...descendantsOf(child)]);
}

async function startHost(servers: readonly object[], ...more: string[]) {
  const script = inRepository("test/session/servers/fixtures/host.ts");
  const args = ["--import", import.meta.resolve("tsx"), script, fixture, JSON.stringify(servers), ...more];
  const host = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void host.kill("SIGKILL"));
  const [output] = await once(host.stdout, "data");
  expect(String(output)).toBe("ready\n");
  return host;
}

const isWatcher = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/bin/sh");
const survivors = (pids: readonly number[]) => pids.filter(isRunning).length;
const stubborn = { ignoreEnd: true, ignoreTerm: true };

test.skipIf(process.platform !== "linux")(
  "servers and what they started are gone soon after their host was killed, and so is the watcher",
  async () => {
    const host = await startHost([{}, { ignoreEnd: true }]);
    // For each server one, its child, and the watcher.
    const pids = descendantsOf(host.pid ?? 0);
    expect(pids).toHaveLength(5);
    onTestFinished(() => {
      for (const pid of pids) if (isRunning(pid)) process.kill(pid, "SIGKILL");
    });
    const servers = pids.filter((pid) => !isWatcher(pid));
    expect(servers).toHaveLength(4);
    host.kill("SIGKILL");
    await expect.poll(() => survivors(servers), { timeout: 5000 }).toBe(0);
    await expect.poll(() => survivors(pids), { timeout: 10_000 }).toBe(0);
  },
  60_000,
);

test.skipIf(process.platform !== "linux")(
  "the stubborn ones, too",
  async () => {
    const host = await startHost([stubborn, stubborn]);
    const pids = descendantsOf(host.pid ?? 0);
    expect(pids).toHaveLength(5);
    onTestFinished(() => {
      for (const pid of pids) if (isRunning(pid)) process.kill(pid, "SIGKILL");
    });
    host.kill("SIGKILL");
    await expect.poll(() => survivors(pids), { timeout: 10_000 }).toBe(0);
  },
  60_000,
);

test.skipIf(process.platform !== "linux")(
  "a watcher that was killed is replaced",
  async () => {
    const host = await startHost([stubborn]);
    const before = descendantsOf(host.pid ?? 0);
    const watcher = before.find(isWatcher);
    process.kill(watcher ?? 0, "SIGKILL");
    const current = () => descendantsOf(host.pid ?? 0);
    await expect.poll(() => current().filter((pid) => !before.includes(pid)).length).toBe(1);
    const pids = current();
    onTestFinished(() => {
      for (const pid of pids) if (isRunning(pid)) process.kill(pid, "SIGKILL");
    });
    host.kill("SIGKILL");
    await expect.poll(() => survivors(pids), { timeout: 10_000 }).toBe(0);
  },
  60_000,
);
