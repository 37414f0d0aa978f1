// The floor of discovery: only reads every package.json of a tree. CommonJS, so that a process runs it without the loader
// of ES modules.
const { existsSync, readdirSync, readFileSync } = require("node:fs");

const storeEntry = /^(?:(@[^+@/]+)\+)?([^+@/]+)@/;

/** Reads and counts the packages of a project; takes the same shortcut through pnpm's store as discovery. */
exports.readEveryManifest = (directory) => {
  let count = 0;
  const visitPackage = (location) => {
    readFileSync(`${location}/package.json`, "utf8");
    count++;
    if (existsSync(`${location}/node_modules`)) visitFolder(`${location}/node_modules`);
  };
  const visitFolder = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name === ".pnpm") visitStore(`${folder}/.pnpm`);
      else if (entry.name.startsWith(".") || !entry.isDirectory()) continue;
      else if (entry.name.startsWith("@")) visitFolder(`${folder}/${entry.name}`);
      else visitPackage(`${folder}/${entry.name}`);
    }
  };
  const visitStore = (store) => {
    for (const { name: unit } of readdirSync(store, { withFileTypes: true })) {
      const [, scope, name] = storeEntry.exec(unit) ?? [];
      if (name === undefined) continue;
      visitPackage(`${store}/${unit}/node_modules/${scope === undefined ? name : `${scope}/${name}`}`);
    }
  };
  visitFolder(`${directory}/node_modules`);
  return count;
};

if (require.main === module) exports.readEveryManifest(process.cwd());
