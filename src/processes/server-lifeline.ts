import type { Writable } from "node:stream";

/**
 * Is given the groups that there are, and then told of others. Waits beside the host for the end of its own input, which
 * only the end of the host brings about while there are groups. Then it does what the host can no longer do: the servers
 * have seen the end of their input themselves, so it gives them two seconds, tells them to end, and after two more kills
 * what is left. A group that is gone is forgotten at once, as its number may become another's.
 */
export const lifelineScript = `PATH=/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin
groups=$*
while read -r sign group; do
  case $sign in
  +) groups="$groups $group" ;;
  -)
    kept=
    for other in $groups; do [ "$other" = "$group" ] || kept="$kept $other"; done
    groups=$kept
    ;;
  esac
done
some_live() {
  kept=
  for group in $groups; do kill -s 0 -- "-$group" && kept="$kept $group"; done
  groups=$kept
  [ -n "$groups" ]
}
outlive() {
  ticks=$1
  while some_live; do
    [ "$ticks" -gt 0 ] || return 0
    if sleep 0.2; then ticks=$((ticks - 1)); else sleep 1 && ticks=$((ticks - 5)); fi
  done
  return 1
}
outlive 10 || exit 0
for group in $groups; do kill -s TERM -- "-$group"; done
outlive 10 || exit 0
for group in $groups; do kill -s KILL -- "-$group"; done
`;

/** A running watcher: where it is told about groups, and what to call when it has ended. */
export interface Watcher {
  input: Writable;
  onEnd(listener: () => void): void;
}

export interface Lifeline {
  /** Has the watcher at hand, so that no time passes between the start of a process and `hold`. */
  prepare(): void;
  /** From now on, the group ends with the host. */
  hold(group: number): void;
  /** The group is gone, or has never been. Without any, there is no watcher. */
  release(group: number | undefined): void;
}

const mostRestarts = 3;

/** One watcher for all groups. Where there can be none, groups go without. */
export function createLifeline(startWatcher: (groups: readonly number[]) => Watcher | undefined): Lifeline {
  const groups = new Set<number>();
  let watcher: Watcher | undefined;
  let restarts = 0;

  const prepare = () => {
    if (watcher !== undefined) return;
    const started = startWatcher([...groups]);
    watcher = started;
    started?.input.on("error", () => {});
    started?.onEnd(() => {
      if (watcher !== started) return;
      watcher = undefined;
      // Somebody has killed it.
      if (groups.size > 0 && restarts++ < mostRestarts) prepare();
    });
  };
  return {
    prepare,
    hold(group) {
      prepare();
      groups.add(group);
      watcher?.input.write(`+ ${group}\n`);
    },
    release(group) {
      if (group !== undefined && groups.delete(group)) watcher?.input.write(`- ${group}\n`);
      if (groups.size > 0) return;
      watcher?.input.end();
      watcher = undefined;
    },
  };
}
