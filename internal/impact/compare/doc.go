// Package compare gets out of a repository what a plan is made of: the recipe tree
// before and after a change, the paths that changed, and the harness.
//
// What is before is the merge-base: where the branch that is merged left the one that
// it is merged into. A difference to that branch's newest commit would have the other
// side's changes in it, turned around. Whatever keeps the two from being compared is
// told as such, and makes a plan of everything; it is no error.
package compare
