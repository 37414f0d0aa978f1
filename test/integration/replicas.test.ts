// A served pack behind HAProxy. Every process ends with its test.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeProject, toolPack } from "../session/support/session.ts";
import { findProgram } from "../support/find-program.ts";
import { type Replica, startReplicas } from "../support/replicas.ts";
import { waitUntil } from "../support/wait-until.ts";

const haproxy = findProgram("haproxy");
const replicaCount = 4;
const clientCount = 64;

/** Writes down each call before it runs. */
const pack = toolPack(
  { work: {}, hang: {} },
  `import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
const calls = process.env.CALLS;
export const work = async ({ id }) => {
  appendFileSync(calls, process.pid + " " + id + "\\n");
  await setTimeout(20);
  return id;
};
export const hang = () => {
  appendFileSync(calls, process.pid + " hang\\n");
  return new Promise(() => {});
};`,
);

async function start(count: number) {
  const cwd = makeProject({ own: pack });
  const calls = join(cwd, "calls.txt");
  writeFileSync(calls, "");
  const started = await startReplicas(haproxy ?? "", cwd, count, { CALLS: calls });
  onTestFinished(started.end);
  return { ...started, readCalls: () => readFileSync(calls, "utf8").trimEnd().split("\n") };
}

test.skipIf(haproxy === undefined)(
  "64 clients behind four replicas lose nothing while two are drained, and only what ran at a killed one",
  async () => {
    const { replicas, connect, readCalls } = await start(replicaCount);
    const clients = await Promise.all(Array.from({ length: clientCount }, connect));
    onTestFinished(async () => void (await Promise.all(clients.map((client) => client.close()))));
    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });
    let answered = 0;
    const failed: string[] = [];
    const work = clients.map(async (client, one) => {
      for (let call = 0; !isOver; call++) {
        const id = `${one}.${call}`;
        // Larger than the default buffer of HAProxy.
        const padding = "x".repeat(one % 4 === 0 ? 20_000 : 0);
        try {
          const { content } = await client.callTool({ name: "work", arguments: { id, padding } });
          expect(content).toEqual([{ type: "text", text: id }]);
          answered++;
        } catch {
          failed.push(id);
        }
      }
    });
    const someMore = async () => {
      const before = answered;
      await waitUntil(() => answered >= before + 4 * clientCount);
    };
    const [first, second, third] = replicas as [Replica, Replica, Replica];

    await someMore();
    for (const { child, exited } of [first, second]) {
      child.kill("SIGTERM");
      expect(await exited).toEqual([0, null]);
      await someMore();
    }
    expect(failed).toEqual([]);

    third.child.kill("SIGKILL");
    await third.exited;
    await someMore();
    isOver = true;
    await Promise.all(work);

    const ran = readCalls();
    const placeOf = new Map(ran.map((line) => line.split(" ").reverse() as [string, string]));
    expect(placeOf.size).toBe(ran.length);
    // Those that failed ran there, or were on their way to it.
    for (const id of failed) expect([undefined, String(third.child.pid)], id).toContain(placeOf.get(id));
    expect(failed.length).toBeLessThanOrEqual(clientCount);
    expect(ran.length).toBeGreaterThanOrEqual(answered);
  },
);

test.skipIf(haproxy === undefined)(
  "a call that a replica ends in its middle does not run again",
  async () => {
    const { replicas, connect, readCalls } = await start(2);
    const client = await connect();
    onTestFinished(() => client.close());
    const failure = expect(client.callTool({ name: "hang" })).rejects.toThrow();
    await waitUntil(() => readCalls().some((line) => line.endsWith(" hang")));
    const [line = ""] = readCalls();
    const replica = replicas.find(({ child }) => line.startsWith(`${child.pid} `)) as Replica;
    replica.child.kill("SIGTERM");
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${replica.port}/healthz`)).status).toBe(503);
    // As the end of `--drain` does.
    replica.child.kill("SIGTERM");
    await failure;
    expect(readCalls()).toEqual([line]);
  },
);
