import { carryIntegers } from "../data/exact-integers.ts";
import { isRecord, isText } from "../data/parse-json.ts";
import { qualifiedNameKey } from "../extension-schema/meta-schema.ts";
import { writePointer } from "../extension-schema/pointer.ts";
import { readSchema } from "../json-schema/read-schema.ts";
import { quote } from "../problems/index.ts";

/** Called with each part of a value that is left out: where it is, and what is wrong with it, which continues "it". */
export type LeaveOut = (path: string, reason: string) => void;

/** What is wrong with a value, which continues "it"; `undefined` if it can be used. Deletes what is optional and invalid. */
type Check = (value: unknown, path: string, leaveOut: LeaveOut) => string | undefined;

type Checks = Readonly<Record<string, Check>>;

const is =
  (what: string, isValid: (value: unknown) => boolean): Check =>
  (value) =>
    value === null ? "is null" : isValid(value) ? undefined : `is not ${what}`;

const text = is("a string", (value) => typeof value === "string");
const name = is("a string with characters", (value) => typeof value === "string" && value !== "");
const flag = is("true or false", (value) => typeof value === "boolean");
const bytes = is(
  "a number of bytes",
  (value) => typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER,
);
const share = is("a number from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1);
const record = is("an object", isRecord);

const oneOf = (...words: string[]) => is(words.join(" or "), (value) => words.includes(value as string));

const time = is(
  "an ISO 8601 time",
  (value) =>
    typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
);

const base64 = is("base64", (value) => {
  try {
    atob(value as string);
    return typeof value === "string";
  } catch {
    return false;
  }
});

const join = (path: string, key: string) => (path === "" ? key : `${path}.${key}`);

/** `isEntry`: of a list, of which a lock records every key. Others do not leave: a server may change them after an approval. */
function object(required: Checks, optional: Checks = {}, isEntry = false): Check {
  const [needed, others] = [Object.entries(required), Object.entries(optional)];
  return (value, path, leaveOut) => {
    if (!isRecord(value)) return record(value, path, leaveOut);
    for (const key of isEntry ? Object.keys(value) : [])
      if (!Object.hasOwn(required, key) && !Object.hasOwn(optional, key)) delete value[key];
    for (const [key, check] of needed) {
      if (!Object.hasOwn(value, key)) return `has no \`${key}\``;
      const fault = check(value[key], join(path, key), leaveOut);
      if (fault !== undefined) return `has no valid \`${key}\`, which ${fault}`;
    }
    for (const [key, check] of others) {
      if (!Object.hasOwn(value, key) || value[key] === undefined) continue;
      const fault = check(value[key], join(path, key), leaveOut);
      if (fault === undefined) continue;
      delete value[key];
      leaveOut(join(path, key), fault);
    }
    return undefined;
  };
}

const entry = (required: Checks, optional: Checks) => object(required, optional, true);

/** Elements that cannot be used are left out alone. */
const list =
  (element: Check): Check =>
  (value, path, leaveOut) => {
    if (!Array.isArray(value)) return value === null ? "is null" : "is not an array";
    let kept = 0;
    for (const [index, one] of value.entries()) {
      const at = `${path}[${index}]`;
      const fault = element(one, at, leaveOut);
      if (fault === undefined) value[kept++] = one;
      else leaveOut(at, fault);
    }
    value.length = kept;
    return undefined;
  };

const icons = list(
  object({ src: text }, { mimeType: text, sizes: list(text), theme: oneOf("light", "dark") }),
);

const annotations = object(
  {},
  { audience: list(oneOf("user", "assistant")), priority: share, lastModified: time },
);

const titled: Checks = { title: text, description: text, icons, _meta: record };
const ofResource: Checks = { ...titled, mimeType: text, annotations };

/**
 * Schemas that are `true` or `false` as objects. An invalid one allows any value, because without its key,
 * `additionalProperties` might refuse it.
 */
const properties: Check = (value, path, leaveOut) => {
  if (!isRecord(value)) return record(value, path, leaveOut);
  for (const [key, schema] of Object.entries(value)) {
    if (isRecord(schema)) continue;
    if (typeof schema !== "boolean") leaveOut(join(path, key), "is not a schema");
    (value as Record<string, unknown>)[key] = schema === false ? { not: {} } : {};
  }
  return undefined;
};

const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

/** A schema as strict clients take it: of an object, its properties objects. The rest is not checked. */
const ofObject = object({}, { required: is("an array of strings", areTexts), properties });

const inputSchema: Check = (schema, path, leaveOut) => {
  if (!isRecord(schema)) return record(schema, path, leaveOut);
  ofObject(schema, path, leaveOut);
  if (schema.type !== undefined && schema.type !== "object") leaveOut(join(path, "type"), 'is not "object"');
  schema.type = "object";
  return undefined;
};

/** Some clients give up the whole list for a schema that they cannot compile. */
const outputSchema: Check = (schema, path, leaveOut) => {
  if (!isRecord(schema)) return record(schema, path, leaveOut);
  if (schema.type === "object") ofObject(schema, path, leaveOut);
  if (schema.$id !== undefined) {
    delete schema.$id;
    leaveOut(join(path, "$id"), "may be the `$id` of another schema, too");
  }
  const { schemas, faults } = readSchema(schema);
  const refused = schemas.find(
    ({ schema: { id, $id, type, nullable } }) =>
      id !== undefined || $id !== undefined || (nullable !== undefined && type === undefined),
  );
  const what = "has an `id`, an inner `$id`, or `nullable` without `type`";
  const [fault] = refused ? [{ path: refused.path, what }] : faults;
  return fault && `cannot be compiled: ${`${writePointer(fault.path)} ${fault.what}`.trim()}`;
};

const skillFile = object({
  uri: name,
  digest: is("a SHA-256 digest", (value) => typeof value === "string" && /^sha256:[\da-f]{64}$/.test(value)),
  size: is("a number of bytes", (value) => Number.isSafeInteger(value) && Number(value) >= 0),
});

/** The files of a skill: without one of them, it is another skill. */
const skillFiles: Check = (value, path, leaveOut) => {
  if (value === "dynamic") return undefined;
  if (!Array.isArray(value)) return "is not an array";
  return value.map((file) => skillFile(file, path, leaveOut)).find((fault) => fault !== undefined);
};

/** What servers list, by the key of the result. Each fault makes that entry unusable. */
export const listedShapes = {
  tools: entry(
    { name, inputSchema },
    {
      ...titled,
      outputSchema,
      annotations: object(
        {},
        { title: text, readOnlyHint: flag, destructiveHint: flag, idempotentHint: flag, openWorldHint: flag },
      ),
      execution: object({}, { taskSupport: oneOf("required", "optional", "forbidden") }),
    },
  ),
  prompts: entry(
    { name },
    {
      ...titled,
      arguments: list(object({ name: text }, { title: text, description: text, required: flag })),
    },
  ),
  resources: entry({ uri: name, name }, { ...ofResource, size: bytes }),
  resourceTemplates: entry({ uriTemplate: name, name }, ofResource),
  skills: entry({ uri: name, frontmatter: object({ name, description: text }), resources: skillFiles }, {}),
} as const;

/** The entry of a pack's item in a list, valid for each client. The values stay as they are. */
export function createEntry(
  list: keyof typeof listedShapes,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entry = JSON.parse(JSON.stringify(values)) as Record<string, unknown>;
  listedShapes[list](entry, "", () => {});
  return entry;
}

/** `_meta` of an entry in a list; `undefined` if it is empty. Only the host may set the qualified name of an item of a pack. */
export function createEntryMeta(own: unknown, qualifiedName: string | null, more: object = {}) {
  const { [qualifiedNameKey]: _, ...others } = isRecord(own) ? own : {};
  const meta = {
    ...others,
    ...more,
    ...(qualifiedName === null ? {} : { [qualifiedNameKey]: qualifiedName }),
  };
  if (isRecord(own)) carryIntegers(own, meta);
  return Object.keys(meta).length > 0 ? meta : undefined;
}

const ofContents: Checks = { mimeType: text, _meta: record };
const texts = object({ uri: text, text }, ofContents);
const blobs = object({ uri: text, blob: base64 }, ofContents);
const contents: Check = (value, path, leaveOut) =>
  (isRecord(value) && typeof value.text === "string" ? texts : blobs)(value, path, leaveOut);

const ofBlock: Checks = { annotations, _meta: record };
const media = object({ data: base64, mimeType: text }, ofBlock);

const blocks = new Map<unknown, Check>([
  ["text", object({ text }, ofBlock)],
  ["image", media],
  ["audio", media],
  ["resource_link", object({ uri: text, name: text }, { ...ofResource, size: bytes })],
  ["resource", object({ resource: contents }, ofBlock)],
]);

/** A block that no client can take becomes a text that names it, so that the others arrive. */
function readBlock(block: unknown, path: string, leaveOut: LeaveOut): unknown {
  const type = isRecord(block) && typeof block.type === "string" ? block.type : undefined;
  const check = blocks.get(type);
  const unknown = type === undefined ? "has no `type`" : "has a type that clients do not know";
  const fault = check === undefined ? unknown : check(block, path, leaveOut);
  if (fault === undefined) return block;
  leaveOut(path, fault);
  const what = type === undefined ? "Content" : `Content of the type ${quote(type)}`;
  return { type: "text", text: `[${what} is left out: it ${fault}.]` };
}

const content: Check = (value, path, leaveOut) => {
  if (!Array.isArray(value)) return "is not an array";
  for (const [index, block] of value.entries())
    value[index] = readBlock(block, `${path}[${index}]`, leaveOut);
  return undefined;
};

/** One unusable message makes a prompt unusable: the others may mean something else without it. */
const messages: Check = (value, path, leaveOut) => {
  if (!Array.isArray(value)) return "is not an array";
  for (const [index, message] of value.entries()) {
    const fault = object({ role: oneOf("user", "assistant"), content: record })(message, path, leaveOut);
    if (fault !== undefined) return `has a message that ${fault}`;
    message.content = readBlock(message.content, `${path}[${index}].content`, leaveOut);
  }
  return undefined;
};

const readable: Check = (value, path, leaveOut) => {
  const before = Array.isArray(value) ? value.length : 0;
  const fault = list(contents)(value, path, leaveOut);
  const isEmptied = before > 0 && (value as unknown[]).length === 0;
  return fault ?? (isEmptied ? "has no part with a `uri` and a `text` or `blob`" : undefined);
};

/** What of `_meta` is about the exchange of messages with one side. */
const ofExchange = /^(?:io\.modelcontextprotocol\/|progressToken$)/;

const resultMeta: Check = (meta, path, leaveOut) => {
  if (!isRecord(meta)) return record(meta, path, leaveOut);
  for (const key of Object.keys(meta)) if (ofExchange.test(key)) delete meta[key];
  return undefined;
};

const resultShapes = {
  "tools/call": object({ content }, { isError: flag, _meta: resultMeta }),
  "prompts/get": object({ messages }, { description: text, _meta: resultMeta }),
  "resources/read": object({ contents: readable }, { _meta: resultMeta }),
  "completion/complete": object({ completion: object({ values: list(text) }, { hasMore: flag }) }),
} as const;

export type ResultMethod = keyof typeof resultShapes;

/**
 * Makes a result valid for each client, in place: what is optional and invalid is left out, null is like absent. Returns why
 * it cannot be used, which continues "it".
 */
export function repairResult(
  method: ResultMethod,
  result: Record<string, unknown>,
  leaveOut: LeaveOut = () => {},
): string | undefined {
  // Some languages write an empty list as null.
  for (const key of ["content", "messages", "contents"]) if (result[key] === null) result[key] = [];
  if (method === "tools/call") {
    result.content ??= [];
    // Left out, it would make a failure a success.
    if (result.isError) result.isError = true;
  }
  if (result.structuredContent === null) delete result.structuredContent;
  return resultShapes[method](result, "", (path, reason) => {
    if (reason !== "is null") leaveOut(path, reason);
  });
}
