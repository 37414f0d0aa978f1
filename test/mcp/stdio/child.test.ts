import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, onTestFinished, test } from "vitest";
import { inRepository } from "../../support/repository.ts";
import { calling, initializing } from "../http/served.ts";

const args = (options: object, ...more: string[]) => [
  "--import",
  import.meta.resolve("tsx"),
  inRepository("test/mcp/stdio/stdio-host.ts"),
  JSON.stringify(options),
  ...more,
];

/** Starts the host; its process is gone when the test ends. */
function start(options: object = {}, ...more: string[]) {
  const child = spawn(process.execPath, args(options, ...more), { stdio: "pipe" });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {});
  return {
    child,
    exited,
    say: (...messages: unknown[]) =>
      child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join("")),
    messages: (): { id?: unknown }[] =>
      stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)])),
    stderr: () => stderr,
  };
}

test("the SDK's client calls tools whose handlers print, and receives only MCP messages", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({ command: process.execPath, args: args({}), stderr: "pipe" });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  let stderr = "";
  transport.stderr?.on("data", (data) => {
    stderr += String(data);
  });
  onTestFinished(() => client.close());
  await client.connect(transport);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  for (let call = 0; call < 3; call++) {
    const { content } = await client.callTool({ name: "echo", arguments: { call } });
    expect(content).toEqual([{ type: "text", text: `{"call":${call}}` }]);
  }
  expect(errors).toEqual([]);
  const printed = [
    "by console.log: echo was called",
    "console.table",
    "by write: echo",
    "by bytes",
    "called back",
    "by end",
  ];
  for (const text of printed) expect(stderr).toContain(text);
  expect(stderr).toContain("by console.log: at start");
  await client.close();
});

test("a client that closes its end of stdout ends the process cleanly", async () => {
  const host = start();
  host.say(initializing(1));
  await expect.poll(() => host.messages().length).toBe(1);
  host.child.stdout.destroy();
  host.say(calling("large", 2, { length: 1_000_000 }));
  await expect.poll(host.stderr).toContain('"end":"output"');
  host.child.stdin.end();
  expect(await host.exited).toEqual([0, null]);
  expect(host.stderr()).not.toContain("EPIPE");
});

test("a client that stops reading does not block the process or its end", async () => {
  const host = start({ graceMs: 300 }, "exit");
  host.say(initializing(1));
  await expect.poll(() => host.messages().length).toBe(1);
  host.child.stdout.pause();
  host.say(calling("large", 2, { length: 20_000_000 }), calling("echo", 3));
  await expect.poll(host.stderr).toContain("by console.log: echo was called");
  host.child.stdin.end();
  expect(await host.exited).toEqual([0, null]);
});

test("handlers that read, pause or destroy stdin do not affect the protocol", async () => {
  const host = start();
  host.say(initializing(1), calling("echo", 2, { a: 1 }));
  await expect.poll(() => host.messages().length).toBe(2);
  for (let id = 3; id < 6; id++) {
    host.say(calling("echo", id, { destroy: id }));
    await expect.poll(() => host.messages().length).toBe(id);
  }
  expect(host.stderr()).toContain("stdin ended");
  expect(host.stderr()).not.toContain("stolen");
  expect(host.stderr()).not.toContain("by a handler");
  host.child.stdin.end();
  expect(await host.exited).toEqual([0, null]);
});
