// Clients that stay connected to the built `trailblaze start` while packs come, change and go. Every process ends with its
// client or with its test.
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, inject, onTestFinished, test } from "vitest";
import { runPackageManager } from "../support/package-managers.ts";
import { makeTree } from "../support/packs.ts";
import { command } from "../support/run-cli.ts";
import { serveOverHttp } from "../support/serve-over-http.ts";
import { waitUntil } from "../support/wait-until.ts";

/** A connected client that lists the tools again when it hears of a change, as clients do. */
interface Watching {
  names: string;
  call(): Promise<unknown>;
}

const namesOf = ({ tools }: { tools: readonly { name: string }[] }) => tools.map(({ name }) => name).join();
const call = { name: "live_ask", arguments: {} };
const tester = { name: "tester", version: "1.0.0" };

async function watchLegacy(transport: StdioClientTransport | StreamableHTTPClientTransport) {
  const client = new Client(tester);
  const watching: Watching = { names: "none", call: () => client.callTool(call) };
  const list = async () => {
    watching.names = namesOf(await client.listTools());
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, list);
  await client.connect(transport);
  onTestFinished(() => client.close());
  await list();
  return watching;
}

async function watchModern(transport: ModernStdio | ModernHttp) {
  const client = new ModernClient(tester, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const watching: Watching = { names: "none", call: () => client.callTool(call) };
  const list = async () => {
    watching.names = namesOf(await client.listTools());
  };
  client.setNotificationHandler("notifications/tools/list_changed", list);
  await client.connect(transport);
  onTestFinished(() => client.close());
  const subscription = await client.listen({ toolsListChanged: true });
  onTestFinished(() => subscription.close());
  await list();
  return watching;
}

test("connected clients of both eras have a pack's tools after npm has installed it, until npm removes it", async () => {
  const cwd = makeTree({
    "package.json": { name: "app", version: "1.0.0", private: true },
    "trailblaze.config.json": { logDir: "logs" },
  });
  const isolated = { cwd, registry: inject("registry"), home: makeTree({}) };
  const serving = await serveOverHttp(null, { cwd });
  onTestFinished(async () => void (await serving.stop()));
  const url = new URL(serving.url);
  let isListening = false;
  const observed = async (target: string | URL, init?: RequestInit) => {
    const response = await fetch(target, init);
    isListening ||= init?.method === "GET";
    return response;
  };
  const stdio = {
    command: process.execPath,
    args: [command, "start"],
    cwd,
    stderr: "ignore" as const,
  };
  const clients = [
    await watchLegacy(new StdioClientTransport(stdio)),
    await watchModern(new ModernStdio(stdio)),
    await watchLegacy(new StreamableHTTPClientTransport(url, { fetch: observed })),
    await watchModern(new ModernHttp(url)),
  ];
  // A client opens the stream for notifications by itself.
  await waitUntil(() => isListening);
  expect(clients.map(({ names }) => names)).toEqual(["", "", "", ""]);
  await runPackageManager("npm", ["install", "@acme/live@1.0.0"], isolated);
  await waitUntil(() => clients.every(({ names }) => names === "live_ask"), 60_000);
  const content = [{ type: "text", text: "version 1.0.0" }];
  for (const client of clients) expect(await client.call()).toMatchObject({ content });
  await runPackageManager("npm", ["uninstall", "@acme/live"], isolated);
  await waitUntil(() => clients.every(({ names }) => names === ""), 60_000);
  for (const client of clients) await expect(client.call()).rejects.toMatchObject({ code: -32602 });
  expect(await serving.stop()).toBe(0);
});
