import { readFileSync } from "node:fs";
import ts from "typescript";
import { inRepository } from "./repository.ts";

const { ESNext: module } = ts.ModuleKind;
const { ES2022: target } = ts.ScriptTarget;

/** The files of `@trailblaze/scripting/result` for a pack that has its own copy: import `./result.mjs`. */
export const copyOfScripting = (): Record<string, string> =>
  Object.fromEntries(
    ["input", "result"].map((file) => {
      const source = readFileSync(inRepository(`packages/scripting/src/${file}.ts`), "utf8");
      const { outputText } = ts.transpileModule(source, { compilerOptions: { module, target } });
      return [`${file}.mjs`, outputText.replaceAll(/"\.\/(\w+)\.ts"/g, '"./$1.mjs"')];
    }),
  );

/** The same as an installed package. */
export const installedScripting = (): Record<string, string | object> => ({
  "node_modules/@trailblaze/scripting/package.json": { exports: { "./result": "./result.mjs" } },
  ...Object.fromEntries(
    Object.entries(copyOfScripting()).map(([file, text]) => [
      `node_modules/@trailblaze/scripting/${file}`,
      text,
    ]),
  ),
});
