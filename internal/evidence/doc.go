// Package evidence stores runs on disk. A Run is one directory with the plan and the site as
// used, an append-only journal, every Observation, the verdicts, the reports and, written last,
// a manifest.
//
//	<dir>/<run id>/
//	  run.json  plan.json  site.yaml  profile.yaml  recipe.yaml (if the run has a recipe)
//	  journal.jsonl                       one entry per line, each synced
//	  observations/NNNN-<check>-<kind>-<target>.json and .raw
//	  verdicts.json  report.html  junit.xml  ctrf.json
//	  manifest.json                       sha256 and size of all files above
//	  attestation.intoto.jsonl            signature of the manifest: see package attest
//
// When a method returns, its data is synced to disk. One process at a time writes a run: the
// journal is locked. A run without a manifest is unfinished and can be resumed; a run with a
// manifest is never written again. A verdict lists its observations, and Replay derives it
// again from them alone.
//
// Credentials are redacted before data is stored: see package redact. Judges read the stored,
// redacted data.
package evidence
