import { createHash } from "node:crypto";
import type { Kind } from "../kinds.ts";
import { fileOfPosition, type Problem, printable } from "../problems/index.ts";
import { formatCount, shorten } from "../problems/text.ts";
import { hostVersion } from "../version.ts";
import { type Content, type Html, html, linkTo, trusted } from "./html.ts";
import type { ItemLock } from "./lock-states.ts";
import { script } from "./script.ts";
import { style } from "./style.ts";

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing is loaded, and only the script and the style of this program apply. */
const policy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The text of the page around its content. */
export function formatPage(title: string, body: Content): string {
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Trailblaze ${hostVersion}">
<title>${printable(title)}</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="wrap"><span class="soft">Trailblaze catalog</span>
<button class="button" id="theme" type="button" hidden>Dark theme</button></div></header>
<main class="wrap" id="main" tabindex="-1">
${body}
</main>
<footer><div class="wrap">Made by Trailblaze ${hostVersion} from installed packages. Its packs as data: <a href="catalog.json">catalog.json</a></div></footer>
<script>${trusted(script)}</script>
</body>
</html>
`;
  return markup;
}

/** `1 tool`, `12 tools`. */
export const countOf = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

export const kindTitles: Readonly<Record<Kind, string>> = {
  server: "Servers",
  tool: "Tools",
  toolset: "Toolsets",
  prompt: "Prompts",
  resource: "Resources",
};

export type Tone = "error" | "warning" | "good" | "accent" | "";

export const badge = (label: Content, tone: Tone = ""): Html =>
  html`<li class="${`badge ${tone}`.trim()}">${label}</li>`;

export const badges = (list: readonly (Html | undefined | false)[]): Content =>
  list.some(Boolean) && html`<ul class="badges">${list.map((one) => one || undefined)}</ul>`;

const lockWords: Readonly<Record<Exclude<ItemLock, "unknown">, readonly [string, Tone]>> = {
  approved: ["Approved", "good"],
  changed: ["Changed since approval", "warning"],
  notApproved: ["Not approved", "warning"],
  denied: ["Denied", "error"],
  notLocked: ["Not locked", ""],
};

/** The badge of a state of the lock; nothing if that is unknown. */
export function lockBadge(state: ItemLock | undefined): Html | undefined {
  if (state === undefined || state === "unknown") return undefined;
  const [words, tone] = lockWords[state];
  return badge(words, tone);
}

/** Badges with the number of errors and warnings. */
export function problemBadges(problems: readonly Problem[]): Html[] {
  const count = (severity: Problem["severity"]) =>
    problems.filter((problem) => problem.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  return [
    ...(errors > 0 ? [badge(countOf(errors, "error"), "error")] : []),
    ...(warnings > 0 ? [badge(countOf(warnings, "warning"), "warning")] : []),
  ];
}

/** Whether problems ask for something to be done. */
export const hasProblems = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity !== "info");

/** The entry of a problem in the published package. */
const pageOfCode = (code: string) =>
  `https://unpkg.com/trailblaze@${hostVersion}/docs/problems.md#${code.toLowerCase()}`;

/** Limit on the problems of one list: a hostile pack could have thousands. */
const mostProblems = 200;

/** A list of problems, each with a link to its page. */
export function formatProblems(problems: readonly Problem[]): Content {
  if (problems.length === 0) return undefined;
  const rest = problems.length - mostProblems;
  return html`<ul class="problems">${problems.slice(0, mostProblems).map((problem) => {
    const { code, severity, message, hint, line, column } = problem;
    const file = fileOfPosition(problem);
    const place = file && [file, line, column].filter((part) => part !== undefined).join(":");
    return html`<li class="problem ${trusted(severity)}"><p><strong>${severity}</strong>${linkTo(pageOfCode(code), code)}</p><p class="text">${shorten(message)}</p>${
      hint !== undefined && html`<p class="note text">${shorten(hint)}</p>`
    }${place !== undefined && html`<p class="note mono"><bdi>${shorten(place, 400)}</bdi></p>`}</li>`;
  })}</ul>${rest > 0 && html`<p class="note">${countOf(rest, "more problem")}.</p>`}`;
}

/** A definition list of the facts that are known. */
export const formatFacts = (facts: readonly (readonly [string, Content])[]): Html =>
  html`<dl class="facts">${facts
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
