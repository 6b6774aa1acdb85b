# Read by the hooks beside it: the request, the answers, the exit statuses.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the hooks use what is read here

readonly API=hooks.firstlight.dev/v1 TEMPORARY=75

# What fails inside of $(...) ends the hook, too.
shopt -s inherit_errexit

# What is on the standard output is the response, also where a part of a hook has its own.
exec 3>&1

# answer JSON: the response, as the last thing that is done.
answer() {
  jq -cn --arg api "$API" --argjson with "$1" '{apiVersion: $api} + $with' >&3
}

# fail WHY [STATUS]: the end. With TEMPORARY for a status it is tried again.
fail() {
  echo "$1" >&2
  jq -cn --arg api "$API" --arg why "$1" '{apiVersion: $api, error: $why}' >&3
  exit "${2:-1}"
}

log() { echo "$*" >&2; }

# field EXPRESSION: a text of the request; empty where it has none.
field() { jq -r "$1 // empty" <<<"$request"; }

# A program gets its request on its standard input, a Job's container as a file.
if [[ -n ${FIRSTLIGHT_HOOK_REQUEST:-} ]]; then
  request=$(<"$FIRSTLIGHT_HOOK_REQUEST")
else
  request=$(cat)
fi
[[ $(jq -r '.apiVersion // empty' <<<"$request" 2>/dev/null) == "$API" ]] || fail "the request is not of $API"

verb=$(field .verb)
owner=$(field .owner)
cloud=$(field .cloud)
reservation=$(field .reservation.name)
reservation_id=$(field '.reservation["reservation-id"]')
config=$(field '.reservation["cluster-config-path"]')
intent=$(field .intent)
name=$(field .deployment)
token=$(field .lease.token)

# Nodes of the reservation: those that have GPUs, or should.
readonly NODES=${FIRSTLIGHT_NODE_SELECTOR:-nvidia.com/gpu.present=true}

# census KUBECONFIG: the nodes as the API server shows them.
census() {
  local list
  list=$(kubectl --kubeconfig "$1" get nodes --selector "$NODES" --output json) || fail "the nodes of $name can't be listed" "$TEMPORARY"
  answer "$(jq -c '{nodes: [.items[] | {
    name: .metadata.name,
    uid: .metadata.uid,
    ready: any(.status.conditions[]?; .type == "Ready" and .status == "True"),
    cordoned: (.spec.unschedulable // false),
    gpus: (.status.allocatable["nvidia.com/gpu"] // "0" | tonumber)
  }]}' <<<"$list")"
}

# passing FILE: an error that may go better later.
passing() {
  grep -Eqi 'throttl|rate exceeded|RequestLimitExceeded|InsufficientInstanceCapacity|insufficient capacity|stockout|timed? ?out|temporarily|UNAVAILABLE|connection reset' "$1"
}

# described MISSING COMMAND...: its output, or nothing where its error says MISSING.
described() {
  local missing=$1 err why
  shift
  err=$(mktemp)
  if "$@" 2>"$err"; then
    rm -f "$err"
    return
  fi
  why=$(<"$err")
  rm -f "$err"
  if [[ ! $why =~ $missing ]]; then fail "$name can't be looked at: $why" "$TEMPORARY"; fi
}

# run WHAT COMMAND...: its output, or the end with why.
run() {
  local what=$1 err
  shift
  err=$(mktemp)
  if "$@" 2>"$err"; then
    cat "$err" >&2
    rm -f "$err"
    return
  fi
  cat "$err" >&2
  local why status=1
  why=$(tail -n 1 "$err")
  if passing "$err"; then status=$TEMPORARY; fi
  rm -f "$err"
  fail "$what: $why" "$status"
}
