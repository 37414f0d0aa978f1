/** Set by CI runners that read commands from a job's output: GitHub, Gitea and Forgejo, Azure, TeamCity. */
const runnerVariables = ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"];

/** Whether a CI runner may read commands from this process's output. */
export function isRunByRunner(env: NodeJS.ProcessEnv): boolean {
  return runnerVariables.some((name) => env[name] !== undefined && env[name] !== "" && env[name] !== "false");
}

/** `##[group]`, `##vso[task.setvariable …]`, `##teamcity[…]`: a command anywhere in a line. */
const bracketed = /(##\w*)\[/g;

/** `::add-mask::…` at the start of a line, after any white space. */
const leading = /^([^\S\n]*:):/gm;

/** Escapes the character that completes each command as `\u{…}`, like unprintable characters. */
export const disarmCommands = (text: string): string =>
  text.replace(leading, "$1\\u{003a}").replace(bracketed, "$1\\u{005b}");
