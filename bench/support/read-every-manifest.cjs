// The floor of `list --all`: only reads every package.json below the working folder's node_modules. CommonJS, so that a
// process runs it without the loader of ES modules.
const { existsSync, readdirSync, readFileSync } = require("node:fs");

function visitPackage(location) {
  readFileSync(`${location}/package.json`, "utf8");
  if (existsSync(`${location}/node_modules`)) visitFolder(`${location}/node_modules`);
}

function visitFolder(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name.startsWith(".") || !entry.isDirectory()) continue;
    if (entry.name.startsWith("@")) visitFolder(`${folder}/${entry.name}`);
    else visitPackage(`${folder}/${entry.name}`);
  }
}

visitFolder(`${process.cwd()}/node_modules`);
