import { builtinModules } from "node:module";
import { isPackageName } from "../qualified-names/item-name.ts";

/** Names that npm reserves. */
const reservedNames: ReadonlySet<string> = new Set(["node_modules", "favicon.ico", ...builtinModules]);

/** Why npm does not accept this name for a new package, continuing "it"; `undefined` if it does. */
export function findNameFault(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > 214) return "is longer than 214 characters";
  if (/[A-Z]/.test(name)) return "has capital letters, which npm allows only in old packages";
  if (!isPackageName(name) || name.includes("~"))
    return "may only have a-z, 0-9, -, . and _, optionally after an @scope/";
  if (reservedNames.has(name)) return "is the name of a module of Node or is reserved by npm";
  return undefined;
}

/** A package name derived from a folder's name; `undefined` if npm does not accept it. */
export function suggestName(folderName: string): string | undefined {
  const name = folderName
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
  return findNameFault(name) === undefined ? name : undefined;
}

/** First words of advertised names that are reserved for hosts. */
const reservedWords: ReadonlySet<string> = new Set(["org", "ios", "android", "mobile", "web"]);
/** Leaves room for the rest of an advertised name, which has at most 64 characters. */
const longestPrefix = 40;

/** The prefix of the advertised names of a package's tools: `weather_desk` for `@acme/weather-desk`. */
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
