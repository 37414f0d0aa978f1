// How questions are asked on a terminal, with streams in its place, and by the built command. Terminals end with their command.
import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { askOnTerminal } from "../../src/cli/session/ask-input.ts";
import { scriptingPackage } from "../scripting/support/scripting-package.ts";
import { makeProject, toolPack } from "../session/support/session.ts";
import { findProgram } from "../support/find-program.ts";
import { runMain } from "../support/main.ts";
import { command } from "../support/run-cli.ts";

const properties = {
  name: { type: "string", title: "Your name", description: "As printed" },
  size: { type: "string", enum: ["s", "m", "l"], enumNames: ["small", "medium", "large"], default: "m" },
  age: { type: "integer" },
  news: { type: "boolean", default: false },
  tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
};
const schema = { type: "object", properties, required: ["name", "age"] };

/** Asks, and types a line for each prompt; the input ends after the last. */
async function ask(lines: readonly string[], question: object = { schema }) {
  const input = new PassThrough();
  const shown: string[] = [];
  const waiting = [...lines];
  const onInput = askOnTerminal({
    input,
    note(text) {
      shown.push(text);
      if (!/\[[^\]]*\]$/.test(text)) return;
      const line = waiting.shift();
      setImmediate(() => (line === undefined ? input.end() : input.write(`${line}\n`)));
    },
  });
  const { signal } = new AbortController();
  const answer = await onInput({ key: "k", tool: "t", message: "Please.", signal, ...question });
  return { answer, shown: shown.join("\n") };
}

test("a form is asked field by field, with types, choices, defaults and what is required", async () => {
  const { answer, shown } = await ask(["Ada", "3", "x", "36", "", "2, a", "y"]);
  expect(answer).toEqual({
    action: "accept",
    content: { name: "Ada", size: "l", age: 36, news: false, tags: ["b", "a"] },
  });
  expect(shown).toBe(
    [
      "t: Please.",
      "Your name (name): As printed [string, required]",
      'size\n  1. s - small\n  2. m - medium\n  3. l - large [string, default "m"]',
      "age [integer, required]",
      "Enter another value.",
      "age [integer, required]",
      "news [y/n, default false]",
      "tags\n  1. a\n  2. b [several, with commas, optional]",
      "Send this answer? [y = yes, n = decline, end of input = cancel]",
    ].join("\n"),
  );
});

test("a field without an answer takes its default or is left out, and a required one is asked again", async () => {
  const { answer } = await ask(["Ada", "", "", "1", "", "", "yes"]);
  expect(answer).toEqual({ action: "accept", content: { name: "Ada", size: "m", age: 1, news: false } });
});

test("a user declines at the end, and cancels with the end of the input", async () => {
  expect((await ask(["Ada", "", "1", "", "", "n"])).answer).toEqual({ action: "decline" });
  expect((await ask(["Ada"])).answer).toEqual({ action: "cancel" });
});

test("a URL is shown in full with its host, and hostile text is escaped", async () => {
  const url = `https://login.example/${"a".repeat(2000)}`;
  const { answer, shown } = await ask(["y"], { url, message: "Sign in\u001b[2J\u202e" });
  expect(answer).toEqual({ action: "accept" });
  expect(shown).toContain("Page on login.example:");
  expect(shown).toContain(url);
  expect(shown).not.toContain("\u001b");
  expect(shown).not.toContain("\u202e");
});

