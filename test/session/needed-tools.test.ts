// `needs.tools` of packs, and what their handlers and servers call. Servers are processes, which end with their session.
import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/session.ts";
import { jsonOf, makeProject, openForTest, probe, probeServer, toolPack } from "./support/session.ts";

const caller = `
  export const ask = async ({ tool, args = {} }, { callTool }) => {
    const { variant, message, isError } = await callTool(tool, args);
    return { variant, message, isError };
  };
  export const hello = () => "hello";
`;
const say = (word: string) => `export const say = () => ${JSON.stringify(word)};\n${caller}`;

const builtIns = [
  { name: "host_click", description: "Clicks.", inputSchema: { type: "object" }, handler: () => "clicked" },
  { name: "host_type", description: "Types.", inputSchema: { type: "object" }, handler: () => "typed" },
];

const bundle = (name: string, handler: string) => ({
  kind: "Mcp.Tools",
  metadata: { name },
  entries: [
    { name: `${name}_entry`, description: "An entry.", argumentsSchema: { type: "object" }, handler },
  ],
});

/** Another pack, with a tool, a bundle, and a toolset of both and of a third pack's tool. */
const notes = toolPack(
  { create: { name: "notes_create" }, ask: { name: "notes_ask" } },
  `${say("noted").replace("say", "create")}`,
  {
    "package.json": { trailblaze: { toolsets: ["writing", "drafts"] } },
    "trailblaze/toolsets/writing.json": {
      name: "writing",
      description: "All.",
      tools: ["create", "acme/third/say"],
      toolsets: ["drafts"],
    },
    "trailblaze/toolsets/drafts.json": bundle("drafts", "create"),
  },
);
const third = toolPack({ say: { name: "third_say" }, ask: { name: "third_ask" } }, say("third"));

interface Calls {
  needs?: unknown;
  /** More of the calling pack's field, and its files. */
  field?: Record<string, unknown>;
  files?: Record<string, unknown>;
  config?: Record<string, unknown>;
}

/** A session with a pack `@acme/main` whose tool `ask` calls a tool by name, and with its server, whose `main_callback` does. */
async function open({ needs, field = {}, files = {}, config = {} }: Calls = {}) {
  const reported: Problem[] = [];
  const main = toolPack({ ask: {}, hello: {} }, caller, {
    "package.json": { trailblaze: { servers: ["main"], needs, ...field } },
    "server.js": `import ${JSON.stringify(probeServer)};\n`,
    "trailblaze/servers/main.json": { script: "./server.js", env: { PROBE_PREFIX: "main" } },
    ...files,
  });
  const cwd = makeProject({ "@acme/main": main, "@acme/notes": notes, "@acme/third": third });
  const session = await openForTest(cwd, {
    config: { trailblazeSubprocessToolsets: [probe("own")], ...config },
    builtIns,
    onProblem: (problem) => reported.push(problem),
  });
  expect(session.problems).toEqual([]);
  /** The result of a nested call: by the handler, and by the server. */
  const ask = async (tool: string, by = "ask") => jsonOf(await session.callTool(by, { tool }));
  const callBack = async (tool: string) =>
    jsonOf(await session.callTool("main_callback", { tool })).body.result;
  return { session, reported, ask, callBack };
}

const refused = (tool: string) => ({
  variant: "ExceptionThrown",
  isError: true,
  message: `@acme/main may not call "${tool}": \`needs.tools\` in its package.json does not list it.`,
});

type Opened = Awaited<ReturnType<typeof open>>;

/** Checks a nested call by the handler and by the server. */
async function expectAllowed({ ask, callBack }: Opened, tool: string, message: string) {
  expect(await ask(tool), tool).toEqual({ variant: "Success", isError: false, message });
  expect(await callBack(tool), tool).toMatchObject({
    type: "call_tool_result",
    success: true,
    text_content: message,
  });
}

async function expectRefused({ ask, callBack }: Opened, tool: string, shown = tool) {
  const expected = refused(shown);
  expect(await ask(tool), tool).toEqual(expected);
  expect(await callBack(tool), tool).toMatchObject({
    type: "call_tool_result",
    success: false,
    text_content: "",
    error_message: expected.message,
  });
}

