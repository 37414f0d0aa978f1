import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createPosixGroup,
  createProcessPort,
  createWindowsTree,
  type ProcessPort,
} from "../../src/processes/server-process.ts";

const at = { cwd: process.cwd(), env: {} };

async function startNode(port: ProcessPort, code: string) {
  const child = await port.start({ command: process.execPath, args: ["-e", code], ...at });
  onTestFinished(() => child.end(0));
  return child;
}

describe("a supervised process", () => {
  test("a process reports how it exited", async () => {
    const port = createProcessPort();
    expect(await (await startNode(port, "process.exit(3)")).exited).toEqual({ exitCode: 3, signal: null });
    const killed = await startNode(port, "process.kill(process.pid, 'SIGTERM')");
    expect(await killed.exited).toEqual({ exitCode: null, signal: "SIGTERM" });
  });

  test("a process exits when its input closes, without a signal", async () => {
    const child = await startNode(
      createProcessPort(),
      "process.stdin.resume().on('end', () => process.exit(5))",
    );
    await child.end(20_000);
    expect(await child.exited).toEqual({ exitCode: 5, signal: null });
  });

  test("a second request to end a process shortens the waiting", async () => {
    const child = await startNode(createProcessPort(), "setInterval(() => {}, 1000)");
    const slow = child.end(600_000);
    await child.end(0);
    await slow;
    expect((await child.exited).signal).toMatch(/^SIG(TERM|KILL)$/);
  });

  test.each(["before", "after"])(
    "a process gets little time if haste is requested %s its end begins",
    async (when) => {
      const haste = new AbortController();
      const child = await startNode(
        createProcessPort({ haste: haste.signal }),
        "setInterval(() => {}, 1000)",
      );
      if (when === "before") haste.abort();
      const ended = child.end(600_000);
      haste.abort();
      await ended;
      expect((await child.exited).signal).toBe("SIGTERM");
    },
  );

  test.skipIf(process.platform !== "linux")(
    "an ended process leaves no watcher and no open files behind",
    async () => {
      const port = createProcessPort();
      const watchers = () =>
        readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "latin1")
          .split(" ")
          .filter((pid) => {
            try {
              return pid !== "" && readlinkSync(`/proc/${pid}/cwd`) === "/";
            } catch {
              return false;
            }
          }).length;
      // Those of other tests are on their way.
      await expect.poll(watchers).toBe(0);
      const starting = [1, 2, 3].map(() => startNode(port, "setInterval(() => {}, 1000)"));
      const children = await Promise.all(starting);
      expect(watchers()).toBe(1);
      await Promise.all(children.map((child) => child.end(0)));
      await expect.poll(watchers).toBe(0);
      for (const command of ["no-such-command-here", "a\0b"]) {
        await expect(port.start({ command, args: [], ...at })).rejects.toThrow("the command");
      }
      await expect.poll(watchers).toBe(0);
    },
  );
});

describe("process groups", () => {
  test("ended groups are recognized, and the host's own process numbers are rejected", async () => {
    const child = await startNode(createProcessPort(), "");
    await child.exited;
    const group = createPosixGroup(child.pid, () => false);
    await expect.poll(() => group.isAlive()).toBe(false);
    for (const leader of [0, 1, -5, Number.NaN])
      expect(() => createPosixGroup(leader, () => false)).toThrow();
  });

  test.skipIf(process.platform !== "linux")("a group of zombies has ended", async () => {
    const child = `require("child_process").spawn("sleep", ["600"], { detached: true })`;
    const code = `console.log(${child}.pid); process.kill(process.pid, "SIGSTOP")`;
    // While it is stopped, it does not reap its child.
    const parent = await startNode(createProcessPort(), code);
    const [line] = await once(parent.stdout, "data");
    const pid = Number(line);
    onTestFinished(() => void process.kill(parent.pid, "SIGCONT"));
    const group = createPosixGroup(pid, () => false);
    expect(group.isAlive()).toBe(true);
    group.signal("SIGKILL");
    await expect.poll(() => group.isAlive()).toBe(false);
    expect(readFileSync(`/proc/${pid}/stat`, "latin1")).toContain(" Z ");
  });

  test("on Windows, taskkill ends the tree below a process", () => {
    const asked: (readonly string[])[] = [];
    createWindowsTree(
      7,
      () => true,
      (args) => asked.push(args),
    ).signal("SIGTERM");
    expect(asked).toEqual([["/pid", "7", "/t", "/f"]]);
  });
});
