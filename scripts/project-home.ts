import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { addressOf } from "../src/home.ts";

/** A package.json with the fields that lead to the project's home: none without one. */
export function linkManifest(text: string, home: string | undefined, directory?: string): string {
  const { repository: _, homepage: __, bugs: ___, ...rest } = JSON.parse(text) as Record<string, unknown>;
  const within = directory === undefined ? {} : { directory };
  const fields = home && {
    homepage: `${directory === undefined ? home : addressOf(home, directory)}#readme`,
    bugs: `${home}/issues`,
    repository: { type: "git", url: `git+${home}.git`, ...within },
  };
  // They stand where npm's own order has them, behind the keywords.
  const entries = Object.entries(rest);
  const place = entries.findIndex(([key]) => key === "keywords") + 1;
  entries.splice(place, 0, ...Object.entries(fields || {}));
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

/** A README with links that also work outside the repository; without a home they stay relative. */
export function linkReadme(text: string, home: string | undefined, directory = ""): string {
  if (home === undefined) return text;
  return text.replace(/\]\((?!#|[a-z]+:)([^)\s]+)\)/g, (_, target: string) => {
    return `](${addressOf(home, posix.join(directory, target))})`;
  });
}

/** The files that lead to the home: their paths below the root of the repo, and their content with it. */
export function linkFiles(home: string | undefined): Record<string, string> {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  const files = [undefined, "packages/scripting"].flatMap((directory) => {
    const manifest = posix.join(directory ?? "", "package.json");
    const readme = posix.join(directory ?? "", "README.md");
    return [
      [manifest, linkManifest(read(manifest), home, directory)],
      [readme, linkReadme(read(readme), home, directory)],
    ];
  });
  return Object.fromEntries(files);
}
