// Package impact selects the recipes that a change must be tested with.
//
// The digest of a recipe covers every file, or part of one, that the recipe, its nodes and its
// pods are made of. A recipe is tested if and only if its digest or that of the harness (the
// code that runs the test) differs before and after the change. If no comparison is possible,
// every recipe is tested. Tier 1 has the generic recipes, which every change is tested with;
// tier 2 those that the change affects; tier 3 all recipes.
//
// The input is two states of a tree and a list of changed paths; package compare reads them
// from a repository.
package impact
