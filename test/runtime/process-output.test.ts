import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createProcessPort } from "../../src/processes/server-process.ts";
import { keepOutput, readToEnd } from "../../src/runtime/process-output.ts";
import { createRedactor } from "../../src/runtime/redact.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

async function startNode(code: string) {
  const launch = { command: process.execPath, args: ["-e", code], cwd: process.cwd(), env: {} };
  const child = await createProcessPort().start(launch);
  onTestFinished(() => child.end(0));
  return child;
}

/** Holds its output, and SIGTERM does not end it soon. */
const holder = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";

test("all output of a process is read even if another process holds its stream open, without waiting for that process", async () => {
  const child = await startNode(`
    const { spawn } = require("node:child_process");
    const { writeSync } = require("node:fs");
    spawn(process.execPath, ["-e", ${JSON.stringify(holder)}], { stdio: ["ignore", "inherit", "inherit"] });
    setTimeout(() => {
      writeSync(1, "x".repeat(60_000));
      process.exit(0);
    }, 300);
  `);
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await child.exited;
  // However late the timers are.
  for (const end = performance.now() + 200; performance.now() < end; );
  await readToEnd([child.stdout, child.stderr.resume()]);
  expect(bytes).toBe(60_000);
});

test("a log is private, is appended to, and ends with a note at its limit", () => {
  const { path, remove } = makeTemporaryFolder();
  onTestFinished(remove);
  const logFile = join(path, "server.log");
  const redactor = createRedactor([]);
  for (const text of ["a", "b"]) keepOutput(redactor, { logFile, limitBytes: 100 }).add(Buffer.from(text));
  expect(readFileSync(logFile, "utf8")).toBe("ab");
  expect(statSync(logFile).mode & 0o777).toBe(0o600);
  const output = keepOutput(redactor, { logFile, limitBytes: 2 });
  for (const text of ["c", "de", "fg"]) output.add(Buffer.from(text));
  expect(readFileSync(logFile, "utf8")).toBe("abcde\n[trailblaze: output after 2 bytes is dropped]\n");
});
