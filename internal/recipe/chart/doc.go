// Package chart fetches Helm charts, renders them with Helm's library and the values of
// recipes, and extracts the fields of the pods that the scheduler reads: the lock of a
// footprint. It writes locks into footprint files, and reports how a lock, or the rules of a
// documented footprint, differs from the chart.
//
// It looks for a chart in a directory next to the recipe tree, then in a Go module, then in the
// chart repository (OCI or HTTP). Each failed source is reported with its reason. Of a recipe's
// values only the digest is stored.
//
// No other package of recipes uses Helm, runs a program or opens a connection.
package chart
