import { entry, type Severity, warningForBystanders } from "./entry.ts";
import { hintForSyntax, type SyntaxCause } from "./syntax-hint.ts";
import { endSentence, printable, quote } from "./text.ts";

/** Something that the administrator's policy excludes. */
export interface DeniedByPolicy {
  what: "pack" | "server" | "registry" | "install" | "code";
  /** The npm name of the package, or the label of the server. */
  name?: string;
  version?: string | null;
  /** Its address, without credentials. */
  registry?: string;
  /** Absolute path of the policy. */
  policy: string;
  contact?: string | undefined;
}

function describeDenied({ what, name = "", version, registry = "" }: DeniedByPolicy): string {
  switch (what) {
    case "pack": {
      const exact = version === undefined || version === null ? "" : ` ${printable(version)}`;
      return `The administrator's policy excludes package ${quote(name, 214)}${exact}.`;
    }
    case "server":
      return `The administrator's policy excludes the processes and URLs of the config, such as server ${quote(name)}.`;
    case "registry":
      return `The administrator's policy excludes registry ${quote(registry, 200)}, which has ${quote(name, 214)}.`;
    case "install":
      return `The administrator's policy forbids installing packages, such as ${quote(name, 214)}.`;
    case "code":
      return "The administrator's policy requires confinement for definitions that are code, which is not available here.";
  }
}

/** Problems of the administrator's policy. */
export const policyProblems = {
  DeniedByPolicy: entry<DeniedByPolicy>({
    title: "The administrator's policy excludes this",
    severity: (context): Severity => (context === "bystander" ? "info" : "error"),
    message: (denied) => {
      const { contact = "" } = denied;
      const ask = contact.trim() === "" ? "" : ` Contact: ${endSentence(printable(contact.trim()))}`;
      return `${describeDenied(denied)}${ask}`;
    },
    hint: ({ policy }) => `Run \`trailblaze doctor\` to see what ${quote(policy, 400)} allows.`,
  }),
  PolicyUnsafe: entry<{
    /** Absolute path of the policy. */
    policy: string;
    reason: string;
  }>({
    title: "The administrator's policy is not safe to use",
    severity: warningForBystanders,
    message: ({ policy, reason }) =>
      `Cannot trust the administrator's policy ${quote(policy, 400)}: ${reason}.`,
    hint: () =>
      "Ask the administrator to make it a regular file that belongs to root, with mode 644, in a folder that belongs to root, with mode 755.",
  }),
  PolicyMalformed: entry<{
    /** Absolute path of the policy. */
    policy: string;
    reason: string;
    cause?: SyntaxCause | undefined;
    hint?: string | undefined;
  }>({
    title: "Invalid administrator's policy",
    severity: warningForBystanders,
    message: ({ policy, reason }) => `Invalid administrator's policy ${quote(policy, 400)}: ${reason}.`,
    hint: ({ cause, hint = hintForSyntax(cause) }) => hint ?? "Ask the administrator to correct the file.",
  }),
};
