// Package hookprovider is a hook whose clusters are labs on this machine: each deployment is a lab
// with its own control plane.
//
// It owns a directory with a record of each deployment and the highest token of each reservation.
// A record exists from before the start of its lab until the lab and its directory are deleted:
// after a crash between two steps the same call continues, and discover finds the deployment.
//
// Invariants:
//   - Provision and teardown refuse a lower token than the highest one.
//   - A reservation has capacity for one deployment: a second one is refused.
//   - Changes to a reservation are serialized across processes.
//
// A test labels its pods with its own run and removes them by that label, also on a timeout; the
// next test removes the pods of a killed one.
//
// In simulations, a file defects.yaml in the directory injects failures, each as often as its
// times, which are counted down in the file:
//
//	defects:
//	  - {reservation: aws-h100, version: v1.2.0, intent: training, times: 1, defect: cordoned}
//	  - {reservation: aws-h100, times: 2, defect: teardown-fails}
//
// cordoned, no-gpus, slow (for: 30s) and hang apply to the deployment's lab before a test, and
// remain there; version and intent select the tests. provision-fails fails after the deployment is
// recorded, teardown-fails before anything is removed. forgets reports a deployment as deleted and
// keeps it, so discover lists it; to outlast retries it needs as many times as attempts. Times are
// counted per call.
//
// Only processes of recorded labs are ended.
//
// Environment: FIRSTLIGHT_HOME, XDG_STATE_HOME (see package lab).
package hookprovider
