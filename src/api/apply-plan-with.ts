import { findClient } from "../install/clients/index.ts";
import { type CurrentFile, decideEdit, type EditDecision } from "../install/decide-edit.ts";
import { loadEditor } from "../install/editing/editors.ts";
import { formatDiff } from "../install/format-diff.ts";
import { formatLedger, ledgerFileOf } from "../install/ledger.ts";
import type { InstallPlan, InstallResult } from "../install/plan.ts";
import { failure } from "../problems/index.ts";
import { ledgerPath, openFiles, readCurrent } from "./install-files.ts";
import type { InstallMeans } from "./install-means.ts";

/** How often a change is begun anew after its lock was taken away. */
const maximumAttempts = 5;

/** As the public `applyPlan`, with its means. */
export async function applyPlanWith(means: InstallMeans, plan: InstallPlan): Promise<InstallResult> {
  const client = findClient(plan.client);
  const editor = await loadEditor(plan.format);
  for (let attempt = 1; ; attempt++) {
    const result = await tryToApply(means, plan, (current) => decideEdit(client, editor, plan, current));
    if (result !== undefined) return result;
    if (attempt === maximumAttempts) {
      const reason = "other programs keep taking its lock";
      throw failure("ClientConfigUnwritable", { file: plan.file, reason }, { file: plan.file });
    }
  }
}

function describeResult(
  { client, server, file, key }: InstallPlan,
  changed: boolean,
  backup: string | null,
  diff: string,
): InstallResult {
  return { client, server, file, key, changed, backup, diff };
}

async function tryToApply(
  means: InstallMeans,
  plan: InstallPlan,
  decide: (current: CurrentFile) => EditDecision,
): Promise<InstallResult | undefined> {
  const files = openFiles(means);
  const ledgerFile = ledgerPath(means);
  const realFile = files.findRealFile(plan.file);
  const isInstall = plan.edit.action === "install";
  if (!plan.changed || !files.exists(realFile)) {
    // Where there is nothing to change, no lock is needed, nor a folder that may be written.
    const before = readCurrent(means, files, plan.file);
    const foreseen = decide(before);
    if (!foreseen.changed && (foreseen.ledger === before.ledger || before.text === undefined)) {
      return describeResult(plan, false, null, "");
    }
  }
  const madeFolders = files.makeFolders(realFile, plan.scope === "user" ? 0o700 : 0o777);
  files.makeFolders(ledgerFile, 0o700);
  let written = false;
  try {
    const lock = await files.lock(realFile);
    try {
      const ledgerLock = await files.lock(ledgerFile);
      try {
        const current = { ...readCurrent(means, files, plan.file), madeFolders };
        const decision = decide(current);
        const saveLedger = () =>
          files.replace(ledgerFile, formatLedger(decision.ledger), { lock: ledgerLock, newMode: 0o600 });
        if (!decision.changed) {
          if (decision.ledger !== current.ledger) saveLedger();
          return describeResult(plan, false, null, "");
        }
        const backup = current.text === undefined ? null : files.backUp(realFile);
        // What is needed to undo an edit is known before the edit, and forgotten after it is undone.
        if (isInstall && !saveLedger()) return undefined;
        if (decision.text === undefined) {
          if (!lock.isHeld()) return undefined;
          files.remove(realFile);
        } else {
          const newMode = plan.scope === "user" ? 0o600 : 0o644;
          if (!files.replace(realFile, decision.text, { lock, newMode })) return undefined;
        }
        written = true;
        if (!isInstall) saveLedger();
        const diff = formatDiff(plan.file, current.text, decision.text);
        if (decision.text === undefined) {
          // The lock lies in one of the folders that go.
          lock.release();
          files.removeFolders(ledgerFileOf(current.ledger, realFile)?.folders ?? []);
        }
        return describeResult(plan, true, backup, diff);
      } finally {
        ledgerLock.release();
      }
    } finally {
      lock.release();
    }
  } finally {
    if (!written) files.removeFolders(madeFolders);
  }
}
