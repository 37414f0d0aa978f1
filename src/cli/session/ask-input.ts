import { isRecord } from "../../data/parse-json.ts";
import { printable, printableLines, shorten } from "../../problems/index.ts";
import type { InputAnswer } from "../../runtime/handler-context.ts";
import type { InputQuestion, OnInput } from "../../session/host-input.ts";
import { type Ask, type Terminal, withAsk } from "../remote/ask.ts";

type Schema = Readonly<Record<string, unknown>>;
type Read = { value: unknown } | { fault: string };

const longestMessage = 4000;

/** `[value, title]` of each choice; `undefined` for a value that is not an enum. */
function findChoices({ enum: values, oneOf, anyOf, enumNames }: Schema): [string, string][] | undefined {
  const titled = oneOf ?? anyOf;
  if (Array.isArray(titled)) return titled.map((one) => [String(one.const), String(one.title ?? one.const)]);
  if (!Array.isArray(values)) return undefined;
  return values.map((one, index) => {
    const title = Array.isArray(enumNames) ? enumNames[index] : one;
    return [String(one), String(title ?? one)];
  });
}

/** A choice by its value or its number in the list. */
const pickChoice = (choices: [string, string][], word: string): Read => {
  const chosen = choices.find(([value]) => value === word) ?? choices[Number(word) - 1];
  return chosen === undefined ? { fault: "Choose one of the list." } : { value: chosen[0] };
};

function readWord(schema: Schema, word: string): Read {
  const choices = findChoices(schema);
  if (choices !== undefined) return pickChoice(choices, word);
  switch (schema.type) {
    case "boolean": {
      if (/^(y|yes|true)$/i.test(word)) return { value: true };
      return /^(n|no|false)$/i.test(word) ? { value: false } : { fault: "Answer y or n." };
    }
    case "number":
    case "integer": {
      const value = Number(word);
      const isRight = schema.type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
      return isRight
        ? { value }
        : { fault: `Enter ${schema.type === "integer" ? "an integer" : "a number"}.` };
    }
    case "array": {
      const items = findChoices(isRecord(schema.items) ? schema.items : {}) ?? [];
      const picked = word.split(",").map((one) => pickChoice(items, one.trim()));
      const fault = picked.find((one) => "fault" in one);
      return fault ?? { value: picked.map((one) => ("value" in one ? one.value : undefined)) };
    }
    default:
      return { value: word };
  }
}

type Note = Terminal["note"];

async function confirm(ask: Ask, question: string): Promise<InputAnswer> {
  const line = await ask(`${question} [y = yes, n = decline, end of input = cancel]`);
  if (line === undefined) return { action: "cancel" };
  return { action: /^y(es)?$/i.test(line) ? "accept" : "decline" };
}

/** `{}` for a field that is left out; `undefined` to cancel. */
async function askField(ask: Ask, note: Note, name: string, schema: Schema, isRequired: boolean) {
  const { title, description, default: preset, type } = schema;
  const label = typeof title === "string" ? `${title} (${name})` : name;
  const about = typeof description === "string" ? `: ${description}` : "";
  const kind = type === "boolean" ? "y/n" : type === "array" ? "several, with commas" : String(type);
  const choices = findChoices(type === "array" && isRecord(schema.items) ? schema.items : schema) ?? [];
  const list = choices.map(
    ([value, shown], index) =>
      `\n  ${index + 1}. ${printable(shown === value ? value : `${value} - ${shown}`)}`,
  );
  const hint =
    preset !== undefined ? `default ${JSON.stringify(preset)}` : isRequired ? "required" : "optional";
  const prompt = `${printable(shorten(`${label}${about}`, longestMessage))}${list.join("")} [${kind}, ${printable(hint)}]`;
  for (;;) {
    const word = await ask(prompt);
    if (word === undefined) return undefined;
    if (word === "" && preset !== undefined) return { value: preset };
    if (word === "" && !isRequired) return {};
    const read: Read =
      word === "" && type !== "string" ? { fault: "This is required." } : readWord(schema, word);
    if (!("fault" in read)) return read;
    note(read.fault);
  }
}

/** Asks a question field by field. Its strings are not trusted. */
async function askInput(
  { tool, message, schema, url }: InputQuestion,
  ask: Ask,
  note: Note,
): Promise<InputAnswer> {
  note(`${printable(tool)} asks: ${printableLines(shorten(message, longestMessage))}`);
  if (url !== undefined) {
    note(`Page on ${printable(new URL(url).host)}:\n  ${printable(url)}`);
    return confirm(ask, "Open it in a browser yourself. Continue?");
  }
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const content: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const field = isRecord(property) ? property : {};
    const read = await askField(ask, note, name, field, required.includes(name));
    if (read === undefined) return { action: "cancel" };
    if ("value" in read) content.push([name, read.value]);
  }
  const answer = await confirm(ask, "Send this answer?");
  return answer.action === "accept" ? { ...answer, content: Object.fromEntries(content) } : answer;
}

/** Asks on a terminal; questions of several calls wait for each other. */
export function askOnTerminal(terminal: Terminal): OnInput {
  let last: Promise<unknown> = Promise.resolve();
  return (question) => {
    const answer = last.then(async (): Promise<InputAnswer> => {
      if (question.signal.aborted) return { action: "cancel" };
      return withAsk((ask) => askInput(question, ask, terminal.note), question.signal, terminal);
    });
    last = answer.catch(() => {});
    return answer;
  };
}
