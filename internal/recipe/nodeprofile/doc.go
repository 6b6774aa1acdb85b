// Package nodeprofile selects the nodes for a recipe. It reads the profiles in nodes/ and
// accelerators.yaml, and selects by the recipe's criteria.
//
// If no profile fits, the error lists the available ones; a profile of another provider is
// never used instead.
package nodeprofile
