// Package errors is imported by tests of Helm's library, which are not built here.
package errors
