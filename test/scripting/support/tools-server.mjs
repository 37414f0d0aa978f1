// biome-ignore-all lint/suspicious/noConsole: what is printed is what is tested
// A server of tools as an author would write it; the tests copy it into projects, where Node runs it.
import { setTimeout as wait } from "node:timers/promises";
import { contextFrom, defineTool, run } from "@trailblaze/scripting";
import { fatalError, missingRequiredArgs, needInput, success } from "@trailblaze/scripting/result";

const anything = { type: "object" };
let connections = 0;

const tool = (name, handler, more = {}) =>
  defineTool({
    name: `probe_${name}`,
    description: `Probe: ${name}.`,
    inputSchema: anything,
    handler,
    ...more,
  });

const tools = [
  defineTool({
    name: "probe_context",
    description: "Shows what it was given.",
    parameters: { count: { type: "integer", default: 3 }, label: { type: "string", required: true } },
    options: { limit: { default: 5 } },
    handler(args, context) {
      const { sessionId, invocationId, device, memory, options, ...rest } = context;
      return {
        args,
        legacy: args._trailblazeContext ?? null,
        read: contextFrom(args, context) ?? null,
        sessionId: sessionId ?? null,
        hasInvocation: typeof invocationId === "string",
        device: device ?? null,
        user: memory?.get("userId") ?? null,
        inherited: memory?.get("constructor") ?? null,
        options,
        rest: Object.keys(rest).sort(),
      };
    },
  }),
  tool("remember", ({ key, value, remove, fail }, { memory }) => {
    if (value !== undefined) memory.set(key, value);
    if (remove !== undefined) memory.delete(remove);
    const seen = memory.get(key) ?? null;
    return fail ? fatalError("Nothing is kept.") : success("kept", { structuredContent: { seen } });
  }),
  tool("ask", async ({ tool: name, with: given }, { client, memory }) => {
    memory?.set("asked", name);
    const result = await client.callTool(name, given);
    return { result, typed: await client.tools[name](given) };
  }),
  tool("odd_content", () => ({ content: [{ type: "text", text: "odd" }], structuredContent: [1] })),
  tool("noise", () => {
    console.log("a line of noise");
    console.table([{ a: 1 }]);
    process.stdout.write("half a line");
    process.stdout.end("the end");
    return "quiet";
  }),
  tool("steps", async (_args, { progress, log }) => {
    log("warning", { careful: true });
    log("info", 1n);
    const refused = await progress("half").catch(({ name, message }) => `${name}: ${message}`);
    await progress(1, 2, "half");
    await progress(2, 2);
    // The SDK's client forgets progress that comes together with the result.
    await wait(100);
    return refused;
  }),
  tool("slow", async (_args, { signal }) => {
    await wait(60_000, undefined, { signal }).catch(() => {});
    console.error(`aborted: ${signal.aborted}`);
    return "too late";
  }),
  tool("big", () => 1n),
  tool("missing", () => missingRequiredArgs(["issueKey"])),
  tool("typed", () => ({ n: "no number" }), {
    outputSchema: { type: "object", properties: { n: { type: "number" } } },
  }),
  tool("first", () => connections, { initialize: () => void connections++ }),
  tool("throws", () => {
    throw new Error("It broke.");
  }),
  tool("late", () => {
    setTimeout(() => {
      throw new Error("It broke late.");
    });
    Promise.reject(new Error("Nobody waits."));
    return "early";
  }),
  tool("misask", ({ requests }) => needInput(requests)),
  tool("question", (args, { input, state, memory }) => {
    memory?.set("asked", String(input === undefined));
    const schema = {
      type: "object",
      properties: { name: { type: "string", minLength: 2 } },
      required: ["name"],
    };
    const who = args.url ? { message: "Visit.", url: args.url } : { message: "Who?", schema };
    return input === undefined || args.always ? needInput({ who }, { state: [1] }) : { ...input, state };
  }),
  tool("odd", (args, { memory }) => {
    memory?.set("odd", "1");
    return { content: [], _meta: { trailblaze: args.said } };
  }),
  tool("hidden", (args) => contextFrom(args)?.device?.platform ?? "no session", {
    _meta: { "trailblaze/requiresContext": true, "trailblaze/toolset": "auth" },
  }),
];

await run({ name: "probe", version: "1.2.3", tools });
console.error("the client has gone");
