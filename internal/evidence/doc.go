// Package evidence holds what a walk leaves on disk: a Run is one directory
// with the plan and the site as used, an append-only journal, every
// Observation, the verdicts, the reports, and a manifest written last.
//
//	<dir>/<run id>/
//	  run.json  plan.json  site.yaml  profile.yaml  recipe.yaml (where there is one)
//	  journal.jsonl                       one entry a line, each synced
//	  observations/NNNN-<check>-<kind>-<target>.json and .raw
//	  verdicts.json  report.html  junit.xml  ctrf.json
//	  manifest.json                       sha256 and size of all the above
//	  attestation.intoto.jsonl            who vouches for the manifest: see package attest
//
// Invariants: what a method was given is on disk, synced, when it returns; one
// process writes a run (the journal is locked); a run without a manifest is
// unfinished and can be resumed; a run with one is never written again; a
// verdict names the observations it was reached from, and Replay reaches it
// again from those alone.
//
// It never reads a credential, and what looks like one in what it is handed is
// not stored: see package redact. A verdict is reached from what is stored.
package evidence
