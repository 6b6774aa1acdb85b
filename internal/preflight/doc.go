// Package preflight looks for what would stop a run of the playbook, without load and without a
// change: it reads, and asks the API server for server-side dry runs at most. It covers exactly the
// gates that the run would walk.
//
// Each area observes into facts, and a pure judge turns the facts into lines. What the gates need
// comes from the gates themselves: their commands, their pods, their rules of RBAC. A line that could
// not be looked at is NotSeen, never OK.
package preflight
