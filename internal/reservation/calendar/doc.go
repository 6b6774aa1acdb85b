// Package calendar computes the times of the rotation: when deployments for people start and end,
// and when the nightly batch runs. schedule.yaml has named entries, each a cron expression in a
// time zone with a window (the longest duration), and the margins between them.
//
// The action of an entry says what it does; nothing compares cron expressions. A time that the
// clock skips occurs at the change; a time that the clock repeats occurs once, the first time.
// Both are reported in Occurrence.ClockChange.
//
// Check verifies the margins, and that days and nights do not overlap, for every occurrence of a
// year. The package does no I/O but Load and never reads the clock. The time zone database is part
// of the binary.
package calendar
