// Package record is what is kept of a commit's scheduling test: one file for each
// shard, DIR/COMMIT/schedule-SHARD.json, or one for all, DIR/COMMIT/schedule.json;
// beside them, in DIR/COMMIT/runtime/, what checks on real hardware came to.
//
// A record says what was tested, by digest, and what came of it. It does not say that
// this is all that had to be tested: who reads it finds that out by himself.
package record
