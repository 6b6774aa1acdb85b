// Package process supervises the lab's child processes.
//
// It starts each child in its own process group, distinguishes ready, exited and late, writes its
// log, restarts it when it dies and stops it with a grace period. One goroutine per child calls
// Wait.
//
// Invariants:
//   - A child never outlives its supervisor: every child is started from one OS thread that lives
//     as long as the Supervisor, with parent-death signal SIGKILL bound to that thread.
//   - Ready is the result of a probe, never the existence of a process.
//   - A process is identified by its PID and start time, never by the PID alone.
//   - Every unrequested exit is reported with exit status and last log lines.
//
// The package never signals a process that it did not start or cannot identify.
package process
