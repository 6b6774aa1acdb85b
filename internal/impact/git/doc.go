// Package git reads a repository with the git command: the files of a commit, and the
// differences between two states. It modifies nothing, never prompts for passwords and runs no
// hooks.
//
// It ignores environment variables that point git at another repository (such as GIT_DIR), so
// that it always reads the given directory.
package git
