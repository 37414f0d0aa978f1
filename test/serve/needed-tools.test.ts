// `needs.tools` of packs whose tools and prompts are served: by a composed server, and by a session.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test, vi } from "vitest";
import { startServer } from "../../src/serve.ts";
import { makeProject, toolPack } from "../session/support/session.ts";

const module = `
  export const say = () => "said";
  export const ask = async ({ tool }, { callTool }) => (await callTool(tool, {})).message;
  export const write = async ({ tool }, { callTool }) => (await callTool(tool, {})).message;
`;

const notes = toolPack(
  { say: { name: "notes_say" }, other: { name: "notes_other", handler: "./handlers.js#say" } },
  module,
  {
    "package.json": { trailblaze: { toolsets: ["drafts"] } },
    "trailblaze/toolsets/drafts.json": {
      kind: "Mcp.Tools",
      metadata: { name: "drafts" },
      entries: [
        { name: "draft", description: "A draft.", argumentsSchema: { type: "object" }, handler: "say" },
      ],
    },
  },
);

/** A pack with a tool and a prompt that call a tool by name; its toolset, which nothing serves, refers to `other`. */
const main = (needs: unknown) =>
  toolPack({ ask: {}, own: { handler: "./handlers.js#say" } }, module, {
    "package.json": { trailblaze: { prompts: ["write"], toolsets: ["mine"], servers: ["desk"], needs } },
    "trailblaze/prompts/write.json": {
      name: "write",
      description: "Writes.",
      arguments: [{ name: "tool", required: true }],
      handler: "./handlers.js#write",
    },
    "trailblaze/toolsets/mine.json": { name: "mine", description: "Mine.", tools: ["acme/notes/other"] },
    "trailblaze/servers/desk.json": { name: "desk", tools: ["ask", "acme/notes/say"] },
  });

const builtIns = [
  { name: "host_click", description: "Clicks.", inputSchema: { type: "object" }, handler: () => "clicked" },
];

interface Serving {
  needs?: unknown;
  packs?: object;
  /** Default: a server of the config with tools and prompts of both packs; `null` for the session. */
  server?: string | null;
}

/** The texts that a tool and a prompt get for the tool that they call, from a server with both packs. */
async function serve({ needs, packs = {}, server = "all" }: Serving) {
  const all = {
    tools: ["acme/main/ask", "acme/main/own", "acme/notes/say", "acme/notes/other", "host_click"],
    toolsets: ["acme/notes/drafts"],
    prompts: ["acme/main/write"],
  };
  const config = JSON.stringify({ packs, servers: { all }, logDir: "logs" });
  const cwd = makeProject(
    { "@acme/main": main(needs), "@acme/notes": notes },
    { "trailblaze.config.json": config },
  );
  const running = await startServer(server, { cwd, builtIns, transport: { port: 0 } });
  onTestFinished(() => running.close());
  const client = new Client({ name: "needs", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")) as never);
  onTestFinished(() => client.close());
  const { prompts } = server === null || server === "all" ? await client.listPrompts() : { prompts: [] };
  const { tools } = await client.listTools();
  const asking = tools.find(({ name }) => name.endsWith("ask"))?.name ?? "";
  return {
    async ask(tool: string): Promise<string> {
      const { content } = await client.callTool({ name: asking, arguments: { tool } });
      return (content as { text: string }[])[0]?.text ?? "";
    },
    async write(tool: string): Promise<unknown> {
      const { messages } = await client.getPrompt({ name: prompts[0]?.name ?? "", arguments: { tool } });
      return (messages[0]?.content as { text: string } | undefined)?.text;
    },
  };
}

const refused = (tool: string) =>
  `@acme/main may not call "${tool}": \`needs.tools\` in its package.json does not list it.`;

test.each(["all", null])(
  "served by %s, tools and prompts can call what the pack declares and what its definitions refer to",
  async (server) => {
    const { ask, write } = await serve({ server, needs: { tools: ["acme/notes/drafts"] } });
    for (const call of [ask, write]) {
      expect(await call("own")).toBe("said");
      expect(await call("draft")).toBe("said");
      expect(await call("acme/notes/say")).toBe("said");
      expect(await call("acme/notes/other")).toBe("said");
      expect(await call("host_click")).toBe(refused("host_click"));
    }
  },
);

test.each(["all", null])("served by %s, tools and prompts can call listed built-ins", async (server) => {
  const { ask, write } = await serve({ server, needs: { tools: ["host_*"] } });
  for (const call of [ask, write]) {
    expect(await call("host_click")).toBe("clicked");
    expect(await call("draft")).toBe(refused("acme/notes/drafts"));
  }
});

test("a tool of a pack's own server can call the tools that the server lists", async () => {
  const { ask } = await serve({ server: "acme/main/desk", needs: { tools: [] } });
  expect(await ask("acme/notes/say")).toBe("said");
});

test.each(["all", null])(
  "served by %s, a pack without `needs.tools` can call only its own tools with `packs.callbacks: declared`",
  async (server) => {
    const { ask, write } = await serve({ server, packs: { callbacks: "declared" } });
    for (const call of [ask, write]) {
      expect(await call("own")).toBe("said");
      expect(await call("acme/notes/say")).toContain("`packs.callbacks: declared`");
    }
  },
);

test("a served pack without `needs.tools` can call everything, and stderr names the first call once", async () => {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    lines.push(String(chunk));
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  const { ask, write } = await serve({});
  expect(await ask("own")).toBe("said");
  expect(lines.filter((line) => line.includes("NeedsUndeclared"))).toEqual([]);
  expect(await ask("host_click")).toBe("clicked");
  expect(await write("acme/notes/say")).toBe("said");
  expect(lines.filter((line) => line.includes("NeedsUndeclared"))).toEqual([
    expect.stringContaining('@acme/main called "host_click"'),
  ]);
});
