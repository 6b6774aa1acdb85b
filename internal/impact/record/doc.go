// Package record stores the results of a commit's scheduling test: one file for each shard,
// DIR/COMMIT/schedule-SHARD.json, or one for all, DIR/COMMIT/schedule.json. Results of checks
// on real hardware are in DIR/COMMIT/runtime/.
//
// A record identifies what was tested by digest and holds the verdicts. It does not prove that
// everything required was tested: readers compare it with a plan (package summarize) or with
// the recipes of the commit (package promote).
package record
