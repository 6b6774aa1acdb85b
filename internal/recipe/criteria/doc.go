// Package criteria defines the queries for recipes (service, accelerator, os, intent, platform,
// number of nodes) and how overlays match them.
//
// Matching is asymmetric: a dimension that the overlay leaves open matches any query; one that
// it states must be stated by the query too. A more specific query only adds overlays. Unset
// and "any" are the same.
package criteria
