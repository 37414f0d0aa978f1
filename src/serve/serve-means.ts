import type { Readable, Writable } from "node:stream";
import { createInspectionMeans } from "../inspection/inspection-means.ts";
import { createProcessPort } from "../processes/server-process.ts";
import { createExecutionMeans } from "../session/create-session-means.ts";
import type { RunningServer } from "./serve-options.ts";
import type { ServeMeans } from "./start-server.ts";

/** Where the protocol goes once stdout is reserved; a process has one stdout, so this is done once. */
let protocolOutput: Writable | undefined;
let protocolInput: Readable | undefined;

async function reserveStdout(): Promise<Writable> {
  if (protocolOutput === undefined) {
    const { reserveStdout: reserve } = await import("../mcp/stdio/reserve-stdout.ts");
    protocolOutput = reserve(process.stdout, process.stderr);
  }
  return protocolOutput;
}

async function reserveStdin(): Promise<Readable> {
  if (protocolInput === undefined) {
    const { reserveStdin: reserve } = await import("../mcp/stdio/reserve-stdin.ts");
    protocolInput = reserve(process);
  }
  return protocolInput;
}

/** A running server that has ended when `close` has, or when it ended by itself. */
function createRunning(url?: string) {
  let announce = () => {};
  const ended = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const finish = (close: () => Promise<void>): RunningServer => ({
    ...(url === undefined ? {} : { url }),
    ended,
    close: () => close().finally(announce),
  });
  return { announce: () => announce(), finish };
}

/** The means of serving on this machine; what not every server needs is loaded where it does. */
export function createServeMeans(): ServeMeans {
  const processes = createProcessPort();
  return {
    ...createExecutionMeans(processes),
    inspection: createInspectionMeans(),
    processes,
    log: (text) => void process.stderr.write(text.endsWith("\n") ? text : `${text}\n`),
    reserveStdout: async () => void (await reserveStdout()),
    reserveStdin: async () => void (await reserveStdin()),
    async reserveDescriptors() {
      const { reserveDescriptors } = await import("../processes/reserve-descriptors.ts");
      reserveDescriptors();
    },
    async serveStdio(create) {
      const { serveStdio } = await import("../mcp/stdio/serve-stdio.ts");
      const output = await reserveStdout();
      const { announce, finish } = createRunning();
      const served = await serveStdio(create, {
        input: protocolInput ?? process.stdin,
        output,
        onEnd: announce,
      });
      return finish(() => served.close());
    },
    async serveHttp(label, create, { sessionTtl, ...options }) {
      const { serveHttp } = await import("../mcp/http/serve-http.ts");
      const ttl = sessionTtl === undefined ? {} : { sessionTtlMs: sessionTtl * 1000 };
      const served = await serveHttp(create, { label, ...options, ...ttl });
      return createRunning(served.url).finish(() => served.close());
    },
    async passThrough(label, launch) {
      const { passThrough } = await import("./pass-through.ts");
      const streams = { input: process.stdin, output: process.stdout, error: process.stderr };
      return passThrough(label, launch, processes, streams);
    },
  };
}
