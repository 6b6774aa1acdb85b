// Package chart gets Helm charts, renders them with Helm's library and a recipe's
// values, and keeps what of the pods the scheduler can see: the lock of a
// footprint. It writes locks into footprint files, and reports how a lock, or the
// rules of a documented footprint, differ from the chart.
//
// A chart is looked for in the order: a directory beside the recipe tree, a Go
// module that it ships in, its repository (OCI or HTTP). Each source that fails
// says why. Nothing of a recipe's values is kept but their digest.
//
// It is the only package of recipes that uses Helm, runs a program or opens a
// connection.
package chart
