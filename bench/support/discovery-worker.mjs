// Discovery in its own process, again and again: node discovery-worker.mjs WAY FOLDER. Prints the time and the count as JSON. Plain
// JavaScript, so that no loader is measured.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Each way first loads what it needs, then returns the function that counts what it reads or finds. */
const ways = {
  // Only reads the package.json files that discovery reads.
  floor: async (cwd) => {
    const { dependencies } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
    const declared = Object.keys(dependencies).map((name) => join(cwd, "node_modules", name, "package.json"));
    const paths = [join(cwd, "package.json"), ...declared];
    return () => paths.filter((path) => readFileSync(path, "utf8") !== "").length;
  },
  discoverPacks: async (cwd) => {
    const { discoverPacks } = await import(new URL("../../dist/index.mjs", import.meta.url).href);
    return async () => (await discoverPacks({ cwd })).packs.length;
  },
};

/** The first calls run code that the engine has not compiled yet. */
const warmUp = 20;
const calls = 50;

const [way, folder] = process.argv.slice(2);
const milliseconds = ({ user, system }) => (user + system) / 1000;

const find = await ways[way](folder);
for (let call = 0; call < warmUp; call++) await find();
const start = performance.now();
const startCpu = process.cpuUsage();
let count = 0;
for (let call = 0; call < calls; call++) count = await find();
const wall = performance.now() - start;
const cpu = milliseconds(process.cpuUsage(startCpu));
console.log(JSON.stringify({ count, wall, cpu }));
