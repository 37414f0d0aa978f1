import { createInterface, type Interface } from "node:readline";
import type { ApprovalChange } from "../../approval/apply-changes.ts";
import { type ApprovalPlan, isListing } from "../../approval/approval-plan.ts";
import { printable } from "../../problems/index.ts";
import { output } from "../output.ts";

type Answer = "yes" | "no" | "all" | "none";

const answers: Readonly<Record<string, Answer>> = {
  y: "yes",
  yes: "yes",
  a: "all",
  all: "all",
  q: "none",
  quit: "none",
};

function describe({ action, name, entry }: ApprovalChange): string {
  const [item] = entry.items;
  const what =
    item === undefined
      ? `${name}${action === "prune" ? "" : " as installed"}`
      : item.kind === "needs"
        ? `what ${name} needs`
        : `${item.kind} ${name}`;
  const verbs = { approve: "Approve", deny: "Deny", prune: "Remove from the lock" } as const;
  return `${verbs[action]}: ${what}?`;
}

/** Whether there is nothing to decide: a server's empty list, or another version of what was approved. */
const isImplied = (change: ApprovalChange) =>
  isListing(change) ||
  (change.action === "approve" && change.entry.items.length === 0 && change.entry.change === "same");

/** Asks about changes, one after the other, on one terminal. Close it afterwards. */
export class ApprovalQuestions {
  readonly #lines: Interface;
  readonly #iterator: AsyncIterator<string>;
  /** What was agreed to before servers started. */
  readonly #agreed = new Set<ApprovalChange>();

  constructor(signal: AbortSignal) {
    this.#lines = createInterface({ input: process.stdin, signal });
    this.#iterator = this.#lines[Symbol.asyncIterator]();
  }

  /** The end of the input means to stop. */
  async #ask(question: string): Promise<Answer> {
    output.note(`${question} [y/N/a/q]`);
    const { done, value } = await this.#iterator.next();
    return done ? "none" : (answers[String(value).trim().toLowerCase()] ?? "no");
  }

  /** Shows a launch, and asks whether to approve it; it starts afterwards. */
  async agree(change: ApprovalChange, plan: ApprovalPlan): Promise<boolean> {
    output.note(plan.text);
    const answer = await this.#ask(printable(describe(change)));
    const isAgreed = answer === "yes" || answer === "all";
    if (isAgreed) this.#agreed.add(change);
    return isAgreed;
  }

  /** Shows changes, and asks about each: yes, no, all that are left, or none of them. */
  async choose(plan: ApprovalPlan): Promise<ApprovalPlan> {
    const chosen: ApprovalChange[] = [];
    let rest: Answer | undefined;
    for (const change of plan.changes) {
      if (this.#agreed.has(change) || isImplied(change)) {
        chosen.push(change);
        continue;
      }
      if (rest === undefined) {
        output.note(plan.narrow([change]).text);
        const answer = await this.#ask(printable(describe(change)));
        if (answer === "all" || answer === "none") rest = answer;
        if (answer === "yes") chosen.push(change);
      }
      if (rest === "all") chosen.push(change);
    }
    return plan.narrow(chosen);
  }

  close(): void {
    this.#lines.close();
  }
}
