// Package labprovider is the hook of a cloud that is this machine: each deployment is a
// lab of its own, with its own control plane, really started and really ended.
//
// It owns a directory with a record of each deployment and the highest token that it has
// seen of each reservation. A record is on the disk before its lab is started and until its
// lab is gone, with its directory: killed between two steps, the same call again goes on
// where it stopped, and discover finds what stands.
//
// Invariants:
//   - A provision or a teardown of a lower token than was seen is refused.
//   - A reservation has room for one deployment: a second one is refused, as a cloud refuses
//     it that has no capacity left.
//   - What changes something of a reservation is done by one process at a time.
//
// A test creates pods with the label of a run of its own and removes them by it, also when it
// is ended; one that is killed leaves them to the next.
//
// For rehearsals, and for nothing else, a file defects.yaml in that directory has things go
// wrong on purpose, each as often as its times say, which are counted down in the file:
//
//	defects:
//	  - {reservation: aws-h100, version: v1.2.0, intent: training, times: 1, defect: cordoned}
//	  - {reservation: aws-h100, times: 2, defect: teardown-fails}
//
// cordoned, no-gpus, slow (for: 30s) and hang are put into the deployment's lab before a test,
// and stay there; version and intent choose which, left out: any. provision-fails fails when the
// deployment is on record and before it stands, teardown-fails before anything is removed.
// forgets answers that a deployment is gone and leaves it, where discover finds it: it takes as
// many times as the caller has attempts to leave it standing for good. Times are counted by call.
//
// It ends only processes of labs that it has a record of.
//
// Environment: FIRSTLIGHT_HOME, XDG_STATE_HOME (see package lab).
package hookprovider
