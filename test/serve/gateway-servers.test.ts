import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeProject } from "../session/support/session.ts";
import { connectLegacy, connectModern, hearUpdates, serveForTest, waitForTools } from "../support/clients.ts";
import { isRunning, readPids } from "../support/processes.ts";

const at = (specifier: string) => JSON.stringify(import.meta.resolve(specifier));

/** What servers of both eras answer. */
const answers = (name: string) => `
  const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {} };
  const subscribed = new Set();
  const handlers = (server) => ({
    "tools/list": () => ({ tools: ["touch", "exit"].map((name) => ({
      name: "${name}_" + name, inputSchema: { type: "object", properties: { uri: { type: "string" } } } })) }),
    "tools/call": async ({ params }) => {
      if (params.name === "${name}_exit") process.exit(3);
      await server.sendResourceUpdated({ uri: params.arguments.uri });
      return { content: [] };
    },
    "prompts/list": () => ({ prompts: [{ name: "${name}.prompt", arguments: [{ name: "topic", required: true }] }] }),
    "prompts/get": ({ params }) => ({ messages: [
      { role: "user", content: { type: "text", text: "${name} on " + params.arguments?.topic } }] }),
    "resources/list": () => ({ resources: [{ uri: "${name}://subscribed", name: "subscribed" }] }),
    "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "${name}://rows/{id}", name: "row" }] }),
    "resources/read": ({ params: { uri } }) => {
      if (uri.endsWith("/none")) throw Object.assign(new Error("Resource not found"), { code: -32002 });
      return { contents: [{ uri, text: JSON.stringify([...subscribed]) }] };
    },
    "completion/complete": ({ params: { ref, argument, context } }) => {
      if (argument.value === "fail") throw new Error("The index is gone.");
      const values = [ref.name ?? ref.uri, argument.name, argument.value, JSON.stringify(context?.arguments ?? {})];
      return { completion: argument.value === "many" ? { values, total: 300, hasMore: true } : { values } };
    },
  });`;

const legacyServer = (name: string) => `
  import { Server } from ${at("@modelcontextprotocol/sdk/server/index.js")};
  import { StdioServerTransport } from ${at("@modelcontextprotocol/sdk/server/stdio.js")};
  import * as types from ${at("@modelcontextprotocol/sdk/types.js")};
  ${answers(name)}
  const server = new Server({ name: "${name}", version: "1.0.0" }, { capabilities });
  const schemas = { "tools/list": "ListTools", "tools/call": "CallTool", "prompts/list": "ListPrompts",
    "prompts/get": "GetPrompt", "resources/list": "ListResources", "resources/templates/list": "ListResourceTemplates",
    "resources/read": "ReadResource", "completion/complete": "Complete" };
  for (const [method, handler] of Object.entries(handlers(server)))
    server.setRequestHandler(types[schemas[method] + "RequestSchema"], handler);
  server.setRequestHandler(types.SubscribeRequestSchema, ({ params }) => { subscribed.add(params.uri); return {}; });
  server.setRequestHandler(types.UnsubscribeRequestSchema, ({ params }) => { subscribed.delete(params.uri); return {}; });
  await server.connect(new StdioServerTransport());`;

const modernServer = (name: string) => `
  import { Server } from ${at("@modelcontextprotocol/server")};
  import { serveStdio } from ${at("@modelcontextprotocol/server/stdio")};
  ${answers(name)}
  serveStdio(() => {
    const server = new Server({ name: "${name}", version: "1.0.0" }, { capabilities });
    for (const [method, handler] of Object.entries(handlers(server))) server.setRequestHandler(method, handler);
    return server;
  }, { legacy: "reject" });`;

async function serve() {
  const cwd = makeProject({});
  const servers = Object.entries({ old: legacyServer, new: modernServer }).map(([name, source]) => {
    const file = join(cwd, `${name}.mjs`);
    writeFileSync(file, source(name));
    return { name, command: process.execPath, args: [file] };
  });
  const config = { logDir: "logs", crash: "relaunch", trailblazeSubprocessToolsets: servers } as never;
  const { url } = await serveForTest(null, { cwd, config });
  const [legacy, modern] = [await connectLegacy(url), await connectModern(url)];
  await waitForTools(modern, "old_touch", "new_touch");
  return { legacy, modern };
}