describe("a pack that declares no tools of others", () => {
  test("it can call its own tools and those of its servers, and nothing else", async () => {
    const opened = await open({ needs: { tools: [] } });
    await expectAllowed(opened, "hello", "hello");
    await expectAllowed(opened, "acme/main/hello", "hello");
    expect(jsonOf(await opened.ask("main_params"))).toHaveProperty("arguments");
    for (const tool of ["host_click", "acme/notes/create", "acme/third/say"])
      await expectRefused(opened, tool);
    await expectRefused(opened, "notes_create", "acme/notes/create");
    await expectRefused(opened, "drafts_entry", "acme/notes/drafts");
    await expectRefused(opened, "own_params");
    await expectRefused(opened, "own/own_params", "own_params");
    expect(opened.reported).toEqual([]);
  });

  test("invalid needs allow nothing", async () => {
    const { ask } = await openInvalid({ tools: "acme/notes/create" });
    expect(await ask("acme/notes/create")).toEqual(refused("acme/notes/create"));
  });

  test("an unknown tool is unknown and not refused", async () => {
    const { ask } = await open({ needs: { tools: [] } });
    expect((await ask("nothing")).message).toContain("nothing");
    expect((await ask("nothing")).message).not.toContain("needs.tools");
  });

  test("the host itself can call everything", async () => {
    const { session } = await open({ needs: { tools: [] } });
    expect(await session.callTool("host_click")).toMatchObject({ message: "clicked" });
    expect(await session.callTool("notes_create")).toMatchObject({ message: "noted" });
  });
});

async function openInvalid(needs: unknown) {
  const main = toolPack({ ask: {} }, caller, { "package.json": { trailblaze: { needs } } });
  const session = await openForTest(
    makeProject({ "@acme/main": main, "@acme/notes": notes, "@acme/third": third }),
  );
  expect(session.problems).toMatchObject([{ code: "InvalidNeeds" }]);
  return { ask: async (tool: string) => jsonOf(await session.callTool("ask", { tool })) };
}

describe("names and patterns in `needs.tools`", () => {
  test.each([
    ["host_click", "host_click", "clicked", "host_type"],
    ["host_c*", "host_click", "clicked", "host_type"],
    ["acme/notes/create", "acme/notes/create", "noted", "acme/third/say"],
    ["@acme/notes/create", "notes_create", "noted", "acme/third/say"],
    ["acme/*/create", "acme/notes/create", "noted", "acme/third/say"],
    ["acme/third/*", "acme/third/say", "third", "acme/notes/create"],
    ["acme/notes@^1/create", "acme/notes/create", "noted", "acme/third/say"],
    ["acme/notes/drafts", "drafts_entry", "noted", "acme/notes/create"],
  ])("%s allows %s", async (entry, tool, message, other) => {
    const opened = await open({ needs: { tools: [entry] } });
    await expectAllowed(opened, tool, message);
    await expectRefused(opened, other);
    expect(opened.reported).toEqual([]);
  });

  test.each([["own_params"], ["own/own_params"], ["own/*"]])(
    "%s allows a tool of a server of the config",
    async (entry) => {
      const { ask } = await open({ needs: { tools: [entry] } });
      expect((await ask("own_params")).variant).toBe("Success");
      expect((await ask("own/own_params")).variant).toBe("Success");
      expect((await ask("own_env")).variant).toBe(entry === "own/*" ? "Success" : "ExceptionThrown");
    },
  );

  test.each([
    ["acme/notes@^2/create"],
    ["acme/notes"],
    ["notes_create"],
    ["create"],
    ["*/create"],
    ["acme/*"],
  ])("%s does not allow acme/notes/create", async (entry) => {
    const { ask } = await open({ needs: { tools: [entry] } });
    expect(await ask("acme/notes/create")).toEqual(refused("acme/notes/create"));
  });

  test("a tool of another pack's server is named by its pack, or by its server", async () => {
    const entries = ["acme/served/served_params", "acme/served/probe", "acme/served/*", "acme/other/*"];
    const served = {
      "package.json": { trailblaze: { servers: ["probe"] } },
      "server.js": `import ${JSON.stringify(probeServer)};\n`,
      "trailblaze/servers/probe.json": { script: "./server.js", env: { PROBE_PREFIX: "served" } },
    };
    const found: [string, string, string][] = [];
    for (const entry of entries) {
      const main = toolPack({ ask: {} }, caller, {
        "package.json": { trailblaze: { needs: { tools: [entry] } } },
      });
      const session = await openForTest(makeProject({ "@acme/main": main, "@acme/served": served }));
      const ask = async (tool: string) => jsonOf(await session.callTool("ask", { tool })).variant;
      found.push([entry, await ask("served_params"), await ask("served_env")]);
    }
    expect(found).toEqual([
      ["acme/served/served_params", "Success", "ExceptionThrown"],
      ["acme/served/probe", "Success", "Success"],
      ["acme/served/*", "Success", "Success"],
      ["acme/other/*", "ExceptionThrown", "ExceptionThrown"],
    ]);
  });

  test("ten thousand patterns slow a call down by less than a second", async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `a*${index}*b/x*y*z*${index}/*c*`);
    const { ask } = await open({ needs: { tools: [...many, "acme/third/say"] } });
    await ask("acme/third/say");
    const begun = performance.now();
    expect((await ask("acme/third/say")).message).toBe("third");
    expect(await ask("acme/notes/create")).toEqual(refused("acme/notes/create"));
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});

