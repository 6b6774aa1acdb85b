// Package criteria is what a recipe is asked for with: service, accelerator,
// os, intent, platform, number of nodes; and how what overlays say of
// themselves is matched with it.
//
// A match is asymmetric: what an overlay leaves open matches anything, what it
// states must be stated by the query too. So a query that says more only adds
// overlays. Unset and "any" are the same.
package criteria
