import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeProject, probe, probeServer, toolPack } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";
import { collect, isRunning } from "../support/processes.ts";
import { command, runCli } from "../support/run-cli.ts";

const shop = toolPack(
  {
    add: {
      name: "shop_add",
      inputSchema: {
        type: "object",
        properties: {
          item: { type: "string" },
          count: { type: "integer" },
          note: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
        required: ["item"],
      },
    },
    fail: { name: "shop_fail" },
    fatal: { name: "shop_fatal" },
    rude: { name: "shop_rude" },
    data: { name: "shop_data" },
    host: { name: "shop_host", _meta: { "trailblaze/requiresHost": true } },
    phone: {
      name: "shop_phone",
      _meta: { "trailblaze/supportedPlatforms": ["IOS"], "trailblaze/toolset": "phones" },
    },
  },
  `export const add = (args) => args;
   export const fail = () => { throw new Error("no stock"); };
   export const fatal = () => ({ content: [{ type: "text", text: "fire" }], isError: true, _meta: { trailblaze: { variant: "FatalError" } } });
   export const rude = () => "\\u001b[2Jcleared\\u202e";
   export const data = () => ({ content: [], structuredContent: { text: "\\u202e\\u009b31m" } });
   export const host = () => "host";
   export const phone = () => "phone";`,
);
const makeShop = (more = {}) =>
  makeProject(
    { "@acme/shop": shop },
    {
      "trailblaze.config.json": { logDir: "logs", trailblazeSubprocessToolsets: [probe()] },
      ...more,
    },
  );
const json = async (args: readonly string[], cwd: string, input = "", start = runMain) => {
  const run = await start([...args, "--json"], { cwd, input });
  return { ...run, answer: JSON.parse(run.stdout) };
};

describe("trailblaze tools", () => {
  test("`tools` lists the tools of a session, and why others are skipped", async () => {
    const cwd = makeShop();
    const { answer, exitCode, stderr } = await json(["tools", "--on-device"], cwd);
    expect(exitCode).toBe(0);
    expect(Object.keys(answer)).toEqual(["sessionId", "tools", "toolsets", "servers", "skipped", "problems"]);
    const add = answer.tools.find(({ name }: { name: string }) => name === "shop_add");
    expect(add).toMatchObject({
      qualifiedName: "acme/shop/add",
      source: { type: "pack", pack: "@acme/shop", item: "add", file: "trailblaze/tools/add.json" },
      inputSchema: { required: ["item"] },
      isForLlm: true,
      toolsets: [],
    });
    const own = answer.tools.find(({ name }: { name: string }) => name === "probe_hidden");
    expect(own).toMatchObject({ qualifiedName: null, isForLlm: false, toolsets: ["auth"] });
    expect(answer.skipped).toMatchObject([
      { name: "shop_host", reason: "RequiresHost" },
      { name: "shop_phone", reason: "PlatformUnsupported" },
    ]);
    expect(stderr).toContain(`Starting probe: ${process.execPath} ${probeServer}`);

    const text = await runMain(["tools"], { cwd });
    expect(text.stdout).toMatch(/shop_add .*@acme\/shop/);
    expect(text.stdout).toContain("hidden from models: probe_hidden");
    expect(text.stdout).toMatch(/shop_phone .*PlatformUnsupported/);
  });

  test("`tools` accepts a device and toolsets", async () => {
    const cwd = makeShop();
    const { answer } = await json(["tools", "--platform", "ios", "--toolset", "phones"], cwd);
    expect(answer.tools.map(({ name }: { name: string }) => name)).toEqual(["shop_phone"]);
    const wrong = await json(["tools", "--platform", "toaster"], cwd);
    expect(wrong).toMatchObject({ exitCode: 2, answer: { error: { code: "InvalidArguments" } } });
    const missing = await json(["tools", "--toolset", "nothing"], cwd);
    expect(missing).toMatchObject({ exitCode: 1, answer: { error: { code: "ToolsetNotFound" } } });
  });
});

test("an error in the config with which a session opens is the exit code of `tools`, but not of `call` and `run`", async () => {
  const config = { logDir: "logs", options: { "acme/shop/add": { paint: "red" } } };
  const cwd = makeShop({ "trailblaze.config.json": config, "trail.yaml": "- shop_host: {}\n" });
  const listed = await json(["tools"], cwd);
  expect(listed).toMatchObject({ exitCode: 2, answer: { problems: [{ code: "InvalidConfig" }] } });
  const called = await json(["call", "shop_host"], cwd);
  expect(called).toMatchObject({ exitCode: 0, answer: { variant: "Success" } });
  const text = await runMain(["call", "shop_host"], { cwd });
  expect(text.stderr).toContain("InvalidConfig");
  expect(await json(["run", "trail.yaml"], cwd)).toMatchObject({ exitCode: 0 });
});

describe("trailblaze call", () => {
  test("`call` accepts arguments as JSON, as key=value words and from stdin", async () => {
    const cwd = makeShop();
    const asJson = await json(["call", "shop_add", "--args", '{"item":"tea","count":2}'], cwd);
    expect(asJson.answer).toEqual({
      variant: "Success",
      message: '{"item":"tea","count":2}',
      content: [{ type: "text", text: '{"item":"tea","count":2}' }],
      structuredContent: { item: "tea", count: 2 },
      elapsedMs: expect.any(Number),
    });
    const words = await json(["call", "acme/shop/add", "item=5", "count=2", "note=1.0"], cwd);
    expect(words.answer.structuredContent).toEqual({ item: "5", count: 2, note: "1.0" });
    const piped = await json(["call", "shop_add", "--args", "-"], cwd, '{"item":"milk"}');
    expect(piped.answer.structuredContent).toEqual({ item: "milk" });
  });

  test("`call` starts no server for invalid arguments", async () => {
    const cwd = makeShop();
    for (const args of [["--args", "[1"], ["--args", "-"], ["item"]]) {
      const { exitCode, stderr } = await runMain(["call", "shop_add", ...args], { cwd });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringContaining("InvalidArguments"),
      });
      expect(stderr).not.toContain("Starting");
    }
  });

  /** Runs a command with a server that ignores the end of its input, until it calls `probe_hang`. */
  const startHanging = async (args: readonly string[], more = {}) => {
    const env = { PROBE_STAY: "", PROBE_TRACE: "trace", PROBE_PIDS: "pids" };
    const config = { logDir: "logs", trailblazeSubprocessToolsets: [probe("probe", env)] };
    const cwd = makeShop({ "trailblaze.config.json": config, ...more });
    const child = spawn(process.execPath, [command, ...args], { cwd });
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
    const traces = (text: string) =>
      expect.poll(() => readFileSync(join(cwd, "trace"), "utf8")).toContain(text);
    await traces('"probe_hang","arguments"');
    const pid = Number(readFileSync(join(cwd, "pids"), "utf8"));
    return {
      child,
      traces,
      pid,
      finish: async () => ({ exitCode: await closed, stdout: stdout(), stderr: stderr() }),
    };
  };
  test("`call` exits with 130 after Ctrl-C and leaves no server behind", async () => {
    const { child, pid, finish } = await startHanging(["call", "probe_hang", "--json"]);
    child.kill("SIGINT");
    const { exitCode, stdout, stderr } = await finish();
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout).error).toMatchObject({ code: "SessionClosed", args: { signal: "SIGINT" } });
    expect(stderr).toContain("Stopping");
    expect(isRunning(pid)).toBe(false);
  });

  test("`run` prints the finished steps after SIGTERM", async () => {
    const trail = { "trail.yaml": "- probe_params: { n: 1 }\n- probe_hang: {}\n- probe_params: {}\n" };
    const { child, finish } = await startHanging(["run", "trail.yaml", "--json"], trail);
    child.kill("SIGTERM");
    const run = await finish();
    expect(run.exitCode).toBe(1);
    const steps = [{ tool: "probe_params", variant: "Success" }];
    expect(JSON.parse(run.stdout)).toMatchObject({ steps, stopped: true });
  });

  test("`call` exits with 1 unless the tool succeeds, and escapes control characters in its result", async () => {
    const cwd = makeShop();
    const failed = await runMain(["call", "shop_fail"], { cwd });
    expect(failed).toMatchObject({ exitCode: 1, stdout: "ExceptionThrown: no stock\n" });
    const rude = await runMain(["call", "shop_rude"], { cwd });
    expect(rude).toMatchObject({ exitCode: 0, stdout: "\\u{001b}[2Jcleared\\u{202e}\n" });
    const { stdout } = await runMain(["call", "shop_data"], { cwd });
    expect(stdout).toBe('{\n  "text": "\\u{202e}\\u{009b}31m"\n}\n');
    const unknown = await json(["call", "shop_ad"], cwd);
    expect(unknown).toMatchObject({
      exitCode: 1,
      answer: { error: { code: "ToolNotFound", args: { nearest: expect.arrayContaining(["shop_add"]) } } },
    });
  });

  test("`call --json` prints one JSON document, whatever the pack's code prints", async () => {
    const cwd = makeProject({
      loud: toolPack(
        { shout: { name: "shout" } },
        `console.log("loading");
         process.on("exit", () => console.log("leaving"));
         export const shout = () => {
           console.log("\\u001b[2Jlog", { a: 1 });
           console.error("\\u001b[31merror");
           process.stdout.write("no end");
           process.stdout.write(Buffer.from("\\u202ebytes\\n"));
           process.stdout.end("the end\\n");
           setTimeout(() => console.log("late"), 0);
           return "x".repeat(300_000);
         };`,
      ),
    });
    const asJson = await runCli(["call", "shout", "--json"], { cwd });
    expect(asJson.exitCode).toBe(0);
    expect(JSON.parse(asJson.stdout).message).toHaveLength(300_000);
    const lines = [
      "loading",
      "\\u{001b}[2Jlog { a: 1 }",
      "\\u{001b}[31merror",
      "no end\\u{202e}bytes",
      "the end",
    ];
    expect(asJson.stderr.split("\n")).toEqual(expect.arrayContaining(lines));
    const text = await runCli(["call", "shout"], { cwd });
    expect(text.stdout).toMatch(/^x{300000}\n$/);
  });

  test("`call --record` appends successful calls to a trail, which `run` replays", async () => {
    const cwd = makeShop({ "trail.yaml": "# mine\n- shop_add: { item: tea }" });
    await runMain(["call", "shop_fail", "--record", "trail.yaml"], { cwd });
    await runMain(["call", "acme/shop/add", "item=milk", "--record", "trail.yaml"], { cwd });
    const trail = "# mine\n- shop_add: { item: tea }\n- shop_add:\n    item: milk\n";
    expect(readFileSync(join(cwd, "trail.yaml"), "utf8")).toBe(trail);
    const replayed = await json(["run", "trail.yaml"], cwd);
    expect(replayed).toMatchObject({ exitCode: 0, answer: { stopped: false } });
    expect(replayed.answer.steps).toMatchObject([
      { tool: "shop_add", variant: "Success", message: '{"item":"tea"}' },
      { tool: "shop_add", variant: "Success", message: '{"item":"milk"}' },
    ]);
  });

  test("`call --record` calls nothing if the trail cannot be written or is another file", async () => {
    const cwd = makeShop();
    const file = join(cwd, "trailblaze.config.json");
    const config = readFileSync(file, "utf8");
    for (const trail of ["nowhere/trail.yaml", ".", "trailblaze.config.json"]) {
      const refused = await json(["call", "shop_add", "item=x", "--record", trail], cwd);
      expect(refused).toMatchObject({ exitCode: 2, answer: { error: { code: "InvalidArguments" } } });
      expect(refused.stderr).not.toContain("Starting");
    }
    expect(readFileSync(file, "utf8")).toBe(config);
  });
});

