import type { ConfigFiles, ConfigFilesOptions } from "../files/config-files.ts";
import type { FileLock } from "../files/file-lock.ts";
import type { FileSnapshot } from "../files/file-snapshot.ts";
import type { Draft } from "../files/replace-file.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import type { ClientRecord } from "./clients/client.ts";
import { findClient } from "./clients/index.ts";
import { type CurrentFile, decideEdit } from "./decide-edit.ts";
import { loadEditor, openConfig } from "./editing/config-document.ts";
import type { ConfigEditor } from "./editing/config-format.ts";
import {
  describeCurrent,
  isWholeConfig,
  ledgerPath,
  openConfigFile,
  openFiles,
  readCurrent,
  readLedger,
} from "./install-files.ts";
import { formatLedger, type Ledger, ledgerFileOf } from "./ledger.ts";
import type { InstallPlan, InstallResult } from "./plan.ts";

/** How often a change is restarted after it lost its lock. */
const maximumLocks = 5;
/** How often a change is restarted at least while another program keeps changing the file. */
const minimumTries = 10;
/** How often a change is restarted because of other files in the folder, which may be unrelated. */
const folderTries = 20;
/** How long to watch for a program that was writing the file and may overwrite the change. Milliseconds. */
const confirmMs = 30;

/** How a change waits for other programs, and callbacks for its steps. */
export interface ApplySettings extends Omit<ConfigFilesOptions, "backups" | "holders"> {
  /** How long another program may keep changing the file. Milliseconds. */
  contendedMs?: number;
}

/** See the public `applyPlan`. */
export async function applyPlan(plan: InstallPlan, settings: ApplySettings): Promise<InstallResult> {
  return new Application(plan, settings, findClient(plan.client), await loadEditor(plan.format)).run();
}

class Application {
  readonly #contendedMs: number;
  readonly #plan: InstallPlan;
  readonly #client: ClientRecord;
  readonly #editor: ConfigEditor;
  readonly #files: ConfigFiles;
  readonly #realFile: string;
  readonly #ledgerFile: string;
  /** The ledger before this change. */
  #ledgerBefore: Ledger | undefined;
  /** The text that this change last wrote to the ledger. */
  #ledgerText: string | undefined;

  constructor(
    plan: InstallPlan,
    { contendedMs = 10_000, ...options }: ApplySettings,
    client: ClientRecord,
    editor: ConfigEditor,
  ) {
    this.#contendedMs = contendedMs;
    this.#plan = plan;
    this.#client = client;
    this.#editor = editor;
    this.#files = openFiles(options);
    this.#realFile = this.#files.findRealFile(plan.file);
    this.#ledgerFile = ledgerPath();
  }

  async run(): Promise<InstallResult> {
    if (await this.#isDoneAlready()) return this.#describe(false, null, "");
    for (let locks = 1; locks <= maximumLocks; locks++) {
      const result = await this.#makeFoldersAndLock();
      if (result !== undefined) return result;
    }
    throw this.#refuse("other programs keep taking its lock");
  }

  #refuse(reason: string) {
    const { file } = this.#plan;
    return failure("ClientConfigUnwritable", { file, reason }, { file });
  }

