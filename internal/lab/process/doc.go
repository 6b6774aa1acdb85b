// Package process supervises the lab's child processes.
//
// It owns: starting a child in a process group of its own, telling ready from
// exited from late, its log file, restarting it when it dies, and ending it
// with a grace period. One goroutine waits for each child; nothing else does.
//
// Invariants:
//   - A child never outlives its supervisor: every child is started from one
//     OS thread that lives as long as the Supervisor, with a parent-death
//     signal of SIGKILL bound to that thread.
//   - Ready is the answer of a probe, never the presence of a process.
//   - A process is identified by its id and its start time, never the id alone.
//   - Every death that nobody asked for is reported, with exit status and the
//     last lines of the child's log.
//
// It never signals a process that it did not start or cannot identify.
package process
