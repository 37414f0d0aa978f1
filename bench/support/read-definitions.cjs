// The floor of validation: read and parse every definition file of the pack in the working folder, nothing else.
const { readdirSync, readFileSync } = require("node:fs");

for (const name of readdirSync("trailblaze/tools")) {
  JSON.parse(readFileSync(`trailblaze/tools/${name}`, "utf8"));
}
