// Package janitor finds deployments without a live lease, by their labels and age, and says for
// each why it is kept or can be removed. It changes nothing unless Enforce is called.
//
// Invariants:
//   - A deployment without this owner's label, or without an age, is kept.
//   - If a cloud cannot be listed, nothing in it is removed.
//   - A deployment is removed only under a cleaning lease of its reservation, and the
//     decision is repeated under it: a lease granted in the meantime prevents the removal.
//   - A reservation is freed only when it has no deployment left.
package janitor
