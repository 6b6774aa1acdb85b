// Package git reads a repository with the git command: what a commit holds, and
// what is different between two states. It changes nothing, asks nobody for
// passwords and runs no hooks.
//
// Environment: what points git at another repository (GIT_DIR and the like) is left
// out, so that the directory that was given is what is read.
package git
