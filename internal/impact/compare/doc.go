// Package compare reads the input of a plan from a repository: the recipe tree before and after
// a change, the changed paths, and the harness.
//
// The state before the change is the merge base. A comparison with the newest commit of the
// target branch would include the reverse of that branch's changes. If no comparison is
// possible, the reason is part of the input and the plan selects everything; that is not an
// error.
package compare
