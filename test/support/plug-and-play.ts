// What Yarn Plug'n'Play writes into projects.
import { makeZip, type ZipEntry } from "./make-zip.ts";

type Registered = [
  name: string | null,
  [reference: string | null, location: string, dependencies: unknown[]][],
];

/** The state of packages: their names, and for each reference its location and dependencies. */
export const state = (...packages: Registered[]) => ({
  __info: ["It's generated.\n"],
  packageRegistryData: packages.map(([name, references]) => [
    name,
    references.map(([reference, packageLocation, packageDependencies]) => [
      reference,
      { packageLocation, packageDependencies, linkType: "HARD" },
    ]),
  ]),
});

/** A program that leaves a canary beside it, with the state as Yarn writes it into its program: a string literal over several lines. */
export function formatPnp(value: object, end = `throw new Error("It's run.");`): string {
  const text = JSON.stringify(value, null, 2)
    .replaceAll("\\", "\\\\")
    .replaceAll("'", "\\'")
    .replaceAll("\n", "\\\n");
  return `#!/usr/bin/env node
"use strict";
require("fs").writeFileSync(__dirname + "/canary", "ran");
const RAW_RUNTIME_STATE =
'${text}';
${end}
`;
}

/** The archive of a package. */
export const zipPackage = (manifest: object, ...more: ZipEntry[]) => {
  const { name } = manifest as { name: string };
  return makeZip([
    { name: `node_modules/${name}/README.md`, content: "# About", isStored: true },
    { name: `node_modules/${name}/package.json`, content: JSON.stringify(manifest) },
    ...more,
  ]);
};
