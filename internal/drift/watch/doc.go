// Package watch keeps gate 3 on after acceptance: in rounds it runs the commands of the gate that
// put no load on a node, and records changes only.
//
// A round is observed, then judged by the rules of the gate (node.LowLoad) and compared with the
// versions of the accepted run. A Reading is the result of one check of one node in a round. The
// Tracker turns Readings into Transitions: it is pure, and holds back states that one observation
// alone does not confirm. Transitions are appended to a journal, which a restart continues.
//
// Invariants: a check without an observation is unobserved, never ok; a transition is in the journal,
// synced, before it is reported; metrics show the last observation with its age, and unobserved once
// it is too old.
package watch
