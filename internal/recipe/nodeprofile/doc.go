// Package shape says what nodes a recipe meets: it reads the profiles under
// nodes/ and accelerators.yaml, and chooses those of a recipe's criteria.
//
// A recipe that no profile fits is an error that lists what there is; never
// another provider's shape.
package nodeprofile
