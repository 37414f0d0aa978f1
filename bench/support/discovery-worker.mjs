// One discovery in its own process: node discovery-worker.mjs WAY FOLDER. Prints the times and the count as JSON. Plain
// JavaScript, so that no loader is measured.
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { readEveryManifest } from "./read-every-manifest.cjs";

const holdsField = (text) => text.includes('"trailblaze"') && JSON.parse(text).trailblaze !== undefined;

/** Each way first loads what it needs, then returns the function that counts packs, or packages for the floor. */
const ways = {
  floor: async () => readEveryManifest,
  discoverPacks: async () => {
    const { discoverPacks } = await import(new URL("../../dist/index.mjs", import.meta.url).href);
    return async (cwd) => (await discoverPacks({ cwd })).packs.length;
  },
  fastGlob: async () => {
    const { default: fastGlob } = await import("fast-glob");
    return (cwd) => {
      const options = { cwd, dot: true, followSymbolicLinks: false };
      const manifests = fastGlob.sync(["node_modules/**/package.json"], options);
      return manifests.filter((path) => holdsField(readFileSync(join(cwd, path), "utf8"))).length;
    };
  },
  arborist: async () => {
    const { Arborist } = await import("@npmcli/arborist");
    return async (path) => {
      const tree = await new Arborist({ path }).loadActual();
      const packs = [...tree.inventory.values()].filter((node) => node.package.trailblaze !== undefined);
      return new Set(packs.map((node) => realpathSync(node.path))).size;
    };
  },
};

const [way, folder] = process.argv.slice(2);
const milliseconds = ({ user, system }) => (user + system) / 1000;

const start = performance.now();
const startCpu = process.cpuUsage();
const find = await ways[way]();
const loaded = performance.now();
const loadedCpu = process.cpuUsage();
const count = await find(folder);
const call = performance.now() - loaded;
const callCpu = milliseconds(process.cpuUsage(loadedCpu));
const whole = performance.now() - start;
const wholeCpu = milliseconds(process.cpuUsage(startCpu));
console.log(JSON.stringify({ count, call, callCpu, whole, wholeCpu }));
