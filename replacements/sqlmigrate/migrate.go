// Package migrate replaces the creation of database tables that Helm's library imports. It
// refuses every migration.
package migrate

import (
	"database/sql"
	"errors"
	"time"
)

// ErrNoSQL is the error of each migration.
var ErrNoSQL = errors.New("this program is built without SQL databases: releases are not kept in them")

// MigrationDirection is up or down.
type MigrationDirection int

// Up applies migrations.
const Up MigrationDirection = 0

// Migration changes tables.
type Migration struct {
	Id       string //nolint:revive // the name that Helm uses
	Up, Down []string
}

// MemoryMigrationSource lists migrations.
type MemoryMigrationSource struct{ Migrations []*Migration }

// MigrationRecord is a migration that was applied.
type MigrationRecord struct {
	Id        string //nolint:revive // the name that Helm uses
	AppliedAt time.Time
}

// SetDisableCreateTable does nothing.
func SetDisableCreateTable(bool) {}

// GetMigrationRecords refuses.
func GetMigrationRecords(*sql.DB, string) ([]*MigrationRecord, error) { return nil, ErrNoSQL }

// Exec refuses.
func Exec(*sql.DB, string, *MemoryMigrationSource, MigrationDirection) (int, error) {
	return 0, ErrNoSQL
}
