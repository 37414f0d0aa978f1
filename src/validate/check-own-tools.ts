import type { InspectionPort } from "../files/inspection-port.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { Problem } from "../problems/index.ts";
import { checkHandlers } from "./checks/handlers.ts";
import { collectModules } from "./modules/collect-modules.ts";
import { ModuleFiles } from "./modules/module-files.ts";

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
  const modules = () => collectModules(files, inspected);
  const moduleFaults = async () => new Map<string, never>();
  for await (const { item, problem } of checkHandlers({ inspected, modules, moduleFaults })) {
    const definition = item && tools.get(item);
    if (definition === undefined || problem.severity !== "error" || faults.has(definition)) continue;
    faults.set(definition, problem);
  }
  return faults;
}