describe("trailblaze run", () => {
  test("`run` stops at a failed step, or only at a fatal error with --keep-going", async () => {
    const steps = ["shop_fail", "shop_add", "shop_fatal", "shop_add"];
    const trail = steps.map((tool) => `- ${tool}: { item: x }\n`).join("");
    const cwd = makeShop({ "trail.yaml": trail });
    const variants = async (...args: string[]) => {
      const { answer, exitCode } = await json(["run", "trail.yaml", ...args], cwd);
      expect(exitCode).toBe(1);
      expect(answer.stopped).toBe(true);
      return answer.steps.map(({ variant }: { variant: string }) => variant);
    };
    expect(await variants()).toEqual(["ExceptionThrown"]);
    expect(await variants("--keep-going")).toEqual(["ExceptionThrown", "Success", "FatalError"]);
  });

  test("`run` rejects an invalid trail and reports its line", async () => {
    const cwd = makeShop({
      "shape.yaml": "- shop_add: { item: x }\n- shop_add: 3\n",
      "name.yaml": "- shop_ad:\n",
      "syntax.yaml": "- shop_add: { item: x }\n- shop_add: { item: [x }\n",
    });
    const run = async (trail: string) => {
      const { answer, exitCode } = await json(["run", trail], cwd);
      return { ...answer.error, exitCode };
    };
    expect(await run("shape.yaml")).toMatchObject({ exitCode: 2, code: "InvalidArguments", line: 2 });
    expect(await run("syntax.yaml")).toMatchObject({ exitCode: 2, line: 2, column: expect.any(Number) });
    expect(await run("name.yaml")).toMatchObject({ exitCode: 1, code: "ToolNotFound" });
    expect(await run("none.yaml")).toMatchObject({ exitCode: 2, code: "InvalidArguments" });
  });
});

