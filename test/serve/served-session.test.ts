import { describe, expect, onTestFinished, test } from "vitest";
import type { ServeOptions } from "../../src/serve.ts";
import { listed } from "../approval/support/locked-project.ts";
import { listingConfig, writeListing } from "../session/support/lazy.ts";
import { makeProject, probe, toolPack } from "../session/support/session.ts";
import {
  connectLegacy,
  connectModern,
  hearToolLists,
  serveForTest,
  waitForTools,
} from "../support/clients.ts";
import { waitUntil } from "../support/wait-until.ts";

const module = `
export const remember = ({ key, value }, { memory }) => {
  const before = memory.get(key) ?? null;
  if (value !== undefined) memory.set(key, value);
  return { before };
};
export const show = (args, context) => ({
  sessionId: context.sessionId,
  device: context.device,
  memory: args._trailblazeContext.memory,
  keys: Object.keys(args),
});
export const quiet = () => "hidden";
export const fail = () => { throw new Error("it broke"); };
export const say = ({ who }, { callTool }) => callTool("show").then(({ variant }) => who + " " + variant);
`;

const desk = toolPack(
  {
    remember: {},
    show: {},
    fail: {},
    quiet: { _meta: { "trailblaze/isForLlm": false } },
    onPhone: { handler: "./handlers.js#show", _meta: { "trailblaze/supportedPlatforms": ["IOS"] } },
  },
  module,
  {
    "package.json": { version: "2.0.0", trailblaze: { prompts: ["text", "code", "broken"] } },
    "trailblaze/prompts/text.json": { name: "text", description: "A text.", content: "Hello." },
    "trailblaze/prompts/code.json": {
      name: "code",
      description: "Code.",
      arguments: [{ name: "who", required: true }],
      handler: "./handlers.js#say",
    },
    "trailblaze/prompts/broken.json": { name: "broken", description: "No content." },
  },
);

/** A project whose session has a pack, a server of the config, and one that does not start. */
function makeSession(config: object = {}): string {
  const written = {
    logDir: "logs",
    memory: { user: "ada", token: "s3cret-value" },
    sensitiveMemory: ["token"],
    trailblazeSubprocessToolsets: [probe("probe"), { name: "lost", command: "absent-program", args: [] }],
    ...config,
  };
  return makeProject({ desk }, { "trailblaze.config.json": written });
}

async function serve(cwd: string, { session, ...options }: ServeOptions = {}): Promise<string> {
  const settings = { watch: false, ...session };
  return (await serveForTest(null, { cwd, session: settings, ...options })).url;
}

async function serveDesk(): Promise<string> {
  const url = await serve(makeSession());
  await waitForTools(await connectModern(url), "probe_tell");
  return url;
}

