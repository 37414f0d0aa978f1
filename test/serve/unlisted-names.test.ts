// Every process ends with its client.
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { makeProject, toolPack } from "../session/support/session.ts";
import { command } from "../support/run-cli.ts";
import { waitUntil } from "../support/wait-until.ts";

const pack = (answer: string) => toolPack({ find: {} }, `export const find = () => "${answer}";`);

async function connect(cwd: string) {
  const client = new Client({ name: "tester", version: "1.0.0" });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  const args = [command, "start"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, stderr: "ignore" }));
  onTestFinished(() => client.close());
  return {
    changes: () => changes,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name: string) => client.callTool({ name, arguments: {} }),
  };
}

test("a connected client can call a tool by the bare name that it had before a collision; later clients cannot", async () => {
  const cwd = makeProject({ "@acme/shop": pack("shop") });
  const both = makeProject({ "@acme/shop": pack("shop"), "@acme/wiki": pack("wiki") });
  const client = await connect(cwd);
  expect(await client.names()).toEqual(["find"]);
  cpSync(join(both, "node_modules"), join(cwd, "node_modules"), { recursive: true });
  const dependencies = { "@acme/shop": "*", "@acme/wiki": "*" };
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "app", version: "1.0.0", dependencies }));
  await waitUntil(() => client.changes() > 0);
  expect(await client.names()).toEqual(["shop_find", "wiki_find"]);
  const text = (value: string) => ({ content: [{ type: "text", text: value }] });
  expect(await client.call("find")).toMatchObject(text("shop"));
  expect(await client.call("shop_find")).toMatchObject(text("shop"));
  expect(await client.call("wiki_find")).toMatchObject(text("wiki"));

  const later = await connect(cwd);
  expect(await later.names()).toEqual(["shop_find", "wiki_find"]);
  await expect(later.call("find")).rejects.toMatchObject({ code: -32602 });
});
