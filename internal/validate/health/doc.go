// Package health is the step "Health checks": what the assertion files of a recipe's
// components demand of a cluster, all of it of every component.
//
// Invariants: it only looks, and creates nothing. A component without a file, or whose
// file demands nothing or saw nothing, fails. Of objects that are selected by labels
// all must hold, and there must be one. Judge needs nothing but the components'
// files and what was observed.
package health
