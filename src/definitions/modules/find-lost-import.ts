import { quote } from "../../problems/index.ts";
import type { ModuleFiles } from "./module-files.ts";

/** Beyond these, what further modules import is left open: validation is to end soon. */
const maximumModules = 2000;
const maximumBytes = 32 << 20;

const isInPackage = (file: string) => !/^\.\.(?:\/|$)|(?:^|\/)node_modules\//.test(file);

/**
 * Why Node would not load an ES module of the package: it imports a file that is not there, or a module does that it
 * imports. `undefined` if none does, as far as static imports by relative paths go.
 */
export async function findLostImport(files: ModuleFiles, module: string): Promise<string | undefined> {
  const seen = new Set([module]);
  for (const importer of seen) {
    if (seen.size > maximumModules || files.bytesRead > maximumBytes) return undefined;
    for (const file of await files.listStaticImports(importer)) {
      if (seen.has(file) || !isInPackage(file)) continue;
      if ((await files.get(file)).kind === "absent")
        return `${quote(importer, 200)} imports ${quote(file, 200)}, which is not in the package`;
      seen.add(file);
    }
  }
  return undefined;
}
