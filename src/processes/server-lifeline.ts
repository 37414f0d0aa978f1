import type { Writable } from "node:stream";

/**
 * A shell script that ends process groups after the host. It gets the existing groups as arguments, and changes on its
 * stdin, which ends with the host. Then the servers have seen the end of their own input, so it waits two seconds,
 * sends SIGTERM, waits two more, and kills the rest. An ended group is forgotten immediately, because its number may be
 * reused.
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

export interface Watcher {
  input: Writable;
  onEnd(listener: () => void): void;
}

export interface Lifeline {
  /** Starts the watcher in advance, so that `hold` takes effect immediately after a start. */
  prepare(): void;
  hold(group: number): void;
  /** Forgets a group that has ended or was never started. Without groups, the watcher ends. */
  release(group: number | undefined): void;
}

const mostRestarts = 3;

/** One watcher for all groups. Without a watcher, groups are not ended with the host. */
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
      // The watcher was killed.
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
