import { isRecord } from "../data/parse-json.ts";
import { makeRules } from "./make-rules.ts";
import { type RuleGroup, type SchemaContext, SchemaNode, type Target } from "./schema-node.ts";
import { type Backtrack, createSchemaPattern, type SchemaPattern } from "./schema-pattern.ts";
import { type FollowedReferences, isAlias } from "./schema-references.ts";
import type { Draft, Schema } from "./schema-survey.ts";

const rejectAll: RuleGroup = {
  takes: undefined,
  wrongType: undefined,
  rules: [(_value, run) => run.fail("is not allowed")],
};

/** The dynamic anchor of a reference. A reference is dynamic only if its static target has a dynamic anchor. */
function findDynamicAnchor(schema: Schema, keyword: string, target: Schema | boolean): string | undefined {
  if (typeof target === "boolean") return undefined;
  if (keyword === "$recursiveRef") return target.$recursiveAnchor === true ? "" : undefined;
  const anchor = String(schema[keyword]).split("#")[1];
  return keyword === "$dynamicRef" && anchor !== "" && target.$dynamicAnchor === anchor ? anchor : undefined;
}

/** Compiles a valid schema on demand; without `backtrack`, it does not match patterns that need backtracking. Returns the nodes of the schema itself and of the schemas inside it. */
export function compileSchema(
  draft: Draft,
  references: FollowedReferences | undefined,
  backtrack?: Backtrack,
): (schema: Schema) => SchemaNode {
  const nodes = new Map<unknown, SchemaNode>([
    [true, new SchemaNode(true, undefined, () => [])],
    [false, new SchemaNode(false, undefined, () => [rejectAll])],
  ]);
  const patterns = new Map<string, SchemaPattern>();
  const isDynamic = [...(references?.targets.values() ?? [])].some(
    (targets) => targets.has("$dynamicRef") || targets.has("$recursiveRef"),
  );

  const context: SchemaContext = {
    draft,
    nodeOf(one) {
      const known = nodes.get(one);
      if (known !== undefined) return known;
      // Other values are not schemas and are ignored.
      const inner = isRecord(one) ? one : {};
      const resource = isDynamic ? references?.resources.get(inner) : undefined;
      const node = new SchemaNode(inner, resource, () => makeRules(inner, context));
      nodes.set(one, node);
      return node;
    },
    patternOf(pattern) {
      const compiled = patterns.get(pattern) ?? createSchemaPattern(pattern, backtrack);
      patterns.set(pattern, compiled);
      return compiled;
    },
    targetOf(one, keyword): Target {
      const follow = (from: Schema, by: string) => references?.targets.get(from)?.get(by) ?? true;
      let target = follow(one, keyword);
      // Skips chains of aliases, which can be long. With dynamic references, each alias may add a resource to the scope.
      while (!isDynamic && isRecord(target) && isAlias(target)) target = follow(target, "$ref");
      const anchor = findDynamicAnchor(one, keyword, target);
      const node = context.nodeOf(target);
      if (anchor === undefined) return { node, findIn: undefined };
      return {
        node,
        findIn({ top, dynamicAnchors }) {
          const found =
            anchor === "" ? top.schema.$recursiveAnchor === true && top.schema : dynamicAnchors.get(anchor);
          return found ? context.nodeOf(found) : undefined;
        },
      };
    },
  };
  return context.nodeOf;
}
