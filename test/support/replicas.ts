// Replicas of a served pack behind HAProxy, with its configuration of docs/guides/scaling.md.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { inRepository } from "./repository.ts";
import { command } from "./run-cli.ts";

export interface Replica {
  readonly child: ChildProcess;
  readonly port: number;
  readonly exited: Promise<unknown[]>;
}

export interface Replicas {
  readonly replicas: readonly Replica[];
  /** A modern client, connected through the proxy. */
  connect(): Promise<Client>;
  /** Kills the proxy and the replicas. */
  end(): Promise<void>;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** The configuration that the guide shows, with these addresses. */
function formatConfig(port: number, replicas: readonly Replica[]): string {
  const guide = readFileSync(inRepository("docs/guides/scaling.md"), "utf8");
  const [, shown] = /```haproxy\n(.*?)```/s.exec(guide) ?? [];
  if (shown === undefined) throw new Error("The guide shows no configuration of HAProxy.");
  const servers = replicas.map((replica, index) => `  server replica${index} 127.0.0.1:${replica.port}`);
  return shown
    .replace(/^ *bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/(?:^ *server .*\n)+/m, `${servers.join("\n")}\n`);
}

/** Starts replicas of the pack `own` of the project in `cwd`, and `haproxy` in front of them. */
export async function startReplicas(
  haproxy: string,
  cwd: string,
  count: number,
  env: NodeJS.ProcessEnv = {},
): Promise<Replicas> {
  const started: { child: ChildProcess; exited: Promise<unknown[]> }[] = [];
  const start = (program: string, args: readonly string[]) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, TRAILBLAZE_STATE_KEY: "a key that all replicas of the server share", ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const one = { child, exited: once(child, "exit") };
    started.push(one);
    return one;
  };
  const port = await findFreePort();
  const serving = ["start", "own", "--http", "0", "--protocol", "modern", "--health", "--json"];
  const end = async () => {
    for (const { child } of started) child.kill("SIGKILL");
    await Promise.all(started.map(({ exited }) => exited));
  };
  try {
    const replicas = await Promise.all(
      Array.from({ length: count }, async () => {
        const one = start(process.execPath, [command, ...serving, "--allowed-host", `127.0.0.1:${port}`]);
        const [text] = await once(one.child.stdout ?? one.child, "data");
        return { ...one, port: Number(new URL(JSON.parse(String(text)).url).port) };
      }),
    );
    const config = join(cwd, "haproxy.cfg");
    writeFileSync(config, formatConfig(port, replicas));
    start(haproxy, ["-db", "-f", config]);
    const probe = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    for (let tries = 0; !(await probe()); tries++) {
      if (tries > 200) throw new Error("HAProxy reaches no replica.");
      await sleep(50);
    }
    const connect = async () => {
      const negotiation = { versionNegotiation: { mode: { pin: "2026-07-28" } } } as const;
      const client = new Client({ name: "tester", version: "1.0.0" }, negotiation);
      await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
      return client;
    };
    return { replicas, connect, end };
  } catch (error) {
    await end();
    throw error;
  }
}
