import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import { keywords } from "./keywords.ts";

/** The supported drafts of JSON Schema. */
export type Draft = keyof typeof keywords;

export type Schema = Readonly<Record<string, unknown>>;

/** A schema with its place. */
export interface PlacedSchema {
  schema: Schema;
  /** The enclosing schema; `undefined` for the top. */
  parent: PlacedSchema | undefined;
  /** From the top. */
  path: Path;
}

/** A regular expression with its path; for keys of `patternProperties`, the path of the value. */
export interface PlacedPattern {
  pattern: string;
  path: Path;
}

/** A schema and all schemas inside it. */
export interface SchemaSurvey {
  draft: Draft;
  schemas: readonly PlacedSchema[];
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

/** A schema and its subschemas, in the order of the text, each once. Skips those in `seen`, and adds the others to it. */
export function listSchemas(top: PlacedSchema, draft: Draft, seen: Set<Schema>): PlacedSchema[] {
  const found: PlacedSchema[] = [];
  const visit = (placed: PlacedSchema) => {
    const { schema } = placed;
    if (seen.has(schema)) return;
    seen.add(schema);
    found.push(placed);
    for (const key of Object.keys(schema)) {
      const value = schema[key];
      const { holds = [] } = (typeof value === "object" && keywords[draft].get(key)) || {};
      if (holds.length === 0 || value === null) continue;
      const isList = Array.isArray(value);
      if (!isList && holds.includes("itself"))
        visit({ schema: value as Schema, parent: placed, path: [...placed.path, key] });
      if (!holds.includes(isList ? "list" : "object")) continue;
      for (const [name, inner] of Object.entries(value as object))
        if (isRecord(inner))
          visit({
            schema: inner,
            parent: placed,
            path: [...placed.path, key, isList ? Number(name) : name],
          });
    }
  };
  visit(top);
  return found;
}

/** The regular expressions of a schema itself. Runs none. */
export function listPatterns({ schema, path }: PlacedSchema): PlacedPattern[] {
  const { pattern, patternProperties } = schema;
  const keys = isRecord(patternProperties) ? Object.keys(patternProperties) : [];
  return [
    ...(typeof pattern === "string" ? [{ pattern, path: [...path, "pattern"] }] : []),
    ...keys.map((key) => ({ pattern: key, path: [...path, "patternProperties", key] })),
  ];
}

const surveys = new WeakMap<Schema, SchemaSurvey>();

/** Surveys a whole schema, once per object; `undefined` if its draft is not supported. Follows no references. */
export function surveySchema(schema: Schema): SchemaSurvey | undefined {
  const known = surveys.get(schema);
  if (known !== undefined) return known;
  const draft = findDraft(schema);
  if (draft === undefined) return undefined;
  const schemas = listSchemas({ schema, parent: undefined, path: [] }, draft, new Set());
  const survey = { draft, schemas };
  surveys.set(schema, survey);
  return survey;
}
