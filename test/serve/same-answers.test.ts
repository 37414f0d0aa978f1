import { expect, test } from "vitest";
import { makeProject, openForTest, toolPack } from "../session/support/session.ts";
import { connectLegacy, serveForTest } from "../support/clients.ts";

const entry = (name: string, handler: string, more: object = {}) => ({
  name,
  description: "An entry.",
  argumentsSchema: { type: "object" },
  handler,
  ...more,
});
const strict = { type: "object", properties: { n: { type: "integer", default: 7 } } };
const pack = toolPack(
  { strict: { inputSchema: strict }, fail: {}, die: {}, loop: {} },
  `export const strict = (args) => args;
   export const fail = () => { throw Object.assign(new Error("a reason"), { code: "LOW" }); };
   export const die = () => process.exit(3);
   export const loop = (args, context) => context.callTool("loop", args);`,
  {
    "package.json": { trailblaze: { toolsets: ["Bundle"], servers: ["all"] } },
    "trailblaze/toolsets/Bundle.json": {
      kind: "Mcp.Tools",
      metadata: { name: "Bundle" },
      entries: [
        entry("referring", "strict", { inputs: { n: "text" } }),
        entry("mapped", "./handlers.js#fail", {
          catches: [{ code: "LOW", error: { code: -32010, message: "Mapped.", data: { a: 1 } } }],
        }),
        entry("unmapped", "./handlers.js#fail"),
        entry("unfillable", "./handlers.js#strict", { inputs: { n: "${{ request.arguments.none }}" } }),
        entry("killed", "./handlers.js#die"),
      ],
    },
    "trailblaze/servers/all.json": { tools: ["strict", "fail", "die", "loop"], toolsets: ["Bundle"] },
  },
);

test.each(["in-process", "process"])(
  "tools that run %s answer a session and a client alike",
  async (isolation) => {
    const config = { logDir: "logs", isolation, crash: "isolate", callback: { maxDepth: 3 } } as const;
    const cwd = makeProject({ pack }, { "trailblaze.config.json": config });
    const session = await openForTest(cwd, { config: config as never });
    const client = await connectLegacy((await serveForTest("pack/all", { cwd })).url);
    const callServed = (name: string, args = {}) => client.callTool({ name, arguments: args });

    expect((await session.callTool("strict")).structuredContent).toEqual({ n: 7 });
    expect((await callServed("strict")).structuredContent).toEqual({ n: 7 });
    for (const [name, args, words] of [
      ["strict", { n: "x" }, 'Invalid arguments for "strict": /n must be integer'],
      ["referring", {}, "The entry's `inputs` do not match the tool's inputSchema: /n must be integer"],
      ["fail", {}, "a reason"],
      ["loop", {}, expect.stringContaining("nested more than 3")],
      ["unfillable", {}, expect.stringMatching(/^Cannot evaluate the tool's `inputs`: /)],
    ] as const) {
      const { variant, message } = await session.callTool(name, args);
      expect({ variant, message }).toEqual({ variant: "ExceptionThrown", message: words });
      const content = [{ type: "text", text: words }];
      expect(await callServed(name, args)).toMatchObject({ content, isError: true });
    }
    // For clients, an error that a bundle's handler throws is one of the protocol.
    const mapped = { code: -32010, data: { a: 1 } };
    expect(await session.callTool("mapped")).toMatchObject({ message: "Mapped.", details: mapped });
    await expect(callServed("mapped")).rejects.toMatchObject(mapped);
    expect(await session.callTool("unmapped")).toMatchObject({
      message: "a reason",
      details: { code: -32603 },
    });
    await expect(callServed("unmapped")).rejects.toThrow("The tool failed.");
    if (isolation === "in-process") return;
    expect(await session.callTool("die")).toMatchObject({ variant: "FatalError", details: { exitCode: 3 } });
    // Without what it wrote to stderr, which is for the operator.
    const { isError, _meta } = await callServed("die");
    expect(isError).toBe(true);
    expect(_meta?.trailblaze).toEqual({ variant: "FatalError", exitCode: 3, signal: null });
    await expect(callServed("killed")).rejects.toMatchObject({ code: -32603 });
  },
);
