// Generates the validators for a pack's schemas from the meta-schemas in ajv: for each keyword of each draft a validator
// of its value, and where the value contains schemas again. A schema is then checked level by level, so that the cost
// grows only linearly with its depth and its keywords.
import { Ajv, type AnySchemaObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import standaloneCode from "ajv/dist/standalone/index.js";
import { isRecord } from "../src/data/parse-json.ts";

type JsonSchema = Record<string, unknown>;

/** Where a keyword's value has schemas: it is one, an array of them, or an object of them. */
type Place = "itself" | "list" | "object";

const vocabularies = [
  "core",
  "applicator",
  "unevaluated",
  "validation",
  "meta-data",
  "format-annotation",
  "content",
];
const metaSchemas = {
  draft2020: ["schema", ...vocabularies.map((name) => `meta/${name}`)].map(
    (name) => `https://json-schema.org/draft/2020-12/${name}`,
  ),
  draft07: ["http://json-schema.org/draft-07/schema"],
};

/** A schema on its own level. */
const anySchema = { type: ["object", "boolean"] };

/** Annotations, and keywords that a meta-schema only recommends. */
const dropped: ReadonlySet<string> = new Set(["format", "default", "deprecated", "$comment"]);

const known = [new Ajv2020(), new Ajv()];

function findMetaSchema(id: string): AnySchemaObject {
  for (const ajv of known) {
    const found = ajv.getSchema(id)?.schema;
    if (typeof found === "object") return found;
  }
  throw new Error(`ajv brings no ${id}`);
}

/** Resolves a `$ref` inside the meta-schemas. */
function dereference(reference: string, base: string): { value: unknown; base: string } {
  const { href, hash } = new URL(reference, base);
  const owner = href.slice(0, href.length - hash.length);
  let value: unknown = findMetaSchema(owner);
  for (const key of hash.slice(2).split("/")) value = (value as JsonSchema)[key];
  return { value, base: owner };
}

/** Rules for arrays with unique entries, which the check itself tests. */
const withUniqueEntries = new WeakSet<object>();

/** The rule for one keyword's value: references are resolved, and schemas in it become `anySchema`. */
function isolate(rule: unknown, base: string): unknown {
  if (Array.isArray(rule)) return rule.map((one) => isolate(one, base));
  if (!isRecord(rule)) return rule;
  if (rule.$dynamicRef === "#meta" || rule.$ref === "#") return anySchema;
  if (typeof rule.$ref === "string") {
    const { $ref, ...beside } = rule;
    const target = dereference($ref as string, base);
    return {
      ...(isolate(target.value, target.base) as JsonSchema),
      ...(isolate(beside, base) as JsonSchema),
    };
  }
  const kept = Object.entries(rule).filter(([key]) => !dropped.has(key));
  const isolated: JsonSchema = Object.fromEntries(kept.map(([key, value]) => [key, isolate(value, base)]));
  // Names that must be regular expressions: the meta-schema only has a format for that.
  if (isRecord(isolated.propertyNames) && Object.keys(isolated.propertyNames).length === 0) {
    delete isolated.propertyNames;
  }
  if (isolated.uniqueItems === true && isRecord(isolated.items)) {
    if (isolated.items.enum !== undefined) isolated.items.type = "string";
  } else if (isolated.uniqueItems === true) {
    // Comparing other values than strings would need ajv at run time, which compares every pair.
    delete isolated.uniqueItems;
    withUniqueEntries.add(isolated);
  }
  return isolated;
}

function findPlaces(rule: unknown): Place[] {
  if (!isRecord(rule)) return [];
  const holds = (inner: unknown) => findPlaces(inner).includes("itself");
  const places: Place[] = [];
  if (rule === anySchema) places.push("itself");
  if (holds(rule.items)) places.push("list");
  if (holds(rule.additionalProperties)) places.push("object");
  if (Array.isArray(rule.anyOf)) places.push(...rule.anyOf.flatMap(findPlaces));
  return places;
}

/** The only `typeof` that the rule allows, if it has no other condition. */
function findSimpleType(rule: unknown): string {
  const [[key, type] = [], ...others] = Object.entries(rule as JsonSchema);
  const isSimple = key === "type" && others.length === 0 && ["string", "boolean"].includes(String(type));
  return isSimple ? JSON.stringify(type) : "undefined";
}

/** All keywords of a draft, with the rule for their values. */
function rulesOf(ids: readonly string[]): Record<string, unknown> {
  const rules: Record<string, unknown> = {};
  for (const id of ids) {
    const { properties } = findMetaSchema(id) as { properties: JsonSchema };
    for (const [keyword, rule] of Object.entries(properties)) {
      if (rule !== true) rules[keyword] = isolate(rule, id);
      // Allowed in 2020-12, but no value can match, and ajv rejects it.
      if (keyword === "enum") Object.assign(rules[keyword] as JsonSchema, { minItems: 1 });
    }
  }
  return rules;
}

export function generateSchemaKeywords(): string {
  const ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    code: { esm: true, source: true, lines: true },
  });
  const validators = new Map<string, string>();
  const validatorFor = (rule: unknown): string => {
    const text = JSON.stringify(rule);
    const name = validators.get(text) ?? `value${validators.size}`;
    if (!validators.has(text)) ajv.addSchema({ ...(rule as JsonSchema), $id: name });
    validators.set(text, name);
    return name;
  };
  const drafts = Object.entries(metaSchemas).map(([draft, ids]) => {
    const lines = Object.entries(rulesOf(ids)).map(([keyword, rule]) => {
      const facts = {
        fits: validatorFor(rule),
        simply: findSimpleType(rule),
        isUnique: withUniqueEntries.has(rule as object),
        holds: JSON.stringify(findPlaces(rule)),
      };
      const text = Object.entries(facts).map(([name, fact]) => `${name}: ${fact}`);
      return `    ${JSON.stringify(keyword)}: { ${text.join(", ")} },`;
    });
    return [`  ${draft}: {`, ...lines, "  },"].join("\n");
  });
  const names = Object.fromEntries([...validators.values()].map((name) => [name, name]));
  const code = (standaloneCode as unknown as typeof standaloneCode.default)(ajv, names);
  if (code.includes("require("))
    throw new Error("A validator needs a run-time part of ajv: isolate its rule.");
  return [
    "// Generated by `npm run generate` from the meta-schemas of JSON Schema. Do not edit.",
    code
      .replace('"use strict";', "")
      .replace(/^export const (value\d+) =/gm, "const $1 =")
      .trim(),
    `export const keywords = {\n${drafts.join("\n")}\n};\n`,
  ].join("\n");
}
