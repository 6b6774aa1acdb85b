package matrix

import "github.com/firstlight/firstlight/internal/diag"

var (
	rulePrevious = diag.Rule{Name: "bad-previous", Severity: diag.Error, Summary: "an invalid number of releases", Remedy: "use the number of newest stable releases to run, from 0 to 10"}
	ruleNothing  = diag.Rule{Name: "nothing-to-run", Severity: diag.Error, Summary: "neither the main branch nor a release is selected", Remedy: "set main: true, or previous above 0; to skip a reservation, set nightly-intents: [] in its row"}
	ruleLimit    = diag.Rule{Name: "bad-limit", Severity: diag.Error, Summary: "an invalid limit", Remedy: "use hours and minutes, such as 2h30m; teardown-limit is a part of cell-limit"}
	ruleReleases = diag.Rule{Name: "bad-releases", Severity: diag.Error, Summary: "no source of releases, or two", Remedy: "use releases: {command: [...]} or releases: {file: tags.txt}, with one tag per line"}
	ruleText     = diag.Rule{Name: "bad-text", Severity: diag.Error, Summary: "an invalid path or word of a command", Remedy: "use a non-empty value without line breaks and control characters"}
)
