import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import { type Keyword, keywords, type SchemaFault } from "./keywords.ts";

export type { SchemaFault };

/** The supported drafts of JSON Schema. */
export type Draft = keyof typeof keywords;

export type Schema = Readonly<Record<string, unknown>>;

/** Keys from the top of a schema. */
export type SchemaPath = Path;

/** The result of one pass over a schema and its subschemas. */
export interface SchemaSurvey {
  draft: Draft;
  /** What the meta-schema rejects. */
  faults: SchemaFault[];
  /** Regular expressions with their paths; for keys of `patternProperties`, the path of the value. */
  patterns: { pattern: string; path: SchemaPath }[];
  /** Schemas with a `default`, with their paths. */
  defaults: { schema: Schema; path: SchemaPath }[];
  /** Whether the schema contains references. */
  refers: boolean;
}

/** The value of `$schema` for each draft. */
export const draftUris: Readonly<Record<Draft, string>> = {
  draft2020: "https://json-schema.org/draft/2020-12/schema",
  draft07: "http://json-schema.org/draft-07/schema",
};

/** Keywords that refer to another schema. */
export const referenceKeywords: readonly string[] = ["$ref", "$dynamicRef", "$recursiveRef"];

/** The draft of a schema, 2020-12 by default; `undefined` for unsupported ones. */
function findDraft({ $schema }: Schema): Draft | undefined {
  if ($schema === undefined) return "draft2020";
  if (typeof $schema !== "string") return undefined;
  return (Object.keys(draftUris) as Draft[]).find((draft) => draftUris[draft] === $schema.replace(/#$/, ""));
}

/** The rule for a keyword's value. */
export function findKeyword(draft: Draft, name: string): Keyword | undefined {
  return keywords[draft].get(name);
}

// A pack can have thousands of valid schemas, so this avoids allocations.
function visit(schema: Schema, path: (string | number)[], survey: SchemaSurvey): void {
  const rules = keywords[survey.draft];
  if (Object.hasOwn(schema, "default")) survey.defaults.push({ schema, path: [...path] });
  for (const key of Object.keys(schema)) {
    const rule = rules.get(key);
    if (rule === undefined) continue;
    const value = schema[key];
    path.push(key);
    for (const { what, path: inside } of rule.findFaults(value))
      survey.faults.push({ what, path: [...path, ...inside] });
    if (typeof value === "string") {
      if (key === "pattern") survey.patterns.push({ pattern: value, path: [...path] });
      if (referenceKeywords.includes(key)) survey.refers = true;
    } else if (typeof value === "object" && value !== null && rule.holds.length > 0) {
      if (key === "patternProperties") {
        for (const pattern of Object.keys(value)) survey.patterns.push({ pattern, path: [...path, pattern] });
      }
      visitHeld(value, rule.holds, path, survey);
    }
    path.pop();
  }
}

function visitHeld(
  value: object,
  holds: Keyword["holds"],
  path: (string | number)[],
  survey: SchemaSurvey,
): void {
  const isList = Array.isArray(value);
  if (!isList && holds.includes("itself")) visit(value as Schema, path, survey);
  if (!holds.includes(isList ? "list" : "object")) return;
  for (const key of Object.keys(value)) {
    const inner = (value as Schema)[key];
    if (!isRecord(inner)) continue;
    path.push(isList ? Number(key) : key);
    visit(inner, path, survey);
    path.pop();
  }
}

/**
 * Surveys a schema of a known draft, which must be acyclic and within the parser's limit on depth. Runs no patterns and
 * follows no references.
 */
export function surveyInDraft(schema: Schema, draft: Draft, path: SchemaPath = []): SchemaSurvey {
  const survey: SchemaSurvey = { draft, faults: [], patterns: [], defaults: [], refers: false };
  visit(schema, [...path], survey);
  return survey;
}

const surveys = new WeakMap<Schema, SchemaSurvey>();

/** Surveys a whole schema, once per object; `undefined` if its draft is not supported. */
export function surveySchema(schema: Schema): SchemaSurvey | undefined {
  const known = surveys.get(schema);
  if (known !== undefined) return known;
  const draft = findDraft(schema);
  if (draft === undefined) return undefined;
  const survey = surveyInDraft(schema, draft);
  surveys.set(schema, survey);
  return survey;
}
