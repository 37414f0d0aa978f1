// A served session whose servers start when they are needed. Each server ends with its session.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import type { ServeOptions } from "../../src/serve.ts";
import { listed } from "../approval/support/locked-project.ts";
import { listingConfig, makeLocked, namesOf, pidsOf, writeListing } from "../session/support/lazy.ts";
import {
  connectLegacy,
  connectModern,
  hearToolLists,
  hearUpdates,
  serveForTest,
} from "../support/clients.ts";
import { isRunning } from "../support/processes.ts";
import { waitUntil } from "../support/wait-until.ts";

const row = { uriTemplate: "docs://{page}", name: "page" };
const listing = {
  tools: ["say", "touch", "ask"].map((name) => listed(name)),
  prompts: [{ name: "topic", arguments: [{ name: "x" }] }],
  resources: [{ uri: "docs://index", name: "index" }],
  resourceTemplates: [row],
};

const makeProject = (entry: object = {}) =>
  makeLocked(listingConfig(["a"], entry), {}, { "a.json": listing });

/** One with two servers that end when they are idle. */
const makeIdle = () =>
  makeLocked(
    listingConfig(["a", "b"], { idleMs: 40 }),
    {},
    {
      "a.json": listing,
      "b.json": { tools: [listed("other")] },
    },
  );

const pidOf = (result: unknown) =>
  Number(JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? "").pid);

/** Lets more time pass than a server may be idle: resolves when the other one has ended. */
async function outlastIdle(client: Client) {
  const pid = pidOf(await client.callTool({ name: "other", arguments: {} }));
  await waitUntil(() => !isRunning(pid));
}

async function serve(cwd: string, options: ServeOptions = {}) {
  const running = await serveForTest(null, { cwd, config: "trailblaze.config.json", ...options });
  running.ended.catch(() => {});
  const { url } = running;
  const asks = { elicitation: { form: {} } };
  const [legacy, modern] = [await connectLegacy(url, asks), await connectModern(url, asks)];
  return { running, legacy, modern };
}

const traceOf = (cwd: string) =>
  existsSync(join(cwd, "trace")) ? readFileSync(join(cwd, "trace"), "utf8").trim().split("\n") : [];

test("a served session is lazy by default, and clients hear what a first start takes away", async () => {
  const cwd = await makeProject();
  const { legacy, modern } = await serve(cwd);
  const heard = hearToolLists(legacy, modern);
  await modern.listen({ toolsListChanged: true });
  for (const client of [legacy, modern]) {
    expect(namesOf((await client.listTools()).tools)).toEqual(["ask", "say", "touch"]);
    expect(namesOf((await client.listPrompts()).prompts)).toEqual(["topic"]);
    expect((await client.listResources()).resources).toMatchObject([{ uri: "docs://index" }]);
  }
  expect(pidsOf(cwd)).toEqual([]);
  writeListing(cwd, {
    ...listing,
    tools: [listed("say"), listed("touch", { title: "Poison" }), listed("new")],
  });
  const calls = await Promise.all(
    [legacy, modern].map((client) => client.callTool({ name: "touch", arguments: {} })),
  );
  for (const call of calls)
    expect(call).toMatchObject({ isError: true, _meta: { trailblaze: { code: "NotApproved" } } });
  await expect.poll(() => heard.toSorted()).toEqual(["legacy", "modern"]);
  for (const client of [legacy, modern]) {
    expect(namesOf((await client.listTools()).tools)).toEqual(["say"]);
    await expect(client.callTool({ name: "say", arguments: {} })).resolves.not.toHaveProperty("isError");
    await expect(client.callTool({ name: "touch", arguments: {} })).rejects.toMatchObject({ code: -32602 });
  }
  expect(pidsOf(cwd)).toHaveLength(1);
  expect(traceOf(cwd).filter((line) => line === "tools/call")).toHaveLength(2);
});

