// Package preflight finds obstacles to a run of the playbook, without load and without a
// change: it reads, and asks the API server for server-side dry runs at most. It covers exactly the
// gates that the run would walk.
//
// Each area observes into facts, and a pure judge turns the facts into lines. The demands come from
// the gates themselves: their commands, their pods, their rules of RBAC. A line that could not be
// checked is Unobserved, never OK.
package preflight
