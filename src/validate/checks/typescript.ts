import { type Check, findInFile, findInItem } from "../finding.ts";

const code = "TypeScriptNotPublishable";

/** Checks that an installed pack runs JavaScript only, because Node strips no types below node_modules. */
export const checkTypeScript: Check = async function* ({ inspected, typeScript }) {
  const isPrivate = inspected.manifest.value.private === true;
  for (const { file, javascript, named } of await typeScript()) {
    const args = { file, javascript, isPrivate };
    if (named === undefined) yield findInFile(file, code, { ...args, isDefinition: true });
    else if ("item" in named) yield findInItem(named.item, code, args, named.path);
    else {
      const { importer, line, column } = named;
      yield findInFile(importer, code, { ...args, importer }, { line, column });
    }
  }
};
