import { isRecord } from "../../data/parse-json.ts";
import { type Check, findInFile, findInManifest } from "../finding.ts";

/** Checks that the packages that published modules import are declared as dependencies. */
export const checkImports: Check = async function* ({ undeclared }) {
  for (const { file, line, column, ...args } of await undeclared())
    yield findInFile(file, "UndeclaredDependency", args, { line, column });
};

/** Finds dependencies on paths of this machine, which the published package cannot be installed with. Skips bundled ones. */
export const checkDependencies: Check = function* ({ inspected: { pack, manifest } }) {
  const { value } = manifest;
  if (!["self", "workspace"].includes(pack.origin) || value.private === true) return;
  const bundled = value.bundleDependencies ?? value.bundledDependencies;
  for (const key of ["dependencies", "optionalDependencies", "peerDependencies"]) {
    const declared = value[key];
    for (const [name, spec] of isRecord(declared) ? Object.entries(declared) : []) {
      const isBundled = bundled === true || (Array.isArray(bundled) && bundled.includes(name));
      if (typeof spec !== "string" || isBundled || !/^(?:file|link):/.test(spec)) continue;
      yield findInManifest("UnpublishableDependency", { name, spec }, [key, name]);
    }
  }
};
