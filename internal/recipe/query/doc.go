// Package query addresses values in plain documents (map[string]any, []any,
// scalars): paths as text, what a path selects, and documents as flat lists of
// paths with their values.
package query
