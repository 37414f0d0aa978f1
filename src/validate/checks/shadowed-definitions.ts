import { type Check, findInFile } from "../finding.ts";

/** That no item is defined in a file of its own and in the combined file as well, of which only one counts. */
export const checkShadowedDefinitions: Check = function* ({ inspected }) {
  const combinedFiles = new Map(inspected.files.map(({ kind, combined }) => [kind, combined?.file]));
  for (const { declaration, file } of inspected.items) {
    const { kind, name } = declaration;
    const combined = combinedFiles.get(kind);
    if (file === null || combined === undefined || file === combined) continue;
    if (!Object.hasOwn(inspected.combined.get(combined) ?? {}, name)) continue;
    const place = { kind, item: name, path: [name] };
    yield findInFile(combined, "ShadowedDefinition", { name, file, combined }, place);
  }
};
