// Package query addresses values in plain documents (map[string]any, []any, scalars): paths as
// text, selection by path, and flattening of documents to lists of paths with values.
package query
