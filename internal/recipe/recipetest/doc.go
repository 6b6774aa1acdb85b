// Package recipetest has recipe trees for tests: a small one that has something
// of everything, and generated ones of any size. Nothing but tests uses it.
package recipetest
