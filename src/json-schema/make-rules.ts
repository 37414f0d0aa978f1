import { isRecord } from "../data/parse-json.ts";
import { arrayRules } from "./array-rules.ts";
import { alternativeRules, referenceRules } from "./combining-rules.ts";
import { objectRules } from "./object-rules.ts";
import type { Rule, RuleGroup, SchemaContext } from "./schema-node.ts";
import type { Schema } from "./schema-survey.ts";
import {
  anyTypeRules,
  describeType,
  isNumber,
  isString,
  numberRules,
  stringRules,
  typeRule,
  typesOf,
} from "./value-rules.ts";

/** Defaults of properties, or of items with individual schemas. */
function findDefaults(schemas: unknown): [string, unknown][] {
  if (typeof schemas !== "object" || schemas === null) return [];
  return Object.entries(schemas).flatMap(([key, schema]): [string, unknown][] =>
    isRecord(schema) && schema.default !== undefined ? [[key, schema.default]] : [],
  );
}

/** Adds defaults for absent keys, except for inherited names such as `constructor`. */
function defaultsRule(defaults: readonly (readonly [string, unknown])[]): Rule {
  return (value, run) => {
    if (run.isTentative) return true;
    const target = value as Record<string, unknown>;
    for (const [key, content] of defaults) {
      if (target[key] === undefined) target[key] = structuredClone(content);
    }
    return true;
  };
}

/** Compiles a schema to rules. Violations are reported in their order. */
export function makeRules(schema: Schema, context: SchemaContext): readonly RuleGroup[] {
  const objectDefaults = findDefaults(schema.properties);
  const arrayDefaults = Array.isArray(schema.items) ? findDefaults(schema.items) : [];
  const withDefaults = (defaults: readonly (readonly [string, unknown])[], rules: readonly Rule[]) =>
    defaults.length === 0 ? rules : [defaultsRule(defaults), ...rules];
  const byType = [
    { type: "number", takes: isNumber, rules: numberRules(schema) },
    { type: "string", takes: isString, rules: stringRules(schema, context) },
    { type: "array", takes: Array.isArray, rules: withDefaults(arrayDefaults, arrayRules(schema, context)) },
    { type: "object", takes: isRecord, rules: withDefaults(objectDefaults, objectRules(schema, context)) },
  ].filter(({ rules }) => rules.length > 0);

  const types = typesOf(schema);
  const single = types.length === 1 ? byType.find(({ type }) => type === types[0]) : undefined;
  const forAll = [
    ...(types.length > 0 && single === undefined ? [typeRule(schema)] : []),
    ...referenceRules(schema, context),
    ...anyTypeRules(schema),
    ...alternativeRules(schema, context),
  ];
  const ofAll = forAll.length === 0 ? [] : [{ takes: undefined, wrongType: undefined, rules: forAll }];
  const ofTypes = byType.map((group) => ({
    takes: group.takes,
    wrongType: group === single ? describeType(schema) : undefined,
    rules: group.rules,
  }));
  return [...ofAll, ...ofTypes];
}
