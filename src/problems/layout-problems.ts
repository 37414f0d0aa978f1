import { entry, warningForBystanders } from "./entry.ts";
import { printable, quote, quoteForShell } from "./text.ts";

/** How to make Deno create a node_modules folder. */
export const installDenoPackages = 'set `"nodeModulesDir": "auto"`, then run `deno install`.';

type UnsupportedLayout =
  /** Yarn Plug'n'Play's state is not there, or cannot be read without running code; or Deno keeps packages elsewhere. */
  | { layout: "pnp" | "deno"; file: string }
  /** A pack is in an archive. */
  | { layout: "archive"; name: string; origin: string }
  /** A definition that is code imports a package of Yarn Plug'n'Play. */
  | { layout: "import"; name: string; imported: string };

function describeLayout(args: UnsupportedLayout): string {
  switch (args.layout) {
    case "archive":
      return `${quote(args.name)} is in an archive of Yarn Plug'n'Play, from which its code cannot run.`;
    case "import":
      return `The definition imports ${quote(args.imported)}, which Yarn Plug'n'Play provides only while code of the project runs.`;
    case "deno":
      return `The project uses Deno (${quote(args.file, 400)}) without a node_modules folder, so its packages are not in it.`;
    case "pnp":
      return `The project uses Yarn Plug'n'Play (${quote(args.file, 400)}), but what is installed for it cannot be read from there.`;
  }
}

/** Layouts of installed packages that discovery cannot use. */
export const layoutProblems = {
  UnsupportedLayout: entry<UnsupportedLayout>({
    title: "The layout of installed packages is not supported",
    severity: warningForBystanders,
    message: describeLayout,
    hint: (args) => {
      if (args.layout === "archive") {
        const isDeclared = args.origin === "direct";
        return `Run \`yarn unplug ${quoteForShell(printable(args.name))}${isDeclared ? "" : " --all --recursive"}\`.`;
      }
      if (args.layout === "import")
        return "Write the definition as data, or add `nodeLinker: node-modules` to .yarnrc.yml.";
      return args.layout === "deno"
        ? `In deno.json, ${installDenoPackages}`
        : "Run `yarn install`, or add `nodeLinker: node-modules` to .yarnrc.yml first.";
    },
  }),
  MalformedArchive: entry<{ archive: string; reason: string }>({
    title: "An archive of an installed package cannot be read",
    severity: warningForBystanders,
    message: ({ archive, reason }) =>
      `The archive ${quote(archive, 400)} cannot be read: ${printable(reason)}.`,
    hint: () => "Run `yarn install --check-cache`.",
  }),
};
