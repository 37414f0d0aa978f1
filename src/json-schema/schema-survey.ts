import { isRecord } from "../data/parse-json.ts";
import { type Keyword, keywords } from "../extension-schema/generated/schema-keywords.js";
import type { Path } from "../problems/index.ts";
import { writeCanonical } from "./unique-items.ts";

/** The drafts of JSON Schema that packs may write. */
export type Draft = keyof typeof keywords;

export type Schema = Readonly<Record<string, unknown>>;

/** Keys from the top of a schema. */
export type SchemaPath = Path;

/** What is wrong with a JSON Schema, as the end of a sentence, and where from its top. */
export interface SchemaFault {
  what: string;
  path: SchemaPath;
}

/** What one pass over a schema and all schemas in it finds. */
export interface SchemaSurvey {
  draft: Draft;
  /** Keywords with a value that the draft's meta-schema does not allow; `path` leads to the value. */
  misfits: { key: string; value: unknown; path: SchemaPath }[];
  /** Regular expressions, and where they are; of one that is a key of `patternProperties`, where its value is. */
  patterns: { pattern: string; path: SchemaPath }[];
  /** Whether there are references. */
  refers: boolean;
}

const keywordsByDraft: Readonly<Record<Draft, ReadonlyMap<string, Keyword>>> = {
  draft2020: new Map(Object.entries(keywords.draft2020)),
  draft07: new Map(Object.entries(keywords.draft07)),
};

/** What `$schema` says of each. */
export const draftUris: Readonly<Record<Draft, string>> = {
  draft2020: "https://json-schema.org/draft/2020-12/schema",
  draft07: "http://json-schema.org/draft-07/schema",
};

/** Keywords that put another schema in the place where they stand. */
export const referenceKeywords: readonly string[] = ["$ref", "$dynamicRef", "$recursiveRef"];

/** The draft a schema is written in, 2020-12 where it does not say; `undefined` for one that we do not read. */
function findDraft({ $schema }: Schema): Draft | undefined {
  if ($schema === undefined) return "draft2020";
  if (typeof $schema !== "string") return undefined;
  return (Object.keys(draftUris) as Draft[]).find((draft) => draftUris[draft] === $schema.replace(/#$/, ""));
}

/** The rule for a keyword's value. */
export function findKeyword(draft: Draft, name: string): Keyword | undefined {
  return keywordsByDraft[draft].get(name);
}

function hasTwice(list: unknown): boolean {
  return Array.isArray(list) && new Set(list.map(writeCanonical)).size < list.length;
}

// A pack can have thousands of schemas with nothing wrong in them, so this makes as few objects as it can.
function visit(schema: Schema, path: (string | number)[], survey: SchemaSurvey): void {
  const rules = keywordsByDraft[survey.draft];
  for (const key of Object.keys(schema)) {
    const rule = rules.get(key);
    if (rule === undefined) continue;
    const value = schema[key];
    path.push(key);
    if (typeof value !== rule.simply && (!rule.fits(value) || (rule.isUnique && hasTwice(value)))) {
      survey.misfits.push({ key, value, path: [...path] });
    }
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
 * Looks over a schema of a known draft. It must not contain itself, and nest no deeper than what is read may nest.
 * Runs no pattern and follows no reference.
 */
export function surveyInDraft(schema: Schema, draft: Draft, path: SchemaPath = []): SchemaSurvey {
  const survey: SchemaSurvey = { draft, misfits: [], patterns: [], refers: false };
  visit(schema, [...path], survey);
  return survey;
}

const surveys = new WeakMap<Schema, SchemaSurvey>();

/** `surveyInDraft` for a whole schema, once for each; `undefined` where it is in a draft that we do not read. */
export function surveySchema(schema: Schema): SchemaSurvey | undefined {
  const known = surveys.get(schema);
  if (known !== undefined) return known;
  const draft = findDraft(schema);
  if (draft === undefined) return undefined;
  const survey = surveyInDraft(schema, draft);
  surveys.set(schema, survey);
  return survey;
}
