import { quote } from "../../problems/index.ts";
import { isInPackage, maximumBytes, maximumImported } from "./follow-imports.ts";
import type { ModuleFiles } from "./module-files.ts";

/**
 * Why Node would not load an ES module of the package: it imports a file that is not there, or a module does that it
 * imports. `undefined` if none does, as far as static imports by relative paths go.
 */
export async function findLostImport(files: ModuleFiles, module: string): Promise<string | undefined> {
  const seen = new Set([module]);
  for (const importer of seen) {
    if (seen.size > maximumImported || files.bytesRead > maximumBytes) return undefined;
    for (const file of await files.listStaticImports(importer)) {
      if (seen.has(file) || !isInPackage(file)) continue;
      if ((await files.get(file)).kind === "absent")
        return `${quote(importer, 200)} imports ${quote(file, 200)}, which is not in the package`;
      seen.add(file);
    }
  }
  return undefined;
}
