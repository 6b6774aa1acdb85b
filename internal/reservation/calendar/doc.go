// Package calendar is the one place for the times of the rotation: when
// deployments for people are stood up and torn down, and when the nightly batch
// runs. The file, schedule.yaml, has named entries, each a cron expression in a
// time zone with a window (how long it may take), and the margins that have to be
// between them.
//
// What an entry does is its action, not its time: nothing compares cron
// expressions, here or elsewhere. An entry is a time on the clock of its zone.
// Where the clock jumps over it, it occurs when the clock has jumped; where the
// clock shows it twice, it occurs the first time, and once. Both are said
// (Occurrence.Clock).
//
// Check holds the margins, and that days and nights do not meet, for every
// occurrence of a year. The package does no I/O but Load, and never asks what
// time it is. Time zones come with the binary where the machine has none.
package calendar
