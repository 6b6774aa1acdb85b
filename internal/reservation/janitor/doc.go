// Package janitor finds deployments that belong to no live lease, by their labels and their
// age, and says of each why it is kept or is to be removed. It changes nothing unless it is
// told to.
//
// Invariants:
//   - What has not this owner's label is not ours, and is kept. So is what has no age.
//   - Where a cloud can't be looked at, nothing of it is removed.
//   - Nothing is removed but under a cleaning lease of its reservation, for which the
//     decision is taken again on what is there then: a lease that was granted meanwhile
//     is in its way.
//   - A reservation is freed only when nothing stands in it any more.
package janitor
