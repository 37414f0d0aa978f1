import { describe, expect, onTestFinished, test } from "vitest";
import type { RunContext } from "../../src/runtime/handler-context.ts";
import { createInProcessRunner } from "../../src/runtime/in-process-runner.ts";
import { createProcessRunner } from "../../src/runtime/process-runner.ts";
import { firstText } from "../support/first-text.ts";
import { makeLink } from "../support/special-files.ts";
import type { Tree } from "../support/tree.ts";
import { makePack } from "./make-pack.ts";
import { callCode, createContext, inDefinition, inModule } from "./run-place.ts";

const isolations = ["in-process", "process"] as const;

function createRunner(tree: Tree, isolation: (typeof isolations)[number] = "in-process") {
  const root = makePack(tree);
  const runner =
    isolation === "process" ? createProcessRunner({ root, env: {} }) : createInProcessRunner(root);
  onTestFinished(() => runner.close());
  const call = (handler: string, args = {}, context: Partial<RunContext> = {}) =>
    callCode(runner, inModule(handler), args, createContext(context));
  const textOf = async (handler: string, args = {}, context: Partial<RunContext> = {}) =>
    firstText(await call(handler, args, context));
  return { root, runner, call, textOf };
}

describe("finding a handler", () => {
  const esm = "export const named = () => 'named'; export default () => 'default';";
  const compiled = `Object.defineProperty(exports, "__esModule", { value: true });
    exports.default = () => "inner default"; exports.named = () => "inner named";`;

  test.each([
    ["an export of a module", "./a.mjs#named", "named"],
    ["its default export", "./a.mjs", "default"],
    ["in CommonJS", "./b.cjs#named", "cjs named"],
    ["in CommonJS where Node cannot see the name", "./c.cjs#hidden", "cjs hidden"],
    ["in what was compiled to CommonJS", "./d.cjs", "inner default"],
  ])("a handler is found as %s", async (_what, handler, expected) => {
    const { textOf } = createRunner({
      "a.mjs": esm,
      "b.cjs": "module.exports = { named: () => 'cjs named' };",
      "c.cjs": "module.exports = Object.fromEntries([['hidden', () => 'cjs hidden']]);",
      "d.cjs": compiled,
    });
    expect(await textOf(handler)).toBe(expected);
  });

  test.each(isolations)(
    "a handler is found in a definition that is code, also if its file has several: %s",
    async (isolation) => {
      const { root, runner } = createRunner(
        {
          "tool.mjs": "export default { handler: (args) => `one ${args.n}` };",
          "tools.mjs": "export default { two: { handler: () => 'two' } };",
        },
        isolation,
      );
      const one = await callCode(runner, inDefinition("tool.mjs", "handler"), { n: 1 }, createContext());
      const two = await callCode(
        runner,
        inDefinition(`${root}/tools.mjs`, "two", "handler"),
        {},
        createContext(),
      );
      expect([firstText(one), firstText(two)]).toEqual(["one 1", "two"]);
    },
  );
});

test.each([
  ["./none.mjs#a", 'Module "./none.mjs" not found in the package.'],
  ["./a.mjs#none", 'Module "./a.mjs" has no export "none".'],
  ["../outside.mjs#a", 'Module "../outside.mjs" is outside the package.'],
  ["./link.mjs#a", 'Module "./link.mjs" is outside the package.'],
  ["./throws.mjs#a", "no configuration"],
])("a missing handler is an error result: %s: %s", async (handler, message) => {
  const root = makePack({
    "outside.mjs": "export const a = () => 1;",
    "pack/a.mjs": "",
    "pack/throws.mjs": "throw new Error('no configuration'); export const a = 1;",
  });
  makeLink("../outside.mjs", `${root}/pack/link.mjs`);
  const runner = createInProcessRunner(`${root}/pack`);
  onTestFinished(() => runner.close());
  expect(await callCode(runner, inModule(handler), {}, createContext())).toEqual({
    content: [{ type: "text", text: message }],
    isError: true,
  });
});

test.each([
  ["throw new Error('sync')", "sync"],
  ["return Promise.reject(new TypeError('async'))", "async"],
  ["throw 'text'", "text"],
  ["throw Object.assign(new Error(), { name: 'NotFound' })", "NotFound"],
  ["throw new Proxy({}, { get() { throw 1 } })", "The handler failed."],
])("%s that a handler throws is an error result with its message", async (body, message) => {
  const { call } = createRunner({ "a.mjs": `export const a = () => { ${body} }` });
  expect(await call("./a.mjs#a")).toEqual({ content: [{ type: "text", text: message }], isError: true });
});

