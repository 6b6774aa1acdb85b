// Package sharing is the requirement gpu_sharing: more than one workload can have a GPU
// at a time, where none needs all of it.
//
// It sees which parts of GPUs nodes offer (MIG slices, replicas of time-slicing or MPS,
// devices of DRA that may be allocated more than once), and tries sharing: two pods name
// one claim, and both run on its one GPU, while a third with a claim of its own does not
// get that; where parts are offered, two pods get one each.
//
// Invariants: a GPU that two pods have by accident is not shared: the third must not have
// it. Hardware that can be partitioned and is not offered so is said.
package sharing
