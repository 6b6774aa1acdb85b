// Package tier chooses the recipes that a change has to be tested with.
//
// A recipe has a digest: of every file, or part of one, that it is made of, and that
// its nodes and pods are made of. It is tested if and only if its digest is not the
// same before and after the change, or the harness's (the code that runs the test) is
// not. What can't be compared is tested. Tier 1 are the generic recipes, tested with
// every change; tier 2 those that the change affects; tier 3 all.
//
// It reads two states of a tree and a list of changed paths, and nothing else;
// package compare gets them out of a repository.
package impact
