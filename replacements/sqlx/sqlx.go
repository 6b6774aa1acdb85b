// Package sqlx replaces the access to databases that Helm's library imports. It refuses every
// connection.
package sqlx

import (
	"database/sql"
	"errors"
)

// ErrNoSQL is the error of each connection.
var ErrNoSQL = errors.New("this program is built without SQL databases: releases are not kept in them")

// DB is never made.
type DB struct{ *sql.DB }

// Tx is never made.
type Tx struct{ *sql.Tx }

// Connect refuses.
func Connect(string, string) (*DB, error) { return nil, ErrNoSQL }

// Get refuses.
func (*DB) Get(any, string, ...any) error { return ErrNoSQL }

// Select refuses.
func (*DB) Select(any, string, ...any) error { return ErrNoSQL }

// Beginx refuses.
func (*DB) Beginx() (*Tx, error) { return nil, ErrNoSQL }

// Get refuses.
func (*Tx) Get(any, string, ...any) error { return ErrNoSQL }
