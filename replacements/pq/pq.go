// Package pq replaces the PostgreSQL driver that Helm's library imports for its side effect.
// database/sql then has no driver "postgres", and Helm returns an error if a release must be
// stored in a database.
package pq
