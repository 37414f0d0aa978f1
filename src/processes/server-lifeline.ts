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
