// Package proctree runs a program and kills every process that it started, including those that
// left its process group and session, closed its output or ignore SIGTERM.
//
// The program runs below a process of this binary that is its subreaper (Linux,
// PR_SET_CHILD_SUBREAPER): orphaned processes become its children instead of init's. When the
// program has ended or has timed out, the subreaper kills its children until none is left. It also
// ends them when the process that started it ends, and at its Deadline. Processes of other users
// and processes with Outlives are not killed.
package proctree