test("`doctor` passes if a session can open, and else names every server that does not start and every error in the config", async () => {
  const passed = await json(["doctor"], makeShop());
  expect(passed.exitCode).toBe(0);
  const names = ["node", "project", "config", "packs", "lock", "servers", "session"];
  expect(passed.answer.checks).toMatchObject(names.map((name) => ({ name, ok: true })));
  const dead = (name: string) => ({ name, command: "nowhere-to-be-found" });
  const servers = { trailblazeSubprocessToolsets: [dead("one"), probe(), dead("two")] };
  const { exitCode, answer } = await json(["doctor"], makeShop({ "trailblaze.config.json": servers }));
  expect(exitCode).toBe(1);
  const code = "ServerStartFailed";
  expect(answer.problems).toMatchObject([{ code }, { code }]);
  expect(answer.checks.slice(-2)).toEqual([
    { name: "servers", ok: false, summary: "1 of 3 started; failed: one, two" },
    { name: "session", ok: false, summary: "cannot open without one and two" },
  ]);
  const config = { crash: "never", device: 3 };
  const wrong = await json(["doctor"], makeShop({ "trailblaze.config.json": config }));
  expect(wrong.answer.problems).toMatchObject([{ code: "InvalidConfig" }, { code: "InvalidConfig" }]);
  expect(wrong.exitCode).toBe(2);
});

test("`list --built-in` adds the tools and servers of the config", async () => {
  const config = [
    "builtIns:",
    "  - { name: tap, description: Tap., inputSchema: {}, handler: ./tap.js }",
    "servers: { mine: { tools: [tap] } }",
    "trailblazeSubprocessToolsets: [{ name: other, command: node }]",
  ].join("\n");
  const cwd = makeShop({ "trailblaze.config.yaml": config, "trailblaze.config.json": undefined });
  expect((await json(["list", "--built-in"], cwd)).answer.builtIns).toMatchObject([
    { kind: "tool", name: "tap" },
    { kind: "server", name: "mine" },
    { kind: "server", name: "other" },
  ]);
  const { items } = (await json(["list", "tools", "--built-in"], cwd)).answer;
  expect(items[0]).toMatchObject({ qualifiedName: "tap", description: "Tap.", pack: null, version: null });
  expect((await json(["list", "tools"], cwd)).answer.items).toHaveLength(items.length - 1);
});
