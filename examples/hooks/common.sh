# Sourced by the hooks in this directory: request, responses, exit statuses.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the hooks use these variables

readonly API=hooks.firstlight.dev/v1 TEMPORARY=75

# A failure inside of $(...) also ends the hook.
shopt -s inherit_errexit

# Only the response goes to the standard output, also in subshells.
exec 3>&1

# answer JSON: write the response, as the last step.
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
version=$(field .version)
tests=$(field '.reservation["test-config-dir"]')

# Nodes of the reservation: those that have GPUs, or should.
readonly NODES=${FIRSTLIGHT_NODE_SELECTOR:-nvidia.com/gpu.present=true}

# nodes KUBECONFIG: the nodes of the deployment, from its API server.
nodes() {
  local list
  list=$(kubectl --kubeconfig "$1" get nodes --selector "$NODES" --output json) || fail "cannot list the nodes of $name" "$TEMPORARY"
  answer "$(jq -c '{nodes: [.items[] | {
    name: .metadata.name,
    uid: .metadata.uid,
    ready: any(.status.conditions[]?; .type == "Ready" and .status == "True"),
    cordoned: (.spec.unschedulable // false),
    gpus: (.status.allocatable["nvidia.com/gpu"] // "0" | tonumber)
  }]}' <<<"$list")"
}

# result VERDICT CHECKS EVIDENCE WHY: write the result of a test.
result() {
  answer "$(jq -cn --arg verdict "$1" --argjson checks "$2" --arg evidence "$3" --arg why "$4" '
    ($why | gsub("[\u0000-\u0008\u000b-\u001f\u007f]"; " ") | if utf8bytelength > 2048 then .[0:500] + " (cut)" else . end) as $why
    | {result: ({verdict: $verdict, checks: $checks} + (if $evidence == "" then {} else {evidence: $evidence} end) + (if $why == "" then {} else {reason: $why} end))}')"
}

# The checks of a report that saw something, and what was not passed, with its reason.
readonly SEEN='[.steps[].checks[] | select(.verdict == "passed" or .verdict == "failed")] | length'
readonly WRONG='[.steps[] | select(.verdict != "passed" and .verdict != "not-applicable")
  | .name as $step | (.checks | map(select(.verdict != "passed" and .verdict != "not-applicable") | "\($step)/\(.gate) \(.verdict): \(.reason)")) as $checks
  | if $checks == [] then "\($step) \(.verdict): \(.reason)" else $checks[] end] | join("; ")'

# validate KUBECONFIG: the cluster's test is what the version's own firstlight says of it. In the
# directory with the reservation's tests there are INTENT.site.yaml and INTENT.recipe.yaml.
validate() {
  local program=firstlight kept report verdict checks status=0
  if [[ -n ${FIRSTLIGHT_VERSIONS:-} ]]; then program=$FIRSTLIGHT_VERSIONS/$version/firstlight; fi
  if [[ -z ${FIRSTLIGHT_VERSIONS:-} && $version != main ]] || ! command -v "$program" >/dev/null; then
    result unobserved 0 "" "no firstlight program for version $version: not found at ${FIRSTLIGHT_VERSIONS:-\$FIRSTLIGHT_VERSIONS}/$version/firstlight"
    return
  fi
  mkdir -p "${FIRSTLIGHT_EVIDENCE:?}"
  kept=$(mktemp -d "$FIRSTLIGHT_EVIDENCE/$name-$version-$intent.XXXXXX")
  log "validating $name with $program for $intent"
  report=$("$program" validate --intent "$intent" --kubeconfig "$1" --site "$tests/$intent.site.yaml" --recipe "$tests/$intent.recipe.yaml" \
    --evidence "$kept/evidence" --artifacts "$kept/artifacts" --fresh --output json) || status=$?
  if ((status > 3 || status == 2)); then fail "validating $name ended with exit status $status"; fi
  verdict=$(jq -r '.verdict // empty' <<<"$report" 2>/dev/null) || verdict=
  if [[ -z $verdict ]]; then
    result unobserved 0 "$kept" "validating $name ended with exit status $status and without a report"
    return
  fi
  checks=$(jq "$SEEN" <<<"$report")
  case $status/$verdict in
    0/passed) if ((checks > 0)); then result passed "$checks" "$kept" ""; else result unobserved 0 "$kept" "it passed, and no check has seen anything"; fi ;;
    1/failed) result failed "$checks" "$kept" "$(jq -r "$WRONG" <<<"$report")" ;;
    *) result unobserved "$checks" "$kept" "$verdict, exit status $status: $(jq -r "$WRONG" <<<"$report")" ;;
  esac
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
  if [[ ! $why =~ $missing ]]; then fail "cannot read $name: $why" "$TEMPORARY"; fi
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
