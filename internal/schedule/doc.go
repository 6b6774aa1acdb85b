// Package schedule tests that recipes schedule. Each recipe becomes a scenario: nodes of
// its provider's shape, the pods of its components, a GPU workload and negative controls.
// The scenario runs on a control plane with the real scheduler and controllers, and a
// snapshot of the result is judged.
//
//	scenario  the scheduler's input for a recipe; fingerprints, controls
//	runner    runs scenarios on a control plane
//	snapshot  the observed state of a scenario
//	judge     compares the snapshot with the expected state
//	fanout    runs the test as an Indexed Job in a cluster
//
// One recipe's test is one Check. Recipes with equal fingerprints form a Class. The caller
// provides the control planes.
package schedule
