import { createNodeInspectionPort } from "../io/node-inspection-port.ts";
import type { Kind } from "../kinds.ts";
import {
  type InspectionMeans,
  type InspectionOptions,
  type ItemInspection,
  inspectItemWith,
  inspectPackWith,
  type PackInspection,
} from "./inspect.ts";

/** The means of inspection on this machine. What evaluates code is loaded only where there is code. */
export function createInspectionMeans(): InspectionMeans {
  return {
    port: createNodeInspectionPort(),
    async createEvaluator(options) {
      const { createConfinedEvaluator } = await import("../io/confined-evaluator.ts");
      return createConfinedEvaluator(options);
    },
  };
}

/**
 * An installed pack with the definitions of its items, by npm name or its qualified form.
 *
 * Trust level: inspection. Reads definition files; definitions that are code are evaluated in a confined child
 * process. Runs no handler, no `initialize` and no npm script.
 *
 * Throws `TrailblazeError` only where there is nothing to show: `PackNotInstalled`, `ExtensionNotFound`,
 * `ProjectNotFound`, `InvalidConfig`, `ConfinementUnavailable`.
 */
export function inspectPack(name: string, options: InspectionOptions = {}): Promise<PackInspection> {
  return inspectPackWith(createInspectionMeans(), name, options);
}

/**
 * One item of an installed pack by qualified name, with its definition; a server also with what it is composed of.
 * `kind` decides where a name belongs to items of several kinds.
 *
 * Trust level: inspection, as `inspectPack`. Throws `TrailblazeError`: as `inspectPack`, and `InvalidQualifiedName`,
 * `AmbiguousName`, `PackVersionMismatch`, `ServerNotFound`, `ToolNotFound`, `ToolsetNotFound`, `PromptNotFound`.
 */
export function inspectItem(
  name: string,
  options: InspectionOptions & { kind?: Kind } = {},
): Promise<ItemInspection> {
  return inspectItemWith(createInspectionMeans(), name, options);
}

export type { InspectionOptions, ItemInspection, PackInspection, PackItem } from "./inspect.ts";
export type { ServerTool } from "./server-contents.ts";
