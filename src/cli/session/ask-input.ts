import { isRecord } from "../../data/parse-json.ts";
import { printable, printableLines, shorten } from "../../problems/index.ts";
import type { InputAnswer } from "../../runtime/handler-context.ts";
import type { InputQuestion, OnInput } from "../../session/host-functions.ts";
import { type Ask, type Terminal, withAsk } from "../ask.ts";

type Schema = Readonly<Record<string, unknown>>;

const longestMessage = 4000;
const yes = /^(?:y|yes|true)$/i;
const no = /^(?:n|no|false)$/i;

/** `[value, title]` of each choice; empty for a value that is not an enum. */
function findChoices({ enum: values, oneOf, anyOf, enumNames, items }: Schema): [string, string][] {
  if (isRecord(items)) return findChoices(items);
  const titled = oneOf ?? anyOf;
  if (Array.isArray(titled)) return titled.map((one) => [String(one.const), String(one.title ?? one.const)]);
  const titles: unknown[] = Array.isArray(enumNames) ? enumNames : [];
  return Array.isArray(values)
    ? values.map((value, index) => [String(value), String(titles[index] ?? value)])
    : [];
}

/** The value of a word, which may also be the number of a choice; `undefined` for one that the field does not take. */
function readWord({ type, ...schema }: Schema, word: string): unknown {
  if (type === "array") {
    const picked = word.split(",").map((part) => readWord(schema, part.trim()));
    return picked.includes(undefined) ? undefined : picked;
  }
  const choices = findChoices(schema);
  if (choices.length > 0)
    return (choices.find(([value]) => value === word) ?? choices[Number(word) - 1])?.[0];
  if (type === "boolean") return yes.test(word) || (no.test(word) ? false : undefined);
  if (type !== "number" && type !== "integer") return word;
  const isRight = type === "integer" ? Number.isSafeInteger(Number(word)) : Number.isFinite(Number(word));
  return isRight && word !== "" ? Number(word) : undefined;
}

async function confirm(ask: Ask, question: string): Promise<InputAnswer> {
  const line = await ask(`${question} [y = yes, n = decline, end of input = cancel]`);
  if (line === undefined) return { action: "cancel" };
  return { action: yes.test(line) ? "accept" : "decline" };
}

/** `{}` for a field that is left out; `undefined` to cancel. */
async function askField(
  ask: Ask,
  name: string,
  schema: Schema,
  isRequired: boolean,
): Promise<{ value?: unknown } | undefined> {
  const { title, description, default: preset, type } = schema;
  const label = typeof title === "string" ? `${title} (${name})` : name;
  const about = typeof description === "string" ? `: ${description}` : "";
  const kind = type === "boolean" ? "y/n" : type === "array" ? "several, with commas" : String(type);
  const list = findChoices(schema).map(
    ([value, shown], index) =>
      `\n  ${index + 1}. ${printable(shown === value ? value : `${value} - ${shown}`)}`,
  );
  const hint =
    preset !== undefined ? `default ${JSON.stringify(preset)}` : isRequired ? "required" : "optional";
  const prompt = `${printable(shorten(`${label}${about}`, longestMessage))}${list.join("")} [${kind}, ${printable(hint)}]`;
  for (let question = prompt; ; question = `Enter another value.\n${prompt}`) {
    const word = await ask(question);
    if (word === undefined) return undefined;
    if (word === "" && preset !== undefined) return { value: preset };
    if (word === "" && !isRequired) return {};
    const value = readWord(schema, word);
    if (value !== undefined) return { value };
  }
}

/** Asks a question field by field. Its strings are not trusted. */
async function askInput(
  { tool, message, schema, url }: InputQuestion,
  ask: Ask,
  note: Terminal["note"],
): Promise<InputAnswer> {
  note(`${printable(tool)}: ${printableLines(shorten(message, longestMessage))}`);
  if (url !== undefined) {
    note(`Page on ${printable(new URL(url).host)}:\n  ${printable(url)}`);
    return confirm(ask, "Open it in a browser yourself. Continue?");
  }
  const required: unknown[] = Array.isArray(schema?.required) ? schema.required : [];
  const content: [string, unknown][] = [];
  for (const [name, property] of Object.entries(isRecord(schema?.properties) ? schema.properties : {})) {
    const answer = await askField(ask, name, isRecord(property) ? property : {}, required.includes(name));
    if (answer === undefined) return { action: "cancel" };
    if ("value" in answer) content.push([name, answer.value]);
  }
  const answer = await confirm(ask, content.length > 0 ? "Send this answer?" : "Continue?");
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
