import type { InspectionPort } from "../files/inspection-port.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import type { PackageManager, Problem } from "../problems/index.ts";
import { type CheckedPack, makesUnusable } from "./checked-pack.ts";
import { checkHandlers } from "./checks/handlers.ts";
import { checkResourceUris } from "./checks/resources.ts";
import { checkReservedParameters, checkSchemas } from "./checks/schemas.ts";
import {
  checkDependencyCommands,
  checkNeededVariables,
  checkServerPackages,
  checkServerPrograms,
} from "./checks/servers.ts";
import { checkTexts } from "./checks/texts.ts";
import { checkAdvertisedNames, checkRepeatedNames, checkToolMeta } from "./checks/tools.ts";
import { type Check, runChecks } from "./finding.ts";
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
  checkDependencyCommands,
  checkNeededVariables,
];

/** Checks that need only definitions, for people who look at what is installed. */
export const readerChecks: readonly Check[] = [checkTexts, checkRepeatedNames, checkResourceUris];

/** Sessions know which packs they use, so no check of theirs searches for others. */
const never = async (): Promise<never> => {
  throw new Error("a session searches for no packs");
};

/** Finds the items of a pack that a session cannot use. Parses modules without running them. `others` are run too. */
export async function checkPack(
  port: InspectionPort,
  inspected: InspectedPack,
  manager: PackageManager,
  others: readonly Check[] = [],
): Promise<CheckedPack> {
  const sources = { port, sessionManager: manager, builtIns: [], findContext: never, findWorkspace: never };
  const pack = new PackUnderTest(inspected, sources);
  const found = (await runChecks(pack, [...sessionChecks, ...others])).filter(
    ({ problem }) => problem.severity !== "info",
  );
  const unusable = new Map<InspectedItem, Problem>();
  const note = (item: InspectedItem | undefined, problem: Problem) => {
    if (item === undefined || !makesUnusable(problem)) return;
    if (!unusable.has(item)) unusable.set(item, problem);
  };
  for (const { item, problem } of found) note(item, problem);
  const byName = new Map<string, InspectedItem>(
    inspected.items.map((item) => [`${item.declaration.kind} ${item.declaration.name}`, item]),
  );
  for (const problem of inspected.problems) note(byName.get(`${problem.kind} ${problem.item}`), problem);
  const problems = [...inspected.problems, ...found.map(({ problem }) => problem)];
  return { inspected, problems, unusable };
}

type Definition = Readonly<Record<string, unknown>>;

/**
 * Finds tools of the project itself whose handlers do not exist, with the first problem of each; its path is from the
 * definition's top. Parses modules below `root` without running them.
 */
export async function checkOwnHandlers(
  port: InspectionPort,
  root: string,
  definitions: readonly Definition[],
): Promise<Map<Definition, Problem>> {
  const tools = new Map<InspectedItem, Definition>();
  for (const definition of definitions) {
    const name = String(definition.name);
    const declaration = { kind: "tool" as const, name, description: null, path: [], extra: {} };
    const where = { file: null, format: undefined, base: [] };
    tools.set(
      { declaration, qualifiedName: name, ...where, shape: "tool", definition: { ...definition } },
      definition,
    );
  }
  const inspected = { items: [...tools.keys()], pack: { origin: "self" as const } };
  const files = new ModuleFiles(port, port.realPath(root) ?? root, {});
  const faults = new Map<Definition, Problem>();
  const moduleFaults = async () => new Map<string, never>();
  const findFailingImport = async () => undefined;
  for await (const { item, problem } of checkHandlers({
    inspected,
    files,
    moduleFaults,
    findFailingImport,
  })) {
    const definition = item && tools.get(item);
    if (definition === undefined || problem.severity !== "error" || faults.has(definition)) continue;
    faults.set(definition, problem);
  }
  return faults;
}
