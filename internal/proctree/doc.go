// Package proctree runs a program and ends it with every process that it started, also
// those that left its process group and session, closed its output, or ignore SIGTERM.
//
// The program runs below a process of this binary that is their subreaper (Linux,
// PR_SET_CHILD_SUBREAPER): a process whose parent has ended becomes its child, and not
// init's. When the program has ended, or its time is over, it kills its children until
// there are none. It ends, too, with the process that asked for it. What outlives it acts as another
// user, or says that it is meant to: see Outlives.
package proctree
