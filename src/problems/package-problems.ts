import { entry } from "./entry.ts";

/** Problems of the package itself: what works in its own folder but fails after publishing or installation. */
export const packageProblems = {
  /** `others`: how many other modules import it. `isServer`: a subprocess server runs a command of it. */
  UndeclaredDependency: entry({
    message:
      'The pack imports "{name}"[, also in {others:count} more module{others:s}], but package.json does not declare it as a dependency.',
    hint: 'Add "{name}" to "dependencies" in package.json. For an alias of a compiler, use a relative path instead.',
    when: {
      isServer: {
        message: 'The pack runs a command of "{name}", but package.json does not declare it as a dependency.',
      },
      isDev: { hint: 'Move "{name}" from "devDependencies" to "dependencies" in package.json.' },
      isGuarded: { severity: "warning", hint: 'Add "{name}" to "optionalDependencies" in package.json.' },
    },
  }),
  /**
   * `packageName`: the package in whose folder of node_modules the file is. `isExport`: the pack itself does not need the file.
   */
  FileNotPublished: entry({
    message: 'The published package would lack "{file}"[, which "{importer}" imports].',
    hint: 'Add it to "files" in package.json, or remove the rule in .npmignore or .gitignore that excludes "{file}".',
    when: {
      isExport: { severity: "warning" },
      packageName: {
        hint: 'Write a module of the pack that exports what it imports from "{packageName}", and use that module. npm does not publish node_modules.',
      },
    },
  }),
  UnpublishableDependency: entry({
    message: 'The dependency "{name}" is "{spec:200}", a path on your machine.',
    hint: 'Use a version from the registry, for example "^1.0.0". Bundle a package that is not published with "bundleDependencies".',
  }),
  UnparsableModule: entry({
    message: 'Node cannot parse "{file:200}": {reason}.',
    hint: "Correct the syntax. Compile TypeScript and JSX to JavaScript first.",
  }),
  /**
   * `isMixed`: it has the syntax of both formats. `name`: the variable of CommonJS that an ES module uses, if that is all.
   * `isInFunction`: it is used when a function is called, so the module can be loaded.
   */
  WrongModuleFormat: entry({
    when: {
      isInFunction: {
        severity: "warning",
        message:
          'Node reads "{file:200}" as an ES module, where `{name}` is not defined, but a function uses it.',
      },
      name: {
        message: 'Node reads "{file:200}" as an ES module, where `{name}` is not defined.',
        hint: ({ name }: { name?: string | undefined }) =>
          name?.startsWith("__")
            ? `Use \`import.meta.${name.slice(2)}\`.`
            : "Use `import`, or create `require` with `createRequire` of `node:module`.",
      },
      "readAs=commonjs": {
        message: 'Node reads "{file:200}" as CommonJS, but it is written as an ES module.',
        hint: 'Give it the extension .mjs, or set "type": "module" in package.json.',
      },
      isMixed: {
        message: 'Node reads "{file:200}" as an ES module, but it also uses CommonJS.',
        hint: "Replace `module.exports` with `export` and `require` with `import`.",
      },
      "readAs=esm": {},
    },
    message: 'Node reads "{file:200}" as an ES module, but it is written as CommonJS.',
    hint: "Give it the extension .cjs, or replace `module.exports` with `export` and `require` with `import`.",
  }),
  /** `importer` is the module that imports it, `javascript` the path of the compiled file next to it. */
  TypeScriptNotPublishable: entry({
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
  InvalidPackageManifest: entry({
    message: 'npm does not publish a package with this `{key}`[ ("{value}")]: {reason}.',
    when: {
      "key=version": { hint: 'Set "version" to three numbers, for example "1.0.0".' },
      "key=name": { hint: 'Set "name" to lower-case letters, digits and "-", for example "my-tools".' },
    },
  }),
  PrivatePackage: entry({
    severity: "info",
    message: "The package is private: npm refuses to publish it.",
    hint: 'Remove "private" from package.json before you publish the pack.',
  }),
};