describe("what a pack's definitions refer to", () => {
  const toolset = (fields: object) => ({ name: "mine", description: "Mine.", ...fields });
  const withToolset = (fields: object) => ({
    needs: { tools: [] },
    field: { toolsets: ["mine"] },
    files: { "trailblaze/toolsets/mine.json": toolset(fields) },
  });

  test("a toolset allows the tools that it lists", async () => {
    const opened = await open(withToolset({ tools: ["@acme/notes@^1/create", "hello"] }));
    await expectAllowed(opened, "acme/notes/create", "noted");
    await expectRefused(opened, "acme/third/say");
  });

  test("a toolset of another pack allows its tools and bundles", async () => {
    const opened = await open(withToolset({ toolsets: ["acme/notes/writing"] }));
    await expectAllowed(opened, "acme/notes/create", "noted");
    await expectAllowed(opened, "acme/third/say", "third");
    await expectAllowed(opened, "drafts_entry", "noted");
    await expectRefused(opened, "notes_ask", "acme/notes/ask");
  });

  test("a composed server allows the tools that it serves", async () => {
    const opened = await open({
      needs: { tools: [] },
      field: { servers: ["main", "desk"] },
      files: { "trailblaze/servers/desk.json": { name: "desk", tools: ["acme/third/say"] } },
    });
    await expectAllowed(opened, "acme/third/say", "third");
    await expectRefused(opened, "acme/notes/create");
  });

  test("an entry of a bundle allows its handler", async () => {
    const opened = await open({
      needs: { tools: [] },
      field: { toolsets: ["mine"] },
      files: { "trailblaze/toolsets/mine.json": bundle("mine", "acme/third/say") },
    });
    await expectAllowed(opened, "acme/third/say", "third");
  });

  test("a built-in must be listed in `needs.tools`, even if a toolset refers to it", async () => {
    const opened = await open(withToolset({ tools: ["host_click"] }));
    await expectRefused(opened, "host_click");
  });
});

describe("chains of calls", () => {
  test("the needs of the pack that calls decide, in both directions", async () => {
    const relay = (needs: unknown) =>
      toolPack(
        { relay: { name: "relay" } },
        "export const relay = (args, { callTool }) => callTool('host_click', {}).then(({ message }) => message);",
        {
          "package.json": { trailblaze: { needs } },
        },
      );
    const ask = async (ofMain: string[], ofRelay: string[]) => {
      const main = toolPack({ ask: {} }, caller, {
        "package.json": { trailblaze: { needs: { tools: ofMain } } },
      });
      const cwd = makeProject({ "@acme/main": main, "@acme/relay": relay({ tools: ofRelay }) });
      const session = await openForTest(cwd, { builtIns });
      return jsonOf(await session.callTool("ask", { tool: "relay" })).message;
    };
    // The relay may click for a pack that may not.
    expect(await ask(["acme/relay/relay"], ["host_click"])).toBe("clicked");
    // A pack that may click gets no click from a relay that may not.
    expect(await ask(["acme/relay/relay", "host_click"], [])).toContain("@acme/relay may not call");
    expect(await ask(["host_click"], ["host_click"])).toContain("@acme/main may not call");
  });

  test("for an entry of a bundle, the needs of the pack whose code runs decide", async () => {
    const asking = toolPack({ ask: { name: "asking" } }, caller, {
      "package.json": { trailblaze: { needs: { tools: ["host_click"] } } },
    });
    const main = {
      "package.json": { trailblaze: { toolsets: ["mine"], needs: { tools: ["host_type"] } } },
      "trailblaze/toolsets/mine.json": bundle("mine", "acme/asking/ask"),
    };
    const session = await openForTest(makeProject({ "@acme/main": main, "@acme/asking": asking }), {
      builtIns,
    });
    const ask = async (tool: string) => jsonOf(await session.callTool("mine_entry", { tool })).message;
    expect(await ask("host_click")).toBe("clicked");
    expect(await ask("host_type")).toContain("@acme/asking may not call");
  });
});

