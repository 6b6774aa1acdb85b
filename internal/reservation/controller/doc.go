// Package controller executes the schedule: it starts the day deployments, removes them in the
// evening, and runs the nightly batch. Each hand-over is retried within its window and recorded
// before each step. In addition the controller expires leases, notifies holders, and cleans dirty
// reservations.
//
// One controller works at a time, chosen by leader election. After a crash, the next leader
// resumes from the recorded state. A hand-over that no controller executed in its window is
// recorded as failed.
package controller