  #describe(changed: boolean, backup: string | null, diff: string): InstallResult {
    const { client, server, file, key } = this.#plan;
    return { client, server, file, key, changed, backup, diff };
  }

  #decide(current: CurrentFile) {
    return decideEdit(this.#client, this.#plan, current);
  }

  /** Whether there is nothing to change, which needs neither a lock nor a writable folder. */
  async #isDoneAlready(): Promise<boolean> {
    if (this.#plan.changed && this.#files.exists(this.#realFile)) return false;
    const current = await readCurrent(this.#files, this.#editor, this.#plan.file);
    const { changed, ledger } = this.#decide(current);
    return !changed && (ledger === current.ledger || current.text === undefined);
  }

  /** Makes the change; `undefined` if it lost the lock. */
  async #makeFoldersAndLock(): Promise<InstallResult | undefined> {
    const files = this.#files;
    const madeFolders: string[] = [];
    let result: InstallResult | undefined;
    try {
      madeFolders.push(...files.makeFolders(this.#realFile, this.#plan.scope === "user" ? 0o700 : 0o777));
      files.makeFolders(this.#ledgerFile, 0o700);
      const lock = await files.lock(this.#realFile);
      try {
        const ledgerLock = await files.lock(this.#ledgerFile);
        try {
          const { folders = [] } = ledgerFileOf(readLedger(files), this.#realFile) ?? {};
          result = await this.#changeLocked(lock, madeFolders);
          if (result?.changed && !files.exists(this.#realFile)) {
            // The lock is in one of the folders that are removed.
            lock.release();
            files.removeFolders(folders);
          }
        } finally {
          ledgerLock.release();
        }
      } finally {
        lock.release();
      }
      return result;
    } finally {
      if (!result?.changed) files.removeFolders(madeFolders);
    }
  }

  async #changeLocked(lock: FileLock, madeFolders: readonly string[]): Promise<InstallResult | undefined> {
    const giveUpAt = performance.now() + this.#contendedMs;
    let made: InstallResult | undefined;
    let isDone = false;
    try {
      for (let tries = 1; ; tries++) {
        const opened = await openConfigFile(this.#files, this.#editor, this.#realFile, { avoidBusy: true });
        let result: InstallResult | undefined;
        try {
          lock.refresh();
          const described = describeCurrent(this.#files, this.#realFile, opened);
          const current = { ...described, ledger: this.#ledgerBefore ?? described.ledger, madeFolders };
          result = this.#try(lock, opened.snapshot, current, { isFolderBusy: tries > folderTries });
          if (result?.changed) result = await this.#keepLateChanges(lock, opened.snapshot, current, result);
        } finally {
          opened.snapshot.close();
        }
        if (result !== undefined) {
          made = result.changed ? result : (made ?? result);
          const isContended = tries > 1 || opened.isBusy;
          isDone = !result.changed || !isContended || (await this.#isLasting());
          if (isDone) return made;
        }
        if (!lock.isHeld()) return undefined;
        if (tries >= minimumTries && performance.now() > giveUpAt)
          throw this.#refuse("another program keeps changing it");
      }
    } finally {
      if (!isDone) this.#restoreLedger();
    }
  }

  /** Whether the edit is still there after a moment. A program may overwrite it with what it read earlier. */
  async #isLasting(): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, confirmMs));
    try {
      const current = await readCurrent(this.#files, this.#editor, this.#plan.file);
      return !this.#decide(current).changed;
    } catch (error) {
      if (error instanceof TrailblazeError) return true;
      throw error;
    }
  }

  /**
   * Prepares everything, then replaces the file that was read. `undefined`, with the file unchanged, if another program
   * changed it meanwhile or the lock was lost.
   */
  #try(
    lock: FileLock,
    snapshot: FileSnapshot,
    current: CurrentFile,
    { isLate = false, isFolderBusy = false },
  ): InstallResult | undefined {
    const files = this.#files;
    const isInstall = this.#plan.edit.action === "install";
    const decision = this.#decide(current);
    // Deciding on the edit is synchronous, so timers cannot refresh the lock meanwhile.
    lock.refresh();
    const drafts: Draft[] = [];
    let backup: string | null = null;
    let isDone = false;
    try {
      const ledger = this.#draftLedger(decision.ledger, current.ledger, drafts);
      if (!decision.changed && !isLate) {
        ledger?.commit();
        return this.#describe(false, null, "");
      }
      const text = decision.changed ? decision.text : current.text;
      const before = isLate && current.text !== undefined ? Buffer.from(current.text) : snapshot.bytes;
      if (before !== undefined) backup = files.backUp(this.#realFile, before);
      const newMode = this.#plan.scope === "user" ? 0o600 : 0o644;
      const draft = text === undefined ? undefined : files.draft(this.#realFile, text, newMode, snapshot);
      if (draft !== undefined) drafts.push(draft);
      // The ledger records an edit before it is made, and forgets it after it is undone.
      if (isInstall) ledger?.commit();
      if (!lock.isHeld()) return undefined;
      if (draft !== undefined) isDone = files.replace(draft, snapshot, { isFolderBusy });
      else isDone = snapshot.bytes === undefined || files.remove(snapshot);
      if (!isDone) return undefined;
      if (!isInstall) ledger?.commit();
      if (backup !== null) files.settleBackup(this.#realFile, backup);
      return this.#describe(true, backup, decision.diff);
    } finally {
      for (const draft of drafts) draft.discard();
      if (!isDone && backup !== null) files.dropBackup(backup);
    }
  }

  #draftLedger(ledger: Ledger, before: Ledger, drafts: Draft[]): { commit(): void } | undefined {
    const text = formatLedger(ledger);
    if (text === (this.#ledgerText ?? formatLedger(before))) return undefined;
    const draft = this.#files.draft(this.#ledgerFile, text, 0o600);
    drafts.push(draft);
    return {
      commit: () => {
        this.#files.commit(draft);
        this.#ledgerBefore ??= before;
        this.#ledgerText = text;
      },
    };
  }

  /** Removes from the ledger an entry that was not written. */
  #restoreLedger(): void {
    if (this.#ledgerBefore === undefined) return;
    try {
      this.#files.commit(this.#files.draft(this.#ledgerFile, formatLedger(this.#ledgerBefore), 0o600));
    } catch {
      // Readers of the ledger tolerate the extra record.
    }
    this.#ledgerBefore = undefined;
    this.#ledgerText = undefined;
  }

  /**
   * Repeats the edit on what another program wrote to the old file during the replacement. If the new file has changed too,
   * the two cannot be combined, and the old file is kept as a backup.
   */
  async #keepLateChanges(
    lock: FileLock,
    replaced: FileSnapshot,
    current: CurrentFile,
    result: InstallResult,
  ): Promise<InstallResult> {
    const files = this.#files;
    const late = await files.readLate(replaced, (text) => isWholeConfig(openConfig(this.#editor, text)));
    if (late === undefined) return result;
    const written = this.#decide(current).text;
    const base = { ...current, text: late, config: openConfig(this.#editor, late) };
    const { snapshot, text } = await openConfigFile(files, this.#editor, this.#realFile);
    try {
      const again = text === written ? this.#try(lock, snapshot, base, { isLate: true }) : undefined;
      if (again !== undefined) return await this.#keepLateChanges(lock, snapshot, base, again);
      files.settleBackup(this.#realFile, files.backUp(this.#realFile, Buffer.from(late)));
      return result;
    } finally {
      snapshot.close();
    }
  }
}
