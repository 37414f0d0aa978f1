import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type WatchEvent, type WatchPackOptions, watchPack } from "../../src/author/watch-pack.ts";
import { makeProbePack, toolDefinition } from "./probe-pack.ts";

const writeJson = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value));

/** Watches a pack, and lets a test wait for what happens. */
function startWatching(directory: string, options: WatchPackOptions = {}) {
  const events: WatchEvent[] = [];
  const ending = new AbortController();
  let wake = () => {};
  const ended = watchPack(directory, {
    quietMs: 50,
    ...options,
    signal: ending.signal,
    onEvent(event) {
      events.push(event);
      wake();
    },
  });
  ended.then(
    () => wake(),
    () => wake(),
  );
  const stop = async () => {
    ending.abort();
    return ended;
  };
  onTestFinished(async () => void (await stop().catch(() => {})));
  let seen = 0;
  /** The next event of a kind, and forgets those before it. */
  async function next<Type extends WatchEvent["type"]>(
    type: Type,
  ): Promise<Extract<WatchEvent, { type: Type }>> {
    for (;;) {
      while (seen < events.length) {
        const event = events[seen++];
        if (event?.type === type) return event as Extract<WatchEvent, { type: Type }>;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return { events, next, stop, ended };
}

describe("watching a pack", () => {
  test("every change is validated, and the session uses the last valid state", async () => {
    const { directory, pids, running } = makeProbePack();
    const { next, stop, events } = startWatching(directory);
    expect((await next("validated")).report.report).toMatchObject({ ok: true, pack: "probe-pack" });
    expect(await next("opened")).toMatchObject({
      tools: ["probe_hello", "probe_one"],
      added: [],
      removed: [],
    });
    const [first] = pids();
    expect(running()).toEqual([first]);

    writeFileSync(join(directory, "trailblaze/tools/hello.json"), "{ oops");
    const broken = await next("validated");
    expect(broken.report.report.problems).toMatchObject([{ code: "InvalidDefinitionContents", line: 1 }]);
    expect(broken.report.texts.get("trailblaze/tools/hello.json")).toBe("{ oops");
    expect(running()).toEqual([first]);

    writeJson(join(directory, "trailblaze/tools/hello.json"), toolDefinition("probe_goodDay"));
    const opened = await next("opened");
    expect(opened).toMatchObject({ added: ["probe_goodDay"], removed: ["probe_hello"] });
    expect(pids()).toHaveLength(2);
    expect(running()).toEqual([pids()[1]]);

    expect(await stop()).toEqual({
      runs: events.filter(({ type }) => type === "validated").length,
      ok: true,
      pack: "probe-pack",
      tools: ["probe_goodDay", "probe_one"],
      problems: [],
    });
    expect(running()).toEqual([]);
  });

  test("a session is closed if its server fails to start, and opened again after a fix", async () => {
    const { directory, running } = makeProbePack();
    const definition = join(directory, "server/main.mjs");
    writeFileSync(definition, "process.exit(3);\n");
    const { next, stop } = startWatching(directory);
    const opened = await next("opened");
    expect(opened.tools).toEqual(["probe_hello"]);
    expect(opened.problems).toMatchObject([{ code: "ServerStartFailed" }]);
    writeFileSync(definition, 'await import("./probe.mjs");\n');
    expect(await next("opened")).toMatchObject({ added: ["probe_one"] });
    writeFileSync(join(directory, "trailblaze.config.yaml"), "crash: sometimes\n");
    expect((await next("notOpened")).problem).toMatchObject({ code: "InvalidConfig" });
    expect(await stop()).toMatchObject({ ok: false, tools: [], problems: [{ code: "InvalidConfig" }] });
    expect(running()).toEqual([]);
  });

  test("the exit of a server is reported, and the next change starts it again", async () => {
    const { directory, running } = makeProbePack();
    const { next, stop } = startWatching(directory);
    await next("opened");
    const [pid = 0] = running();
    process.kill(pid, "SIGKILL");
    expect((await next("reported")).problem).toMatchObject({ code: "ServerDied", severity: "error" });
    writeFileSync(join(directory, "lib/hello.js"), "export default () => 'hello again';\n");
    expect(await next("opened")).toMatchObject({ tools: ["probe_hello", "probe_one"] });
    await stop();
    expect(running()).toEqual([]);
  });
});

test("with `once`, watching ends after one run and leaves no processes", async () => {
  const { directory, pids, running } = makeProbePack();
  const result = await watchPack(".", { cwd: directory, once: true });
  expect(result).toMatchObject({ runs: 1, ok: true, tools: ["probe_hello", "probe_one"], problems: [] });
  expect(pids()).toHaveLength(1);
  expect(running()).toEqual([]);
  rmSync(join(directory, "lib/hello.js"));
  const broken = await watchPack(directory, { once: true });
  expect(broken).toMatchObject({ runs: 1, ok: false, tools: [], problems: [{ code: "HandlerNotFound" }] });
  expect(pids()).toHaveLength(1);
});