describe.each(isolations)("what a handler gets, %s", (isolation) => {
  test("a handler gets its arguments, which include the hidden context, and a frozen context", async () => {
    const { call } = createRunner(
      {
        "a.mjs": `export const a = (args, context) => {
        const tries = [
          () => { context.options.deep.list.push(1) },
          () => { context.log = 1 },
          () => { context.memory.get = 1 },
          () => { context.device.platform = "X" },
        ];
        const refused = tries.filter((attempt) => { try { attempt(); return false } catch { return true } }).length;
        return { args: JSON.stringify(args), hidden: args._trailblazeContext, refused, names: Object.keys(context).sort(),
          user: context.memory.get("user"), options: context.options };
      }`,
      },
      isolation,
    );
    const hidden = { memory: { user: "user 1" }, device: null };
    const args = Object.defineProperty(JSON.parse('{ "x": "é\\n", "__proto__": 1 }'), "_trailblazeContext", {
      value: hidden,
    });
    const options = { deep: { list: [0] } };
    const written: unknown[] = [];
    const result = await call("./a.mjs#a", args, {
      options,
      sessionId: "s",
      device: { platform: "WEB" },
      memory: {
        get: (key) => `${key} 1`,
        write: (...all) => written.push(all),
        snapshot: () => ({ user: "user 1" }),
      },
    });
    expect(result.structuredContent).toEqual({
      args: '{"x":"é\\n","__proto__":1}',
      hidden,
      refused: 4,
      names: ["callTool", "device", "log", "memory", "options", "progress", "sessionId", "signal"],
      user: "user 1",
      options,
    });
    expect(Object.isFrozen(options)).toBe(false);
  });

  test("a handler's context does nothing after the call has ended", async () => {
    const { call, textOf } = createRunner(
      {
        "a.mjs": `let kept;
        export const keep = (_, context) => { kept = context };
        export const use = async () => {
          kept.log("info", 1); await kept.progress(1); kept.memory.set("a", "b");
          return kept.callTool("x").then(() => "called", (error) => error.message);
        };`,
      },
      isolation,
    );
    const seen: unknown[] = [];
    const note = (...all: unknown[]) => void seen.push(all);
    const memory = { get: () => undefined, write: note, snapshot: () => ({}) };
    const context = { log: note, progress: note, memory, callTool: async () => note("called") };
    await call("./a.mjs#keep", {}, context);
    expect(await textOf("./a.mjs#use", {}, context)).toContain("The call has ended");
    expect(seen).toEqual([]);
  });

  test("a handler can log, report progress and call other tools", async () => {
    const { textOf } = createRunner(
      {
        "a.mjs": `export const a = async (args, { log, progress, callTool, memory }) => {
        log("info", { n: 1 }); log("error", new Error("logged")); log("info", 1n); log("info");
        await progress(1, 2, "half");
        memory.set("k", "v"); memory.delete("l");
        return (await callTool("other", { x: 1 })).content[0].text;
      }`,
      },
      isolation,
    );
    const seen: unknown[] = [];
    const text = await textOf(
      "./a.mjs#a",
      {},
      {
        log: (...all) => seen.push(all),
        progress: (...all) => seen.push(all),
        memory: {
          get: () => undefined,
          write: (...all) => seen.push(all),
          snapshot: () => ({}),
        },
        callTool: async (name, args) => {
          seen.push([name, args]);
          return { content: [{ type: "text", text: "inner" }] };
        },
      },
    );
    expect(text).toBe("inner");
    expect(seen).toEqual([
      ["info", { n: 1 }],
      ["error", "logged"],
      ["info", "(not representable as JSON)"],
      ["info", null],
      [1, 2, "half"],
      ["k", "v"],
      ["l", undefined],
      ["other", '{"x":1}'],
    ]);
  });
});

test.each(isolations)(
  "an abandoned call rejects at once with the signal's reason, and its handler is notified, %s",
  async (isolation) => {
    const { call, textOf } = createRunner(
      {
        "a.mjs": `let heard = "nothing"; let runs = 0;
          export const waits = (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => { heard = signal.reason.message }));
          export const hears = () => heard; export const counts = () => ++runs;`,
      },
      isolation,
    );
    const controller = new AbortController();
    const calling = call("./a.mjs#waits", {}, { signal: controller.signal });
    expect(await textOf("./a.mjs#hears")).toBe("nothing");
    controller.abort(new Error("given up"));
    await expect(calling).rejects.toThrow("given up");
    expect(await textOf("./a.mjs#hears")).toBe("given up");
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(call("./a.mjs#counts", {}, { signal })).rejects.toThrow("too late");
    expect(await textOf("./a.mjs#counts")).toBe("1");
  },
);

test("what failed to initialize is tried again by the next session in this process", async () => {
  const tree = {
    "a.mjs": "let n = 0; export const init = () => { if (++n !== 2) throw new Error(`no ${n}`) };",
  };
  const { root, runner } = createRunner(tree);
  const init = (by: typeof runner) => by.initialize(inModule("./a.mjs#init"), { options: {} });
  await expect(init(runner)).rejects.toThrow("no 1");
  await init(createInProcessRunner(root));
  await init(createInProcessRunner(root));
  await expect(init(runner)).rejects.toThrow("no 1");
});

test.each(isolations)(
  "`initialize` runs once, and each call rejects with what it threw, %s",
  async (isolation) => {
    const { runner, textOf } = createRunner(
      {
        "a.mjs": `let seen = []; export const init = (c) => { seen.push(c.options) }; export const a = () => seen;
      let n = 0; export const fails = () => { throw new Error("no " + ++n) };`,
      },
      isolation,
    );
    const init = (name: string) => runner.initialize(inModule(`./a.mjs#${name}`), { options: { o: 1 } });
    await Promise.all([init("init"), init("init")]);
    expect(await textOf("./a.mjs#a")).toBe('[{"o":1}]');
    await expect(init("fails")).rejects.toThrow("no 1");
    await expect(init("fails")).rejects.toThrow("no 1");
    await expect(init("none")).rejects.toThrow('Module "./a.mjs" has no export "none".');
  },
);
