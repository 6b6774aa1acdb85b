// Package report presents the state of reservations: metrics for Prometheus, and the results of
// the nightly batches.
//
// Results show, by version and intent, the newest outcome of each cell and since how many nights
// it has it, and every outcome by night. Flaky cells (pass and fail at one version) and stale
// cells (in the matrix but not run) are found by thresholds that are data. A cell that did not run
// is not a pass. Results are computed from hand-overs, as text, JSON or one HTML page.
//
// Metrics are read from the store at each collection, so that every replica of a controller
// reports the same. If the store cannot be read, firstlight_reservation_store_up is 0 and no other
// metric is present: no stale value is reported. The registry and the schedule bound the series:
// about thirty per reservation. The purpose of a lease is free text and not a label.
package report
