import { entry, entryOf } from "./entry.ts";
import { quote } from "./text.ts";

const folderOf = (file: string) => file.slice(0, Math.max(0, file.lastIndexOf("/")));

/** Problems of the package itself: what works in its own folder but fails after publishing or installation. */
export const packageProblems = {
  UndeclaredDependency: entryOf<{
    name: string;
    /** The specifier in the module. */
    specifier: string;
    isGuarded: boolean;
    isDev: boolean;
    /** The key of package.json that would have to define the specifier, if it names no other package. */
    missingIn?: "imports" | "exports" | undefined;
    /** The number of other modules that import it. */
    others: number;
    /** A subprocess server runs a command of it. */
    isServer?: boolean;
  }>({
    title: "Module imports a package that is not a dependency",
    severity: "error",
    when: { isGuarded: { severity: "warning" } },
    message: ({ name, missingIn, others, isServer }) =>
      `The pack ${isServer ? "runs a command of" : "imports"} ${quote(name)}${others === 0 ? "" : ` in ${others + 1} modules`}, but ${missingIn === undefined ? "package.json does not declare it as a dependency" : `"${missingIn}" in package.json does not define it`}.`,
    hint: ({ name, missingIn, isDev, isGuarded }) => {
      if (missingIn !== undefined) return `Add it to "${missingIn}" in package.json, or use a relative path.`;
      if (isAlias(name))
        return 'Use a relative path, or an entry in "imports" of package.json: Node does not resolve compiler aliases.';
      if (isDev) return `Move ${quote(name)} from "devDependencies" to "dependencies" in package.json.`;
      return `Add ${quote(name)} to ${isGuarded ? '"optionalDependencies"' : '"dependencies"'} in package.json.`;
    },
  }),
  FileNotPublished: entryOf<{
    file: string;
    importer?: string | undefined;
    /** How many more required files of the same folder would be missing. */
    others?: number;
    /** The package in whose folder of node_modules the file is, if any. */
    packageName?: string | undefined;
    /** The file is an export of the pack, which the pack does not need. */
    isExport?: boolean;
  }>({
    title: "Required file would not be published",
    severity: "error",
    when: {
      isExport: { severity: "warning" },
      packageName: {
        hint: 'Write a module of the pack that exports what it imports from "{packageName}", and use that module. npm does not publish node_modules.',
      },
    },
    message({ file, importer, others = 0 }) {
      const more =
        others === 0 ? "" : ` and ${others} more required file${others === 1 ? "" : "s"} in the same folder`;
      const left = `The published package would lack ${quote(file)}${more}`;
      return importer === undefined ? `${left}.` : `${left}, which ${quote(importer)} imports.`;
    },
    hint: ({ file, others = 0 }) =>
      `Add ${others === 0 ? "it" : `${quote(folderOf(file))}`} to "files" in package.json, or remove the rule in .npmignore or .gitignore that excludes ${quote(file)}.`,
  }),
  UnpublishableDependency: entry({
    title: "Dependency cannot be installed from the published package",
    severity: "error",
    message: 'The dependency "{name}" is "{spec:200}", a path on your machine.',
    hint: 'Use a version from the registry, for example "^1.0.0". Bundle a package that is not published with "bundleDependencies".',
  }),
  UnparsableModule: entryOf<{ file: string; reason: string }>({
    title: "Module has a syntax error",
    severity: "error",
    message: ({ file, reason }) =>
      `Node cannot parse ${quote(file, 200)}: ${quote(reason, 200).slice(1, -1)}.`,
    hint: "Correct the syntax. Compile TypeScript and JSX to JavaScript first.",
  }),
  WrongModuleFormat: entryOf<{
    file: string;
    readAs: "esm" | "commonjs";
    /** The module has the syntax of both formats. */
    isMixed: boolean;
    /** The variable of CommonJS that an ES module uses, if that is all. */
    name?: "require" | "module" | "exports" | "__dirname" | "__filename";
    /** It is used when a function is called, so the module can be loaded. */
    isInFunction?: boolean;
  }>({
    title: "Module has the wrong format for Node",
    severity: "error",
    when: { isInFunction: { severity: "warning" } },
    message: ({ file, readAs, isMixed, name, isInFunction }) =>
      name !== undefined
        ? `Node reads ${quote(file, 200)} as an ES module, where \`${name}\` is not defined${isInFunction ? ", but a function uses it" : ""}.`
        : `Node reads ${quote(file, 200)} as ${readAs === "esm" ? "an ES module" : "CommonJS"}, but it ${isMixed ? "also uses" : "is written as"} ${readAs === "esm" ? "CommonJS" : "an ES module"}.`,
    hint: ({ file, readAs, isMixed, name }) => {
      if (name?.startsWith("__")) return `Use \`import.meta.${name.slice(2)}\`.`;
      if (name !== undefined)
        return "Use `import`, or create `require` with `createRequire` of `node:module`.";
      if (readAs === "commonjs")
        return `Rename it to ${renamed(file, "mjs")}, or set "type": "module" in package.json.`;
      return `${isMixed ? "Replace" : `Rename it to ${renamed(file, "cjs")}, or replace`} \`module.exports\` with \`export\` and \`require\` with \`import\`.`;
    },
  }),
  /** `importer` is the module that imports it, `javascript` the path of the compiled file next to it. */
  TypeScriptNotPublishable: entry({
    title: "Installed pack would have to run TypeScript",
    severity: "error",
    message: '"{file:200}" is TypeScript, which Node does not run in installed packages.',
    hint: "Compile it to JavaScript, and name the compiled file instead.",
    when: {
      isPrivate: { severity: "info" },
      importer: {
        message:
          '"{importer:200}" imports "{file:200}", TypeScript, which Node does not run in installed packages.',
      },
      javascript: { hint: 'Name the compiled file instead: "./{javascript}".' },
      isDefinition: { hint: "Compile it to a .js or .mjs file next to it; that file is used instead." },
    },
  }),
  InvalidPackageManifest: entryOf<{
    key: "name" | "version";
    value?: string | undefined;
    /** Continues the message, without a period. */
    reason: string;
  }>({
    title: "Invalid package name or version",
    severity: "error",
    message: ({ key, value, reason }) =>
      `npm does not publish a package with this \`${key}\`${value === undefined ? "" : ` (${quote(value)})`}: ${reason}.`,
    hint: ({ key, value }) =>
      key === "version"
        ? 'Set "version" to three numbers, for example "1.0.0".'
        : `Set "name" to a name such as ${suggestName(value)}.`,
  }),
  PrivatePackage: entry({
    title: "Package is private, so npm does not publish it",
    severity: "info",
    message: "The package is private: npm refuses to publish it.",
    hint: 'Remove "private" from package.json before you publish the pack.',
  }),
};

/** The name with every character replaced that npm does not allow, or with an addition if it is reserved. */
function suggestName(name = ""): string {
  const [, scope = "", own = ""] = /^(@[^/]+\/)?([\s\S]*)$/.exec(name.trim().toLowerCase()) ?? [];
  const usable = own.replace(/[^a-z0-9._-]+/g, "-").replace(/^[._-]+|-+$/g, "");
  if (!/^(?:@[a-z0-9._-]+\/)?$/.test(scope) || usable === "") return quote("my-tools");
  const suggested = `${scope}${usable}`.slice(0, 214);
  return quote(suggested === name ? `${name}-tools` : suggested, 214);
}

const renamed = (file: string, suffix: string): string => quote(file.replace(/[^.]*$/, suffix), 200);

/** Whether the name is a compiler alias. No package can have such a name. */
const isAlias = (name: string): boolean => /^(?:@\/|[~$])/.test(name);
