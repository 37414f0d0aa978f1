import { isRecord } from "../data/parse-json.ts";

/** The normal form of an https address without credentials; `undefined` for any other value. */
export function readHttps(text: unknown): string | undefined {
  if (typeof text !== "string" || text.length > 2048 || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return protocol === "https:" && username === "" && password === "" ? href : undefined;
}

/** The address of a package's repository, also in the forms of npm: `git+https://…`, `github:acme/jira`, `acme/jira`. */
export function readRepository(repository: unknown): string | undefined {
  const text = isRecord(repository) ? repository.url : repository;
  if (typeof text !== "string") return undefined;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(text)?.[1];
  return readHttps(short === undefined ? text.replace(/^git\+|\.git$/g, "") : `https://github.com/${short}`);
}
