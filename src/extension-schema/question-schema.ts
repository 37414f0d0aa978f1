// What handlers and servers can ask the user, or the client, before they answer.
import * as z from "zod/mini";
import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/index.ts";
import { writePointer } from "./pointer.ts";
import { describeIssues, parseShape, rule, ruleOfKeys } from "./shape-faults.ts";
import { name } from "./shared-schema.ts";

const without = (...refused: readonly string[]) =>
  ruleOfKeys((value: Readonly<Record<string, unknown>>) =>
    refused.flatMap((key) => (Object.hasOwn(value, key) ? { words: "is not allowed", path: [key] } : [])),
  );
const filled = rule<readonly unknown[]>(({ length }) => (length === 0 ? "is empty" : undefined));
const strings = z.array(z.string()).check(filled);
/** `[{ const, title }]`, MCP's form of choices with titles. */
const choices = z.array(z.looseObject({ const: z.string() })).check(filled);
/** What nests or combines schemas, which forms of clients do not know. */
const nesting = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "properties", "items", "prefixItems"];
const flatBut = (allowed?: string) => without(...nesting.filter((key) => key !== allowed));
const items = z.union([
  z.looseObject({ type: z.literal("string"), enum: strings }).check(flatBut()),
  z.looseObject({ anyOf: choices }).check(flatBut("anyOf")),
]);
/** Clients refuse other formats. */
const format = z.enum(["email", "uri", "date", "date-time"]);
const field = z.discriminatedUnion(
  "type",
  [
    z
      .looseObject({
        type: z.literal("string"),
        enum: z.optional(strings),
        oneOf: z.optional(choices),
        format: z.optional(format),
      })
      .check(flatBut("oneOf")),
    z.looseObject({ type: z.enum(["number", "integer", "boolean"]) }).check(flatBut()),
    z.looseObject({ type: z.literal("array"), items }).check(flatBut("items")),
  ],
  { error: "string, number, integer, boolean or array" },
);
const formSchema = z
  .looseObject({
    type: z.literal("object"),
    properties: z.record(z.string(), field),
  })
  .check(flatBut("properties"));
const explainPage = (url: string) =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? undefined : "must be an http or https URL";
const shapes = {
  method: z
    .looseObject({
      method: z.enum(["sampling/createMessage", "roots/list"]),
      params: z.optional(z.looseObject({})),
    })
    .check(without("schema", "url")),
  url: z.looseObject({ message: name, url: z.string().check(rule(explainPage)) }).check(without("schema")),
  form: z.looseObject({ message: name, schema: formSchema }),
};

/** Why a request cannot be asked; `undefined` if it can, with a valid schema. */
export function findQuestionFault(request: unknown): string | undefined {
  // zod passes over such keys.
  if (JSON.stringify(request).includes('"__proto__":')) return "it has a key `__proto__`";
  const has = (key: string) => isRecord(request) && Object.hasOwn(request, key);
  const { error } = parseShape(shapes[has("method") ? "method" : has("url") ? "url" : "form"], request);
  const style = { path: writePointer, word: quote };
  return error && describeIssues(error.issues, request, style)[0]?.reason;
}