test("clients are listed other tools of a running server when it tells of them, as far as the lock approves them", async () => {
  const tools = ["gone", "grow", "say"].map((name) => listed(name));
  const cwd = await makeLocked(listingConfig(["a"]), {}, { "a.json": { tools } });
  const { legacy, modern } = await serve(cwd);
  const heard = hearToolLists(legacy, modern);
  await modern.listen({ toolsListChanged: true });
  const startTime = performance.now();
  await legacy.callTool({ name: "say", arguments: {} });
  const changeTo = async (all: object[], expected: string[]) => {
    heard.length = 0;
    writeListing(cwd, { tools: all });
    for (let time = 0; time < 9; time++) await legacy.callTool({ name: "grow", arguments: {} });
    await expect.poll(() => heard.toSorted(), { timeout: 5000 }).toEqual(["legacy", "modern"]);
    for (const client of [legacy, modern])
      expect(namesOf((await client.listTools()).tools).toSorted()).toEqual(expected);
  };
  await changeTo([listed("say"), listed("grow"), listed("new")], ["grow", "say"]);
  // What is approved comes back.
  await changeTo(tools, ["gone", "grow", "say"]);
  // At its start, and once a second at most, each again if it changes meanwhile; it told of 18 changes.
  const most = Math.max(9, 2 * (3 + (performance.now() - startTime) / 1000));
  expect(traceOf(cwd).filter((line) => line === "tools/list").length).toBeLessThan(most);
  expect(pidsOf(cwd)).toHaveLength(1);
});

test("a subscription starts its server, keeps it running, and is not made to what the lock refuses", async () => {
  const cwd = await makeIdle();
  const { legacy, modern } = await serve(cwd);
  const heard = hearUpdates(legacy, modern);
  const uris = ["docs://index", "docs://1"];
  for (const uri of uris) await legacy.subscribeResource({ uri });
  const listening = await modern.listen({ resourceSubscriptions: uris });
  await waitUntil(() => traceOf(cwd).filter((line) => line.startsWith("resources/subscribe")).length === 2);
  const subscribed = pidOf(await legacy.callTool({ name: "touch", arguments: { uri: "docs://1" } }));
  await expect.poll(() => heard.toSorted()).toEqual(["legacy docs://1", "modern docs://1"]);
  await outlastIdle(legacy);
  expect(isRunning(subscribed)).toBe(true);
  await listening.close();
  for (const uri of uris) await legacy.unsubscribeResource({ uri });
  await waitUntil(() => !isRunning(subscribed));
  writeListing(cwd, {
    ...listing,
    resources: [{ uri: "docs://index", name: "poison" }],
    resourceTemplates: [{ ...row, title: "Poison" }],
  });
  rmSync(join(cwd, "trace"));
  for (const uri of uris) await legacy.subscribeResource({ uri }).catch(() => {});
  await legacy.callTool({ name: "say", arguments: {} });
  await expect.poll(async () => (await legacy.listResources()).resources).toEqual([]);
  expect(traceOf(cwd).filter((line) => line.startsWith("resources/subscribe"))).toEqual([]);
});

test("a server is not ended while a client is asked", async () => {
  const cwd = await makeIdle();
  const { legacy } = await serve(cwd);
  legacy.setRequestHandler(ElicitRequestSchema, async () => {
    await outlastIdle(legacy);
    return { action: "accept" as const, content: { name: "Ada" } };
  });
  const { content } = (await legacy.callTool({ name: "ask", arguments: {} })) as {
    content: { text: string }[];
  };
  expect(JSON.parse(content[0]?.text ?? "")).toMatchObject({ content: { name: "Ada" } });
  await waitUntil(() => pidsOf(cwd).filter(isRunning).length === 0);
  expect(pidsOf(cwd)).toHaveLength(2);
});

test("a list that differs from a frozen lock ends what is served", async () => {
  const cwd = await makeProject();
  const { legacy, running } = await serve(cwd, { lock: "frozen" });
  writeListing(cwd, { ...listing, tools: [listed("say", { title: "Changed" })] });
  await expect(legacy.callTool({ name: "say", arguments: {} })).rejects.toThrow("The session has ended");
  await expect(running.ended).rejects.toMatchObject({ code: "LockMismatch" });
  expect(pidsOf(cwd).filter(isRunning)).toEqual([]);
});