interface Caller {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

/** The JSON in the first text of a result. */
async function ask(client: Caller, name: string, args: Record<string, unknown> = {}) {
  const { content, isError } = (await client.callTool({ name, arguments: args })) as {
    content: { text: string }[];
    isError?: boolean;
  };
  const text = content[0]?.text ?? "";
  return isError === true ? { isError, text } : JSON.parse(text);
}

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

describe("a session that is served", () => {
  test("the tools and prompts of packs and of the config's servers are served as one server, without what models may not see", async () => {
    const client = await connectLegacy(await serveDesk());
    expect(client.getServerVersion()).toMatchObject({ name: "trailblaze" });
    const names = namesOf(await client.listTools());
    expect(names).toEqual([
      ...["params", "env", "result", "callback", "crash", "hang", "tell", "wrapper"].map(
        (one) => `probe_${one}`,
      ),
      ...["remember", "show", "fail"],
    ]);
    for (const name of ["quiet", "probe_hidden", "onPhone", "absent"]) {
      await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({ code: -32602 });
    }
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
    });
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["text", "code"]);
    // Their handlers can call the session's tools.
    const { messages } = await client.getPrompt({ name: "code", arguments: { who: "Ada" } });
    expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Ada Success" } }]);
  });

  test("the options of a session apply: its platform, its toolsets and its memory", async () => {
    const session = {
      device: { platform: "IOS" as const },
      toolsets: ["phone"],
      memory: { user: "eve" },
    };
    const cwd = makeSession({ toolsets: { phone: ["desk/onPhone", "desk/show"] } });
    const client = await connectLegacy(await serve(cwd, { session }));
    expect(namesOf(await client.listTools())).toEqual(["show", "onPhone"]);
    expect(await ask(client, "onPhone")).toMatchObject({
      memory: { user: "eve" },
      device: { platform: "IOS" },
    });
    await expect(client.callTool({ name: "remember", arguments: {} })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test("a call gets the session's envelope, and what a client sends in its place is dropped; a failure has its variant in _meta", async () => {
    const client = await connectLegacy(await serveDesk());
    const forged = { _trailblazeContext: { memory: { user: "mallory" } }, other: 1 };
    const params = await ask(client, "probe_params", forged);
    expect(params.arguments).toEqual({
      other: 1,
      _trailblazeContext: { memory: { user: "ada" }, device: null },
    });
    expect(params._meta.trailblaze).toMatchObject({
      memory: { user: "ada" },
      sessionId: expect.any(String),
      invocationId: expect.any(String),
      baseUrl: expect.stringContaining("http://127.0.0.1:"),
    });
    const failed = await client.callTool({ name: "fail", arguments: {} });
    expect(failed).toMatchObject({ isError: true, content: [{ type: "text", text: "it broke" }] });
    const content = [{ type: "text", text: "no" }];
    const result = {
      content,
      isError: true,
      _meta: { trailblaze: { variant: "MissingRequiredArgs", missing: ["a"] } },
    };
    expect(await client.callTool({ name: "probe_result", arguments: { result } })).toEqual(result);
  });

  test("a server that exits is started again, and clients are told if it then lists other tools", async () => {
    const listing = { tools: [listed("crash")] };
    const cwd = makeProject({}, { "a.json": listing, "trailblaze.config.json": listingConfig() });
    const url = await serve(cwd);
    const [client, modern] = [await connectLegacy(url), await connectModern(url)];
    const told = hearToolLists(client, modern);
    const subscription = await modern.listen({ toolsListChanged: true });
    onTestFinished(() => subscription.close());
    expect(namesOf(await client.listTools())).toEqual(["crash"]);
    writeListing(cwd, { tools: [listed("second")] });
    expect(await client.callTool({ name: "crash", arguments: {} })).toMatchObject({
      isError: true,
      _meta: { trailblaze: { variant: "FatalError" } },
    });
    await waitUntil(() => told.includes("legacy") && told.includes("modern"));
    expect(namesOf(await client.listTools())).toEqual(["second"]);
    expect(namesOf(await modern.listTools())).toEqual(["second"]);
  });
});

describe("clients of one served session over HTTP", () => {
  test("two clients have sessions and memories of their own, and share the servers' processes", async () => {
    const url = await serveDesk();
    const [one, other] = [await connectLegacy(url), await connectLegacy(url)];
    expect(await ask(one, "remember", { key: "user", value: "one" })).toEqual({ before: "ada" });
    expect(await ask(other, "remember", { key: "user", value: "other" })).toEqual({ before: "ada" });
    expect(await ask(one, "remember", { key: "user" })).toEqual({ before: "one" });
    const [first, second] = [await ask(one, "probe_params"), await ask(other, "probe_params")];
    expect(first._meta.trailblaze).toMatchObject({ memory: { user: "one" } });
    expect(second._meta.trailblaze).toMatchObject({ memory: { user: "other" } });
    const ids = [first, second].map(({ _meta }) => _meta.trailblaze.sessionId);
    expect(new Set(ids).size).toBe(2);
    expect(await ask(one, "show")).toMatchObject({ sessionId: ids[0] });
    expect((await ask(one, "probe_tell")).pid).toBe((await ask(other, "probe_tell")).pid);
    // The processes were started by none of the clients.
    expect(ids).not.toContain((await ask(one, "probe_env")).TRAILBLAZE_SESSION_ID);
  });

  test("a callback uses the memory of the client whose call it belongs to", async () => {
    const url = await serveDesk();
    const [one, other] = [await connectLegacy(url), await connectLegacy(url)];
    const write = { tool: "remember", with: { key: "user", value: "by callback" } };
    const { body } = await ask(one, "probe_callback", write);
    expect(body.result).toMatchObject({ success: true });
    expect(await ask(one, "remember", { key: "user" })).toEqual({ before: "by callback" });
    expect(await ask(other, "remember", { key: "user" })).toEqual({ before: "ada" });
    const foreign = await ask(other, "probe_callback", {
      tool: "show",
      request: { session_id: (await ask(one, "show")).sessionId },
    });
    expect(foreign.body.result).toMatchObject({ type: "error" });
  });

  test("a value that a client stores under a sensitive key is in no envelope of its calls", async () => {
    const cwd = makeSession();
    const client = await connectLegacy(await serve(cwd));
    await ask(client, "remember", { key: "token", value: "client-s3cret" });
    expect(JSON.stringify(await ask(client, "probe_params"))).not.toContain("s3cret");
  });

  test("each call of a modern client, and of a legacy one with --stateless, starts with the configured memory", async () => {
    const cwd = makeSession();
    const modern = await connectModern(await serve(cwd));
    const legacy = await connectLegacy(await serve(cwd, { transport: { port: 0, stateless: true } }));
    for (const client of [modern, legacy]) {
      expect(await ask(client, "remember", { key: "user", value: "x" })).toEqual({ before: "ada" });
      expect(await ask(client, "remember", { key: "user" })).toEqual({ before: "ada" });
    }
    expect(namesOf(await modern.listTools())).toEqual(namesOf(await legacy.listTools()));
  });
});
