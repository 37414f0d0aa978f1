import { isRecord } from "../data/parse-json.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { inspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import type { Problem } from "../problems/index.ts";
import { checkHandlers } from "./checks/modules.ts";
import { checkResourceUris } from "./checks/prompts-resources.ts";
import { checkReservedParameters, checkSchemas } from "./checks/schemas.ts";
import {
  checkNeededVariables,
  checkServerCommands,
  checkServerPackages,
  checkServerPrograms,
} from "./checks/servers.ts";
import { checkTexts } from "./checks/texts.ts";
import { checkAdvertisedNames, checkRepeatedNames, checkToolMeta } from "./checks/tools.ts";
import { type Check, type CheckedPack, type Finding, makesUnusable, runChecks } from "./finding.ts";
import { ModuleFiles } from "./modules/module-files.ts";
import { PackUnderTest } from "./pack-under-test.ts";

/** The checks of validation whose errors make an item unusable or change its meaning. */
const sessionChecks = [
  checkAdvertisedNames,
  checkToolMeta,
  checkSchemas,
  checkReservedParameters,
  checkHandlers,
  checkServerPrograms,
  checkServerPackages,
  checkServerCommands,
  checkNeededVariables,
];

/** Checks that need only definitions, for people who look at what is installed. */
export const readerChecks: readonly Check[] = [checkTexts, checkRepeatedNames, checkResourceUris];

/** Finds the items of a pack that a session cannot use. Parses modules without running them. `others` are run too. */
export async function checkPack(
  inspected: InspectedPack,
  found: FoundPacks,
  others: readonly Check[] = [],
): Promise<CheckedPack> {
  const pack = new PackUnderTest(inspected, { findContext: async () => found, isInSession: true });
  const findings = (await runChecks(pack, [...sessionChecks, ...others])).filter(
    ({ problem }) => problem.severity !== "info",
  );
  const named = new Map<string, InspectedItem>(
    inspected.items.map((item) => [`${item.declaration.kind} ${item.declaration.name}`, item]),
  );
  const ofInspection = inspected.problems.map((problem) => ({
    item: named.get(`${problem.kind} ${problem.item}`),
    problem,
  }));
  const problems = [...inspected.problems, ...findings.map(({ problem }) => problem)];
  return { inspected, problems, unusable: findUnusable([...findings, ...ofInspection]) };
}

function findUnusable(findings: readonly { item?: InspectedItem | undefined; problem: Problem }[]) {
  const faults = findings.flatMap(({ item, problem }) =>
    item !== undefined && makesUnusable(problem) ? [[item, problem] as const] : [],
  );
  // The first of several counts.
  return new Map(faults.reverse());
}

/**
 * The project's own tools as items, and the first problem of each that cannot be used; its path is from the definition's top. Parses
 * modules below `root` without running them.
 */
export async function checkOwnTools(
  root: string,
  definitions: readonly Readonly<Record<string, unknown>>[],
): Promise<Pick<CheckedPack, "unusable"> & { items: InspectedItem[] }> {
  const items = definitions.map((definition): InspectedItem => {
    const name = String(definition.name);
    // In the config, a schema without a type is one of an object.
    const { inputSchema } = definition;
    const typed = isRecord(inputSchema) && { inputSchema: { type: "object", ...inputSchema } };
    return {
      declaration: { kind: "tool", name, description: null, path: [], extra: {} },
      qualifiedName: name,
      file: null,
      confinement: "data",
      base: [],
      shape: "tool",
      definition: { ...definition, ...typed },
    };
  });
  const subject = { inspected: { items }, files: new ModuleFiles(inspectionPort.realPath(root) ?? root, {}) };
  const findings: Finding[] = [...checkReservedParameters(subject), ...checkSchemas(subject)];
  for await (const finding of checkHandlers(subject)) findings.push(finding);
  return { items, unusable: findUnusable(findings) };
}
