// What handlers can ask, as JSON Schemas: for the host and, under other clients, for `run` of @trailblaze/scripting.

const strings = { type: "array", minItems: 1, items: { type: "string" } };
/** `[{ const, title }]`, MCP's form of choices with titles. */
const choices = {
  type: "array",
  minItems: 1,
  items: { type: "object", properties: { const: { type: "string" } }, required: ["const"] },
};
/** What nests or combines schemas, which forms of clients do not know. */
const flat = Object.fromEntries(
  ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "properties", "items", "prefixItems"].map((key) => [
    key,
    false,
  ]),
);
// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
const when = (condition: object, consequence: object) => ({ if: condition, then: consequence });
const ofTypes = (types: readonly string[], consequence: object) =>
  when({ properties: { type: { enum: types } }, required: ["type"] }, consequence);
/** Clients refuse other formats. */
const formats = ["email", "uri", "date", "date-time"];
const items = {
  type: "object",
  properties: { ...flat, anyOf: choices },
  ...when(
    { not: { required: ["anyOf"] } },
    { properties: { type: { const: "string" }, enum: strings }, required: ["type", "enum"] },
  ),
};
/** A field of a form: a string, number, boolean, choice or choice of several. */
const field = {
  type: "object",
  properties: { type: { enum: ["string", "number", "integer", "boolean", "array"] } },
  required: ["type"],
  allOf: [
    ofTypes(["string"], {
      properties: { ...flat, enum: strings, oneOf: choices, format: { enum: formats } },
    }),
    ofTypes(["number", "integer", "boolean"], { properties: flat }),
    ofTypes(["array"], { properties: { ...flat, items }, required: ["items"] }),
  ],
};
const message = { type: "string", minLength: 1 };
const form = {
  type: "object",
  properties: {
    message,
    schema: {
      type: "object",
      properties: {
        $schema: {},
        type: { const: "object" },
        properties: { type: "object", additionalProperties: field },
        required: {},
        additionalProperties: {},
        title: {},
        description: {},
      },
      required: ["type", "properties"],
      additionalProperties: false,
    },
  },
  required: ["message", "schema"],
};
const page = {
  type: "object",
  properties: { message, url: { type: "string" }, schema: false },
  required: ["message", "url"],
};
const methodCall = {
  type: "object",
  properties: {
    method: { enum: ["sampling/createMessage", "roots/list"] },
    params: { type: "object" },
    schema: false,
    url: false,
  },
  required: ["method"],
};

const shapes = {
  method: { additionalProperties: methodCall },
  url: { additionalProperties: page },
  form: { additionalProperties: form },
};

/** The schema of an object with this request, by what it asks for. */
export function shapeOf(request: unknown): object & Readonly<Record<string, unknown>> {
  const has = (name: string) => typeof request === "object" && request !== null && name in request;
  return shapes[has("method") ? "method" : has("url") ? "url" : "form"];
}

export const isHttpUrl = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
