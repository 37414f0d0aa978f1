// Makes from the meta-schemas of JSON Schema, as ajv ships them, what the check of a pack's schemas runs: for each
// keyword of each draft a validator of its value, and where in that value there are schemas again. A schema is then
// checked one level at a time, so that neither its depth nor the number of its keywords costs more than it must.
import { Ajv, type AnySchemaObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import standaloneCode from "ajv/dist/standalone/index.js";
import { isRecord } from "../src/data/parse-json.ts";

type JsonSchema = Record<string, unknown>;

/** Where a keyword's value holds schemas: it is one, a list of them, or an object of them. */
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

/** What a schema looks like on its own level. */
const anySchema = { type: ["object", "boolean"] };

/** Words for people, and what a meta-schema only recommends. */
const dropped: ReadonlySet<string> = new Set(["format", "default", "deprecated", "$comment"]);

const known = [new Ajv2020(), new Ajv()];

function findMetaSchema(id: string): AnySchemaObject {
  for (const ajv of known) {
    const found = ajv.getSchema(id)?.schema;
    if (typeof found === "object") return found;
  }
  throw new Error(`ajv brings no ${id}`);
}

/** Follows a `$ref` inside the meta-schemas. */
function dereference(reference: string, base: string): { value: unknown; base: string } {
  const { href, hash } = new URL(reference, base);
  const owner = href.slice(0, href.length - hash.length);
  let value: unknown = findMetaSchema(owner);
  for (const key of hash.slice(2).split("/")) value = (value as JsonSchema)[key];
  return { value, base: owner };
}

/** Rules for lists of anything, each once; that is left to the check. */
const withUniqueEntries = new WeakSet<object>();

/** The rule for one keyword's value, by itself: references resolved, schemas in it only told from other values. */
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
  // Names that must be regular expressions: all that was said of them was a format.
  if (isRecord(isolated.propertyNames) && Object.keys(isolated.propertyNames).length === 0) {
    delete isolated.propertyNames;
  }
  if (isolated.uniqueItems === true && isRecord(isolated.items)) {
    if (isolated.items.enum !== undefined) isolated.items.type = "string";
  } else if (isolated.uniqueItems === true) {
    // Comparing anything but texts would need a part of ajv at run time, which compares each with each.
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

/** What `typeof` says of every value that the rule allows, if that is all there is to it. */
function findSimpleType(rule: unknown): string {
  const [[key, type] = [], ...others] = Object.entries(rule as JsonSchema);
  const isSimple = key === "type" && others.length === 0 && ["string", "boolean"].includes(String(type));
  return isSimple ? JSON.stringify(type) : "undefined";
}

/** Every keyword of a draft, with the rule for its value. */
function rulesOf(ids: readonly string[]): Record<string, unknown> {
  const rules: Record<string, unknown> = {};
  for (const id of ids) {
    const { properties } = findMetaSchema(id) as { properties: JsonSchema };
    for (const [keyword, rule] of Object.entries(properties)) {
      if (rule !== true) rules[keyword] = isolate(rule, id);
      // Allowed in 2020-12, but no value fits, and ajv does not take it.
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
