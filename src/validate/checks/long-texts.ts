import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { listSchemas, pathOf } from "../../json-schema/schema-nodes.ts";
import { surveySchema } from "../../json-schema/schema-survey.ts";
import type { Path } from "../../problems/index.ts";
import { countCharacters, longestText } from "../../problems/text.ts";
import { type Check, findInItem, findInManifest } from "../finding.ts";
import { findSchemas, placeInDefinition } from "./subjects/schemas.ts";
import { findTools } from "./subjects/tools.ts";

/** What `LongText` says of a value, if it is a text that is too long. */
function measure(value: unknown): { characters: number; limit: number } | undefined {
  if (typeof value !== "string" || value.length <= longestText) return undefined;
  const characters = countCharacters(value);
  return characters > longestText ? { characters, limit: longestText } : undefined;
}

/** The descriptions that an item's definition has outside schemas, with their paths. */
function* findDescriptions({ definition }: InspectedItem): Generator<readonly [unknown, Path]> {
  yield [definition?.description, ["description"]];
  if (!Array.isArray(definition?.arguments)) return;
  for (const [index, argument] of definition.arguments.entries()) {
    if (isRecord(argument)) yield [argument.description, ["arguments", index, "description"]];
  }
}

/** Descriptions, those of parameters included, that would take up much of what a model can read. */
export const checkLongTexts: Check = function* ({ inspected }) {
  const { manifest, items } = inspected;
  const ofPackage = measure(manifest.value.description);
  if (ofPackage !== undefined) yield findInManifest("LongText", ofPackage, ["description"]);
  for (const item of items) {
    const { description, path, kind, name } = item.declaration;
    const declared = measure(description);
    if (declared !== undefined) {
      yield findInManifest("LongText", declared, ["trailblaze", ...path], { path, kind, item: name });
    }
    for (const [text, way] of findDescriptions(item)) {
      const found = measure(text);
      if (found !== undefined) yield findInItem(item, "LongText", found, way);
    }
  }
  for (const { item, definition, path, isEntry } of findTools(items)) {
    const found = isEntry ? measure(definition.description) : undefined;
    if (found !== undefined) yield findInItem(item, "LongText", found, [...path, "description"]);
  }
  for (const written of findSchemas(items)) {
    const survey = surveySchema(written.schema);
    if (survey === undefined) continue;
    const top = { schema: written.schema, parent: undefined, steps: [] };
    for (const node of listSchemas(top, survey.draft, new Set())) {
      const found = measure(node.schema.description);
      if (found === undefined) continue;
      const path = placeInDefinition(written, [...pathOf(node), "description"]);
      yield findInItem(written.tool.item, "LongText", found, path);
    }
  }
};
