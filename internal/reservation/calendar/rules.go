package calendar

import "github.com/firstlight/firstlight/internal/diag"

// Problems of a file.
var (
	ruleEmpty        = diag.Rule{Name: "empty", Severity: diag.Error, Summary: "a schedule without entries or without margins", Remedy: "add at least one: without it nothing can be checked"}
	ruleMissing      = diag.Rule{Name: "missing", Severity: diag.Error, Summary: "a required key is missing or empty", Remedy: "add the key"}
	ruleName         = diag.Rule{Name: "bad-name", Severity: diag.Error, Summary: "a name of an entry that is not a DNS label", Remedy: "use lower-case letters, digits and -, starting with a letter and ending with a letter or a digit, at most 63 characters"}
	ruleTwice        = diag.Rule{Name: "duplicate", Severity: diag.Error, Summary: "two entries with one name, or two margins between the same entries, counted alike", Remedy: "remove or rename one of them"}
	ruleNoDown       = diag.Rule{Name: "no-down", Severity: diag.Error, Summary: "an entry starts deployments, and none ends them", Remedy: "add an entry with action: down"}
	ruleCron         = diag.Rule{Name: "bad-cron", Severity: diag.Error, Summary: "a cron expression that is invalid, never occurs, or occurs too often", Remedy: "use minute, hour, day of the month, month, day of the week, in quotes: \"0 15 * * 1-5\""}
	ruleZone         = diag.Rule{Name: "bad-zone", Severity: diag.Error, Summary: "an unknown time zone", Remedy: "use a name of the time zone database, such as UTC, Europe/Berlin or America/New_York"}
	ruleDuration     = diag.Rule{Name: "bad-duration", Severity: diag.Error, Summary: "an invalid duration", Remedy: "use hours and minutes, such as 2h or 5h50m, at most 168h; a window must be positive"}
	ruleUnknownEntry = diag.Rule{Name: "unknown-entry", Severity: diag.Error, Summary: "a margin of an unknown entry", Remedy: "correct the name, or add the entry"}
)

// Problems of a year.
var (
	ruleMargin      = diag.Rule{Name: "margin", Severity: diag.Error, Summary: "two entries are closer than their margin", Remedy: "move one of the entries, shorten the window, or use one time zone for both"}
	ruleMeet        = diag.Rule{Name: "meet", Severity: diag.Error, Summary: "a batch overlaps with a day or with another batch", Remedy: "move one of the entries, or shorten the window of the batch"}
	ruleNotThisYear = diag.Rule{Name: "not-this-year", Severity: diag.Error, Summary: "an entry has no occurrence in the year, so it was not checked", Remedy: "correct its cron expression, or remove the entry"}
	ruleJumped      = diag.Rule{Name: "time-jumped-over", Severity: diag.Warning, Summary: "the clock skips the time of an entry", Remedy: "no action needed: on that day it occurs when the clock changes; for the same time on every day, move it out of the hour of the change, or to UTC"}
	ruleShownTwice  = diag.Rule{Name: "time-shown-twice", Severity: diag.Warning, Summary: "the clock repeats the time of an entry", Remedy: "no action needed: on that day it occurs once, the first time; to avoid doubt, move it out of the hour of the change, or to UTC"}
)
