// Package health is the step "Health checks": the assertion files of all components of a recipe
// must hold.
//
// Invariants: it creates nothing. A component without a file, without assertions or without
// matching objects fails. Of objects selected by labels there must be at least one, and all
// must hold. Judge needs only the components' files and the observations.
package health
