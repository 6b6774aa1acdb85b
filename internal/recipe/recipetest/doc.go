// Package recipetest has recipe trees for tests: a small one with every feature, and generated
// ones of any size.
package recipetest
