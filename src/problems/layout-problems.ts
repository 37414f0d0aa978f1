import { entryOf } from "./entry.ts";
import { quote } from "./text.ts";

/** How to make Deno create a node_modules folder. */
export const installDenoPackages = 'set `"nodeModulesDir": "auto"`, then run `deno install`.';

type UnsupportedLayout = {
  /** Packages are in archives of Yarn Plug'n'Play, or in Deno's cache. */
  layout: "pnp" | "deno";
  file: string;
};

/** Layouts of installed packages that discovery cannot use. */
export const layoutProblems = {
  UnsupportedLayout: entryOf<UnsupportedLayout>({
    title: "The layout of installed packages is not supported",
    severity: "error",
    message: ({ layout, file }) =>
      layout === "deno"
        ? `The project uses Deno (${quote(file, 400)}) without a node_modules folder, so its packages are not in it.`
        : `The project uses Yarn Plug'n'Play (${quote(file, 400)}), so its packages are not in a node_modules folder.`,
    hint: ({ layout }) =>
      layout === "deno"
        ? `In deno.json, ${installDenoPackages}`
        : "Add `nodeLinker: node-modules` to .yarnrc.yml, then run `yarn install`.",
  }),
};
