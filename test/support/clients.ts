// Clients of both versions of the SDK, and what serves them. Each ends with its test.
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished } from "vitest";
import { type ServeOptions, startServer } from "../../src/serve.ts";
import { collect } from "./processes.ts";
import { command } from "./run-cli.ts";
import { waitUntil } from "./wait-until.ts";

const info = { name: "tester", version: "1.0.0" };

/** Serves a server or, with `null`, the session of a project, on a free port of loopback. */
export async function serveForTest(server: string | null, options: ServeOptions) {
  const running = await startServer(server, { transport: { port: 0 }, ...options });
  onTestFinished(() => running.close());
  return { url: String(running.url), ended: running.ended, close: () => running.close() };
}

/** A legacy client, once it also has the stream that it opens by itself for notifications. */
export async function connectLegacy(url: string, capabilities: object = {}): Promise<Client> {
  const client = new Client(info, { capabilities });
  onTestFinished(() => client.close());
  let isListening = false;
  const observed = async (target: string | URL, init?: RequestInit) => {
    const response = await fetch(target, init);
    isListening ||= init?.method === "GET";
    return response;
  };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: observed }));
  await waitUntil(() => isListening);
  return client;
}

/** A legacy client of what the built command serves over stdio, and what that has written to stderr. */
export async function connectToCommand(
  cwd: string,
  ...given: readonly (string | { capabilities: object })[]
) {
  const args = given.filter((one) => typeof one === "string");
  const options = given.find((one) => typeof one === "object");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [command, "start", ...args],
    cwd,
    // Otherwise, the SDK passes on only a few variables.
    env: Object.fromEntries(Object.entries(process.env).map(([name, value = ""]) => [name, value])),
    stderr: "pipe",
  });
  const stderr = collect(transport.stderr);
  const client = new Client(info, options);
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, stderr };
}

/** Waits for tools of servers: a served session goes on without those that take more than eight seconds to start. */
export async function waitForTools(client: Client | ModernClient, ...names: string[]): Promise<void> {
  const listNames = async () => (await client.listTools()).tools.map(({ name }) => name);
  await expect.poll(listNames, { timeout: 60_000 }).toEqual(expect.arrayContaining(names));
}

/** A client of version 2, which is a modern one unless it has to choose between the eras. */
export async function connectModern(
  url: string,
  capabilities: object = {},
  mode: "auto" | { pin: string } = { pin: "2026-07-28" },
): Promise<ModernClient> {
  const client = new ModernClient(info, { capabilities, versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  await client.connect(new ModernHttp(new URL(url)) as never);
  return client;
}

/** Which of two clients hear that their list of tools has changed. */
export function hearToolLists(legacy: Client, modern: ModernClient): string[] {
  const heard: string[] = [];
  legacy.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push("legacy"));
  modern.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("modern"));
  return heard;
}

/** The same of resources, with their URIs. */
export function hearUpdates(legacy: Client, modern: ModernClient): string[] {
  const heard: string[] = [];
  const hear = (era: string) => (told: { params: { uri: string } }) =>
    void heard.push(`${era} ${told.params.uri}`);
  legacy.setNotificationHandler(ResourceUpdatedNotificationSchema, hear("legacy"));
  modern.setNotificationHandler("notifications/resources/updated", hear("modern"));
  return heard;
}
