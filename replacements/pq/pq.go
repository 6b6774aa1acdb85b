// Package pq stands in for the PostgreSQL driver that Helm's library imports for its
// effect: without it database/sql knows no driver "postgres", and Helm says so when a
// release is to be kept in a database.
package pq
