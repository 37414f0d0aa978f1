import { describe, expect, test } from "vitest";
import { startServer } from "../../src/serve.ts";
import { makeProject, openForTest, toolPack } from "../session/support/session.ts";
import { connectLegacy, serveForTest } from "../support/clients.ts";

const number = { type: "object", properties: { n: { type: "integer", default: 7 } } };
const strings = { type: "object", properties: { s: { type: "string" } }, required: ["s"] };
const echo = { handler: "./handlers.js#echo" };
const entry = (name: string, more: object) => ({
  name,
  description: "An entry.",
  argumentsSchema: { type: "object" },
  ...more,
});

const makePack = (isolation: string) =>
  makeProject(
    {
      pack: toolPack(
        {
          strict: { ...echo, inputSchema: number },
          checked: { ...echo, outputSchema: strings },
          silent: { outputSchema: strings },
          fail: {},
          die: {},
          unset: { ...echo, initialize: "./handlers.js#refuse" },
          loop: {},
          lost: {},
        },
        `export const echo = (args) => args;
         export const silent = () => "only text";
         export const fail = () => { throw Object.assign(new Error("a reason"), { code: "LOW" }); };
         export const die = () => process.exit(3);
         export const refuse = () => { throw new Error("not today"); };
         export const loop = (args, context) => context.callTool("loop", args);
         export const lost = async (args, context) => context.callTool("nowhere", args).catch(() => "rejected");`,
        {
          "package.json": { trailblaze: { toolsets: ["Bundle"], servers: ["all", "unset"] } },
          "trailblaze/toolsets/Bundle.json": {
            kind: "Mcp.Tools",
            metadata: { name: "Bundle" },
            entries: [
              entry("entry", {
                ...echo,
                argumentsSchema: number,
                inputs: { n: "${{ request.arguments.n }}" },
              }),
              entry("referring", { handler: "strict", inputs: { n: "text" } }),
              entry("mapped", {
                handler: "./handlers.js#fail",
                catches: [{ code: "LOW", error: { code: -32010, message: "Mapped.", data: { a: 1 } } }],
              }),
              entry("unmapped", { handler: "./handlers.js#fail" }),
              entry("untyped", { ...echo, outputSchema: strings }),
              entry("unfillable", { ...echo, inputs: { n: "${{ request.arguments.none }}" } }),
              entry("killed", { handler: "./handlers.js#die" }),
            ],
          },
          "trailblaze/servers/all.json": {
            tools: ["strict", "checked", "silent", "fail", "die", "loop", "lost"],
            toolsets: ["Bundle"],
          },
          "trailblaze/servers/unset.json": { tools: ["unset"] },
        },
      ),
    },
    { "trailblaze.config.yaml": `isolation: ${isolation}\ncrash: isolate\ncallback: { maxDepth: 3 }\n` },
  );

/** Calls the same tools in a session and as a client of a served server. */
async function openBoth(isolation: string) {
  const cwd = makePack(isolation);
  const session = await openForTest(cwd, {
    config: { isolation, crash: "isolate", callback: { maxDepth: 3 } } as never,
  });
  const client = await connectLegacy((await serveForTest("pack/all", { cwd })).url);
  return async (name: string, args: Record<string, unknown> = {}) => {
    const { variant, message, details, structuredContent } = await session.callTool(name, args);
    const served = await client.callTool({ name, arguments: args }).catch((error) => ({
      code: error.code,
      message: error.message,
      data: error.data,
    }));
    return { session: { variant, message, details, structuredContent }, served };
  };
}

const text = (words: unknown) => ({ content: [{ type: "text", text: words }], isError: true });

describe.each(["in-process", "process"])(
  "a tool that runs %s answers a session and a client alike",
  (isolation) => {
    const failures: [name: string, args: Record<string, unknown>, words: unknown][] = [
      ["strict", { n: "x" }, 'Invalid arguments for "strict": /n must be integer'],
      ["entry", { n: "x" }, 'Invalid arguments for "entry": /n must be integer'],
      ["referring", {}, "The entry's `inputs` do not match the tool's inputSchema: /n must be integer"],
      [
        "checked",
        { s: 1 },
        "The tool's structuredContent does not match its outputSchema: /s must be string",
      ],
      [
        "untyped",
        { s: 1 },
        "The tool's structuredContent does not match its outputSchema: /s must be string",
      ],
      ["silent", {}, "The tool has an outputSchema, but its result has no structuredContent."],
      ["fail", {}, "a reason"],
      ["loop", {}, expect.stringContaining("nested more than 3")],
      ["lost", {}, expect.stringContaining('"nowhere"')],
      ["unfillable", {}, expect.stringMatching(/^Cannot evaluate the tool's `inputs`: /)],
    ];

    test("a session and a client get the same answers", async () => {
      const callBoth = await openBoth(isolation);
      for (const name of ["strict", "entry"]) {
        const structuredContent = { n: 7 };
        expect(await callBoth(name)).toMatchObject({
          session: { variant: "Success", structuredContent },
          served: { structuredContent },
        });
      }
      for (const [name, args, words] of failures) {
        const { session, served } = await callBoth(name, args);
        expect(session).toEqual({ variant: "ExceptionThrown", message: words });
        expect(served).toMatchObject(text(words));
      }
    });

    test("an error that a bundle's handler throws is a protocol error for clients", async () => {
      const callBoth = await openBoth(isolation);
      expect(await callBoth("mapped")).toEqual({
        session: {
          variant: "ExceptionThrown",
          message: "Mapped.",
          details: { code: -32010, data: { a: 1 } },
        },
        served: { code: -32010, message: expect.stringContaining("Mapped."), data: { a: 1 } },
      });
      expect(await callBoth("unmapped")).toEqual({
        session: { variant: "ExceptionThrown", message: "a reason", details: { code: -32603 } },
        served: { code: -32603, message: expect.stringContaining("The tool failed.") },
      });
    });
  },
);

test("a child process that exits fails the call, and clients of a bundle get an error without details", async () => {
  const words = expect.stringMatching(/^The process that runs the package's code exited with code 3\./);
  const details = { exitCode: 3, signal: null, stderr: "" };
  const callBoth = await openBoth("process");
  const tool = await callBoth("die");
  const _meta = { trailblaze: { variant: "FatalError", exitCode: 3, signal: null } };
  const session = { variant: "FatalError", message: words, details };
  expect(tool).toEqual({ session, served: { ...text(words), _meta } });
  const entry = await callBoth("killed");
  expect(entry).toMatchObject({ session: { variant: "FatalError", details }, served: { code: -32603 } });
});

test("a failing `initialize` fails a session's call, and prevents a server from starting", async () => {
  const cwd = makePack("in-process");
  const session = await openForTest(cwd);
  expect(await session.callTool("unset")).toMatchObject({ variant: "ExceptionThrown", message: "not today" });
  const start = startServer("pack/unset", { cwd, transport: { port: 0 } });
  await expect(start).rejects.toMatchObject({ code: "InitializeFailed" });
});