describe("a pack without `needs.tools`", () => {
  test.each([[undefined], [{}], [{ env: [] }]])(
    "with the needs %j, it can call everything, and one info names the first call that leaves the pack",
    async (needs) => {
      const opened = await open({ needs });
      await expectAllowed(opened, "hello", "hello");
      expect(opened.reported).toEqual([]);
      await expectAllowed(opened, "host_click", "clicked");
      await expectAllowed(opened, "acme/notes/create", "noted");
      expect((await opened.ask("own_params")).variant).toBe("Success");
      const info = {
        code: "NeedsUndeclared",
        severity: "info",
        pack: "@acme/main",
        file: "package.json",
        args: { name: "@acme/main", tool: "host_click" },
      };
      expect(opened.reported).toMatchObject([info]);
      expect(opened.session.problems).toMatchObject([info]);
      await opened.ask("acme/third/say", "notes_ask");
      expect(opened.reported.map(({ pack }) => pack)).toEqual(["@acme/main", "@acme/notes"]);
    },
  );

  test("with `packs.callbacks: declared`, it can call only its own tools", async () => {
    const opened = await open({
      config: { packs: { callbacks: "declared" } },
      field: { toolsets: ["mine"] },
      files: {
        "trailblaze/toolsets/mine.json": { name: "mine", description: "Mine.", tools: ["acme/notes/create"] },
      },
    });
    await expectAllowed(opened, "hello", "hello");
    const reason = "its package.json has no `needs.tools`, and the config has `packs.callbacks: declared`.";
    for (const tool of ["host_click", "acme/notes/create"]) {
      const message = `@acme/main may not call "${tool}": ${reason}`;
      expect(await opened.ask(tool)).toEqual({ variant: "ExceptionThrown", isError: true, message });
      expect(await opened.callBack(tool)).toMatchObject({ success: false, error_message: message });
    }
    expect(opened.reported).toEqual([]);
  });

  test("with `packs.callbacks: declared`, a pack that declares its tools can call them", async () => {
    const opened = await open({
      needs: { tools: ["host_click"] },
      config: { packs: { callbacks: "declared" } },
    });
    await expectAllowed(opened, "host_click", "clicked");
    await expectRefused(opened, "host_type");
  });

  test("tools of child processes obey the same rules", async () => {
    const opened = await open({ needs: { tools: ["host_click"] }, config: { isolation: "process" } });
    await expectAllowed(opened, "host_click", "clicked");
    await expectRefused(opened, "host_type");
  });
});

test("built-ins and servers of the config can call everything", async () => {
  const asking = {
    name: "host_ask",
    description: "Asks.",
    inputSchema: { type: "object" },
    handler: async (
      { tool }: { tool: string },
      { callTool }: { callTool: (name: string, args: object) => Promise<{ message: string }> },
    ) => (await callTool(tool, {})).message,
  };
  const main = toolPack({ hello: {} }, caller, { "package.json": { trailblaze: { needs: { tools: [] } } } });
  const session = await openForTest(makeProject({ "@acme/main": main }), {
    config: { packs: { callbacks: "declared" }, trailblazeSubprocessToolsets: [probe("own")] },
    builtIns: [asking as never],
  });
  expect(await session.callTool("host_ask", { tool: "hello" })).toMatchObject({ message: "hello" });
  const answer = jsonOf(await session.callTool("own_callback", { tool: "hello" }));
  expect(answer.body.result).toMatchObject({ success: true, text_content: "hello" });
});
