// How questions of tools are asked on a terminal, with streams in its place.
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askOnTerminal } from "../../src/cli/session/ask-input.ts";

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
      "t asks: Please.",
      "Your name (name): As printed [string, required]",
      'size\n  1. s - small\n  2. m - medium\n  3. l - large [string, default "m"]',
      "age [integer, required]",
      "Enter an integer.",
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
