// Package workflow renders the GitHub Actions workflows that test recipes: a job that
// plans, jobs of a matrix that test, and one that says whether all of it passed, which
// is the check to require. What decides is in firstlight, not in them.
//
// Actions are pinned by commit; a comment behind each says of which version.
package workflow
