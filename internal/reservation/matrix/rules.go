package matrix

import "github.com/firstlight/firstlight/internal/diag"

var (
	ruleMissing  = diag.Rule{Name: "missing", Severity: diag.Error, Summary: "a key that must be there is not, or is empty", Remedy: "write it: what a night runs, and for how long, is not guessed"}
	rulePrevious = diag.Rule{Name: "bad-previous", Severity: diag.Error, Summary: "a number of releases that a night has no room for, or that there can't be", Remedy: "write how many of the newest stable releases are run, from 0 to 10"}
	ruleNothing  = diag.Rule{Name: "nothing-to-run", Severity: diag.Error, Summary: "neither the main branch nor a release is run", Remedy: "write main: true, or a number above 0 for previous; to keep the batch off a reservation, write nightly-intents: [] into its row"}
	ruleLimit    = diag.Rule{Name: "bad-limit", Severity: diag.Error, Summary: "a limit that can't be read, or makes no sense there", Remedy: "write hours and minutes, such as 2h30m; teardown-limit is a part of cell-limit"}
	ruleReleases = diag.Rule{Name: "bad-releases", Severity: diag.Error, Summary: "nothing, or two things, say which releases there are", Remedy: "write releases: {command: [...]} or releases: {file: tags.txt}; either gives one tag a line"}
	ruleText     = diag.Rule{Name: "bad-text", Severity: diag.Error, Summary: "a path or a word of a command that can't be one", Remedy: "write it without line breaks and control characters, and not empty"}
)

// Rules is the catalogue of what is checked of a batch, beside its being readable.
func Rules() []diag.Rule {
	return []diag.Rule{ruleMissing, rulePrevious, ruleNothing, ruleLimit, ruleReleases, ruleText}
}