test("what was started for a server that cannot listen is ended", async () => {
  const cwd = makeProject({});
  const note = `import { appendFileSync } from "node:fs"; appendFileSync("pids", process.pid + "\\n");`;
  writeFileSync(join(cwd, "old.mjs"), note + legacyServer("old"));
  const server = { name: "old", command: process.execPath, args: [join(cwd, "old.mjs")], cwd };
  const config = { logDir: "logs", trailblazeSubprocessToolsets: [server] } as never;
  const { url } = await serveForTest("old", { cwd, config });
  const transport = { port: Number(new URL(url).port) };
  const again = serveForTest("old", { cwd, config, transport });
  await expect(again).rejects.toMatchObject({ code: "ServerStartFailed" });
  expect(readPids(join(cwd, "pids")).map(isRunning)).toEqual([true, false]);
});

test("clients of both eras get prompts, suggestions and updates of servers of both eras", async () => {
  const { legacy, modern } = await serve();
  for (const client of [legacy, modern]) {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name, arguments: args }) => [name, args])).toEqual([
      ["old_prompt", [{ name: "topic", required: true }]],
      ["new_prompt", [{ name: "topic", required: true }]],
    ]);
    for (const name of ["old", "new"]) {
      const { messages } = await client.getPrompt({ name: `${name}_prompt`, arguments: { topic: "tea" } });
      expect(messages).toMatchObject([{ role: "user", content: { text: `${name} on tea` } }]);
      await expect(client.getPrompt({ name: `${name}_prompt` })).rejects.toMatchObject({ code: -32602 });
      const complete = async (ref: object, value: string, context?: object) =>
        (
          await client.complete({
            ref: ref as { type: "ref/prompt"; name: string },
            argument: { name: "topic", value },
            ...(context && { context: context as { arguments: Record<string, string> } }),
          })
        ).completion;
      const prompt = { type: "ref/prompt", name: `${name}_prompt` };
      // The server's own name.
      expect(await complete(prompt, "t", { arguments: { a: "1" } })).toEqual({
        values: [`${name}.prompt`, "topic", "t", '{"a":"1"}'],
        hasMore: false,
      });
      const template = { type: "ref/resource", uri: `${name}://rows/{id}` };
      expect(await complete(template, "many")).toMatchObject({
        values: [`${name}://rows/{id}`, "topic", "many", "{}"],
        hasMore: true,
      });
      await expect(complete(template, "fail")).rejects.toThrow("The index is gone.");
      await expect(complete({ type: "ref/prompt", name: "none" }, "")).rejects.toMatchObject({
        code: -32602,
      });
      const missing = client.readResource({ uri: `${name}://rows/none` });
      await expect(missing).rejects.toMatchObject({ code: client === legacy ? -32002 : -32602 });
    }
  }

  // Subscriptions of clients go to the servers, also after a restart, and end with the last one.
  const heard = hearUpdates(legacy, modern);
  const uris = ["old://rows/1", "new://rows/1"];
  for (const uri of uris) await legacy.subscribeResource({ uri });
  const listening = await modern.listen({ resourceSubscriptions: uris });
  const touch = (uri: string) => legacy.callTool({ name: `${uri.slice(0, 3)}_touch`, arguments: { uri } });
  const hears = async (uri: string) => {
    heard.length = 0;
    await touch(uri);
    await expect.poll(() => heard.toSorted()).toEqual([`legacy ${uri}`, `modern ${uri}`]);
  };
  for (const uri of uris) await hears(uri);
  heard.length = 0;
  await touch("old://rows/2");
  const subscribed = async () => {
    const { contents } = await legacy.readResource({ uri: "old://subscribed" });
    return JSON.parse((contents as { text: string }[])[0]?.text ?? "");
  };
  expect(await subscribed()).toEqual(["old://rows/1"]);
  expect(heard).toEqual([]);
  // The contents may have changed during the restart.
  await legacy.callTool({ name: "old_exit", arguments: {} });
  await expect.poll(() => heard.toSorted()).toEqual(["legacy old://rows/1", "modern old://rows/1"]);
  await hears("old://rows/1");
  await listening.close();
  await legacy.unsubscribeResource({ uri: "old://rows/1" });
  await expect.poll(subscribed).toEqual([]);
});
