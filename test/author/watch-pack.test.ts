import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { watchPack } from "../../src/cli/commands/dev.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeProbePack, toolDefinition } from "./probe-pack.ts";

const style = { color: false, width: undefined };
const writeJson = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value));

/** Watches a pack, and lets a test wait for what is said. */
function startWatching(directory: string) {
  const said: string[] = [];
  const ending = new AbortController();
  let wake = () => {};
  const ended = watchPack(directory, { strict: false, signal: ending.signal, style }, (text) => {
    said.push(text);
    wake();
  });
  ended.then(wake, wake);
  const stop = async () => {
    ending.abort();
    return ended;
  };
  onTestFinished(async () => void (await stop().catch(() => {})));
  /** The next text with some words, and forgets those before it. */
  async function next(words: string): Promise<string> {
    for (;;) {
      for (let text = said.shift(); text !== undefined; text = said.shift())
        if (text.includes(words)) return text;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return { next, stop };
}

describe("watching a pack", () => {
  test("a definition in a new folder, in a root with another name, is a change", async () => {
    const directory = makeTree({
      "package.json": packManifest("desk", { type: "module", trailblaze: { root: "own", tools: ["wave"] } }),
      "lib.js": "export const wave = () => 1;",
    });
    const { next, stop } = startWatching(directory);
    await next("MissingRootDirectory");
    mkdirSync(join(directory, "own/tools"), { recursive: true });
    writeJson(join(directory, "own/tools/wave.json"), {
      ...toolDefinition("desk_wave"),
      handler: "./lib.js#wave",
    });
    await next("A session is open with 1 tool");
    await stop();
  });

  test("every change is validated, also beside steady ones, and the session uses the last valid state", async () => {
    const { directory, pids, running } = makeProbePack();
    const writing = setInterval(() => writeFileSync(join(directory, "state.db"), ""), 20);
    onTestFinished(() => clearInterval(writing));
    const { next, stop } = startWatching(directory);
    await next("probe-pack 1.0.0 is valid");
    expect(await next("A session is open")).toContain(":\n  probe_hello\n  probe_one");
    const [first] = pids();
    expect(running()).toEqual([first]);

    writeFileSync(join(directory, "trailblaze/tools/hello.json"), "{ oops");
    const broken = await next("probe-pack 1.0.0 is invalid");
    expect(broken).toContain("InvalidDefinitionContents");
    expect(broken).toMatch(/:1:\d+\n/);
    expect(running()).toEqual([first]);

    writeJson(join(directory, "trailblaze/tools/hello.json"), toolDefinition("probe_goodDay"));
    expect(await next("A session is open")).toContain(":\n  probe_goodDay\n  probe_one");
    expect(pids()).toHaveLength(2);
    expect(running()).toEqual([pids()[1]]);

    const tools = ["probe_goodDay", "probe_one"];
    expect(await stop()).toMatchObject({ ok: true, pack: "probe-pack", tools, problems: [] });
    expect(running()).toEqual([]);
  });

  test("a session is closed if its server fails to start, and opened again after a fix", async () => {
    const { directory, running } = makeProbePack();
    const definition = join(directory, "server/main.mjs");
    writeFileSync(definition, "process.exit(3);\n");
    const { next, stop } = startWatching(directory);
    await next("ServerStartFailed");
    expect(await next("A session is open")).toContain("with 1 tool:\n  probe_hello");
    writeFileSync(definition, 'await import("./probe.mjs");\n');
    await next("  probe_one");
    writeFileSync(join(directory, "trailblaze.config.yaml"), "crash: sometimes\n");
    expect(await next("No session is open.")).toContain("InvalidConfig");
    expect(await stop()).toMatchObject({ ok: false, tools: [], problems: [{ code: "InvalidConfig" }] });
    expect(running()).toEqual([]);
  });

  test("the exit of a server is reported, and the next change starts it again", async () => {
    const { directory, running } = makeProbePack();
    const { next, stop } = startWatching(directory);
    await next("A session is open");
    const [pid = 0] = running();
    process.kill(pid, "SIGKILL");
    await next("error ServerDied");
    writeFileSync(join(directory, "lib/hello.js"), "export default () => 'hello again';\n");
    expect(await next("A session is open")).toContain("with 2 tools");
    await stop();
    expect(running()).toEqual([]);
  });
});