describe("the command", () => {
  const pack = toolPack(
    { greet: {}, large: {} },
    `
    import { needInput } from "@trailblaze/scripting/result";
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    export const greet = (_, { input }) => input === undefined
      ? needInput({ who: { message: "Who are you?", schema } })
      : "Hello " + input.who.content?.name;
    export const large = () => "x".repeat(100_001);`,
    {
      "package.json": {
        type: "module",
        trailblaze: { prompts: ["topic"], resources: ["page"], servers: ["desk"] },
      },
      "trailblaze/prompts/topic.json": { name: "topic", handler: "./handlers.js#greet" },
      "trailblaze/resources/page.json": { name: "page", uri: "desk://page", handler: "./handlers.js#greet" },
      "trailblaze/servers/desk.json": { tools: ["greet"] },
    },
  );
  const project = () => makeProject({ "@acme/desk": pack }, scriptingPackage);

  test("without a terminal, a question ends the command with exit code 1 and the variant", async () => {
    const cwd = project();
    const [called, prompt, page] = await Promise.all([
      runMain(["call", "greet", "--json"], { cwd }),
      runMain(["prompts", "topic", "--json"], { cwd }),
      runMain(["read", "desk://page"], { cwd }),
    ]);
    expect(called.exitCode).toBe(1);
    expect(JSON.parse(called.stdout)).toMatchObject({
      variant: "InputRequired",
      details: { inputRequests: { who: { message: "Who are you?" } } },
    });
    expect(prompt.exitCode).toBe(1);
    expect(JSON.parse(prompt.stdout)).toMatchObject({ error: { code: "InputRequired" } });
    expect(page).toMatchObject({ exitCode: 1, stdout: "" });
    expect(page.stderr).toContain('"desk://page" needs input of the user. "who": "Who are you?"');
  });

  test("a key for the states of questions that is too short ends `start` with exit code 2", async () => {
    const cwd = project();
    const env = { TRAILBLAZE_STATE_KEY: "x".repeat(31) };
    for (const server of [["acme/desk/desk"], []]) {
      const { exitCode, stderr } = await runMain(["start", ...server], { cwd, env });
      expect(exitCode).toBe(2);
      expect(stderr).toContain("TRAILBLAZE_STATE_KEY has 31 bytes, but it must have at least 32");
    }
  });

  /** util-linux's program that runs another in a terminal. */
  const script = process.platform === "linux" ? findProgram("script") : undefined;

  test.skipIf(script === undefined)(
    "on a terminal, `call`, `prompts` and `read` ask, also whether a call may run, and large results are cut",
    async () => {
      const config = { calls: { ask: ["greet"] } };
      const cwd = makeProject(
        { "@acme/desk": pack },
        { ...scriptingPackage, "trailblaze.config.json": config },
      );
      const run = (words: string, ...first: string[][]) =>
        new Promise<{ exitCode: number | null; shown: string }>((resolve) => {
          const line = `"${process.execPath}" "${command}" ${words}`;
          const child = spawn(script ?? "", ["-qec", line, "/dev/null"], { cwd, timeout: 60_000 });
          let shown = "";
          const answers = [...first, ["name [string, required]", "Ada"], ["Send this answer?", "y"]];
          child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
            shown += chunk;
            const [prompt = "", answer] = answers[0] ?? [];
            if (answer === undefined || !shown.includes(prompt)) return;
            answers.shift();
            child.stdin.write(`${answer}\r`);
          });
          child.on("close", (exitCode) => resolve({ exitCode, shown }));
        });
      const [large, whole, denied, called, ...others] = await Promise.all([
        run("call large"),
        runMain(["call", "large"], { cwd }),
        run("call greet", ["Continue?", "n"]),
        run("call greet", ["Continue?", "y"]),
        run("prompts topic"),
        run("read desk://page"),
      ]);
      expect(large.shown).toContain("[1 characters left out: file:");
      expect(whole.stdout.trimEnd()).toBe("x".repeat(100_001));
      for (const { exitCode, shown } of [called, ...others]) {
        expect(shown).toContain(": [acme/desk] Who are you?");
        expect(shown).toContain("Hello Ada");
        expect(exitCode).toBe(0);
      }
      expect(called.shown).toContain('greet: Call "greet" of "acme/desk"? Arguments: {}');
      expect(denied.shown).toContain("denied: the user does not allow it");
      expect(denied.shown).not.toContain("Who are you?");
      expect(denied.exitCode).toBe(1);
    },
  );
});
