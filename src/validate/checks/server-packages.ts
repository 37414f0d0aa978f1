import { isRecord } from "../../data/parse-json.ts";
import { type Check, findInItem } from "../finding.ts";

/** Whether an installation of the pack also installs the package: `peer` only by some package managers. */
function findDeclared(manifest: Readonly<Record<string, unknown>>, name: string): "own" | "peer" | undefined {
  const has = (key: string) => isRecord(manifest[key]) && Object.hasOwn(manifest[key], name);
  if (has("dependencies") || has("optionalDependencies")) return "own";
  return has("peerDependencies") ? "peer" : undefined;
}

/** Checks that the package of a subprocess server is a dependency with the command, and that `command` is none's. */
export const checkServerPackages: Check = async function* ({ inspected, serverPackages, others }) {
  const manifest = inspected.manifest.value;
  for (const [item, program] of serverPackages()) {
    const name = String(item.definition?.package);
    const declared = findDeclared(manifest, name);
    if (declared === undefined) {
      const isDev = isRecord(manifest.devDependencies) && Object.hasOwn(manifest.devDependencies, name);
      const args = { name, specifier: name, isGuarded: false, isDev, others: 0 };
      yield findInItem(item, "UndeclaredDependency", { ...args, isServer: true }, ["package"]);
    } else if (program.state === "notInstalled") {
      const { manager } = await others();
      const args = { name, label: item.qualifiedName, isDeclared: declared === "own", manager };
      yield findInItem(item, "ServerPackageNotInstalled", args, ["package"]);
    } else if (program.state === "unusable") {
      const { key, reason, hint } = program;
      yield findInItem(item, "InvalidServerDefinition", { reason, hint }, [key]);
    }
  }
};
