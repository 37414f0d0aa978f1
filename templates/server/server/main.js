import { readFileSync } from "node:fs";
import { run } from "@trailblaze/scripting";
import { countWords } from "./count-words.js";

const { name, version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

// From here on, stdout belongs to the protocol: log to stderr.
await run({ name, version, tools: [countWords] });
