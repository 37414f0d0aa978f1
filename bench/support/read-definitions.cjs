// The floor of validation: only reads and parses every definition file of the pack in the working folder.
const { readdirSync, readFileSync } = require("node:fs");

for (const name of readdirSync("trailblaze/tools")) {
  JSON.parse(readFileSync(`trailblaze/tools/${name}`, "utf8"));
}
