import { builtinModules } from "node:module";
import { isPackageName } from "../qualified-names/item-name.ts";

/** Folders and files that npm and servers keep for themselves. */
const takenNames: ReadonlySet<string> = new Set(["node_modules", "favicon.ico", ...builtinModules]);

/** Why npm takes no new package of this name, going on from "it"; `undefined` where it does. */
export function findNameFault(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > 214) return "is longer than 214 characters";
  if (/[A-Z]/.test(name)) return "has capital letters, which npm allows in old packages only";
  if (!isPackageName(name) || name.includes("~"))
    return "is not made of a-z, 0-9, - . and _ with an @scope/ at most";
  if (takenNames.has(name)) return "is the name of a module of Node or of a folder that npm needs";
  return undefined;
}

/** The name of a folder as that of a package, as far as npm takes it. */
export function suggestName(folderName: string): string | undefined {
  const name = folderName
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
  return findNameFault(name) === undefined ? name : undefined;
}

/** First words of advertised names that hosts keep for their own tools. */
const reservedWords: ReadonlySet<string> = new Set(["org", "ios", "android", "mobile", "web"]);
/** Leaves room for what comes after it in the 64 characters of an advertised name. */
const longestPrefix = 40;

/** What the advertised names of a package's tools begin with: `weather_desk` for `@acme/weather-desk`. */
export function suggestToolPrefix(packageName: string): string {
  const own = packageName.slice(packageName.indexOf("/") + 1);
  const words = own.split(/[^a-z0-9]+/).filter((word) => word !== "");
  const [first = "pack"] = words;
  const isUsual =
    words.length <= 3 && words.every((word) => /^[a-z]/.test(word)) && !reservedWords.has(first);
  if (isUsual && words.length > 0 && words.join("_").length <= longestPrefix) return words.join("_");
  const joined = words.join("").slice(0, longestPrefix);
  if (!/^[a-z]/.test(joined)) return `pack${joined}`;
  return reservedWords.has(joined) ? `${joined}tools` : joined;
}
