package calendar

import "github.com/firstlight/firstlight/internal/diag"

// Rules is the catalogue: what is checked of a file beside its being readable,
// then what Check finds in a year of it.
func Rules() []diag.Rule {
	return []diag.Rule{
		ruleEmpty, ruleMissing, ruleName, ruleTwice, ruleAction, ruleNoDown, ruleCron, ruleZone, ruleDuration, ruleUnknownEntry, ruleCountedFrom,
		ruleMargin, ruleMeet, ruleNotThisYear, ruleJumped, ruleShownTwice,
	}
}

// What can be wrong with a file.
var (
	ruleEmpty        = diag.Rule{Name: "empty", Severity: diag.Error, Summary: "a schedule without entries or without margins", Remedy: "write at least one: where nothing is stated, nothing can be checked"}
	ruleMissing      = diag.Rule{Name: "missing", Severity: diag.Error, Summary: "a key that must be there is not, or is empty", Remedy: "write it"}
	ruleName         = diag.Rule{Name: "bad-name", Severity: diag.Error, Summary: "a name of an entry that is no DNS label", Remedy: "write a letter, then letters, digits and -, all small, a letter or a digit at the end, 63 at most"}
	ruleTwice        = diag.Rule{Name: "duplicate", Severity: diag.Error, Summary: "two entries have one name, or two margins are between the same two, counted alike", Remedy: "keep one of them, or rename it"}
	ruleAction       = diag.Rule{Name: "unknown-action", Severity: diag.Error, Summary: "an action that there is not", Remedy: "write up, down or batch"}
	ruleNoDown       = diag.Rule{Name: "no-down", Severity: diag.Error, Summary: "an entry stands deployments up, and none tears them down", Remedy: "add an entry with action: down"}
	ruleCron         = diag.Rule{Name: "bad-cron", Severity: diag.Error, Summary: "a cron expression that can't be read, never occurs, or occurs too often", Remedy: "write minute, hour, day of the month, month, day of the week, in quotes: \"0 15 * * 1-5\""}
	ruleZone         = diag.Rule{Name: "bad-zone", Severity: diag.Error, Summary: "a time zone that there is not", Remedy: "write a name of the time zone database, such as UTC, Europe/Berlin or America/New_York"}
	ruleDuration     = diag.Rule{Name: "bad-duration", Severity: diag.Error, Summary: "a duration that can't be read, or makes no sense there", Remedy: "write hours and minutes, such as 2h or 5h50m, at most 168h; a window is longer than nothing"}
	ruleUnknownEntry = diag.Rule{Name: "unknown-entry", Severity: diag.Error, Summary: "a margin of an entry that there is not", Remedy: "correct the name, or add the entry"}
	ruleCountedFrom  = diag.Rule{Name: "bad-counted-from", Severity: diag.Error, Summary: "counted-from is neither start nor end", Remedy: "write start, or end: where the window ends, which is also what it means when it is left out"}
)

// What can be wrong with a year.
var (
	ruleMargin      = diag.Rule{Name: "margin", Severity: diag.Error, Summary: "two entries come closer to each other than their margin", Remedy: "move one of the entries, shorten the window, or put both into one time zone"}
	ruleMeet        = diag.Rule{Name: "meet", Severity: diag.Error, Summary: "a batch runs while people have the reservations, or while another batch does", Remedy: "move one of the entries, or shorten the batch's window"}
	ruleNotThisYear = diag.Rule{Name: "not-this-year", Severity: diag.Error, Summary: "an entry does not occur in the year: nothing was checked of it", Remedy: "correct its cron expression, or remove the entry"}
	ruleJumped      = diag.Rule{Name: "time-jumped-over", Severity: diag.Warning, Summary: "an entry's time is one that the clock jumps over", Remedy: "nothing has to be done: on that day it occurs when the clock has jumped; to have it at its time on every day, move it out of the hour of the change, or to UTC"}
	ruleShownTwice  = diag.Rule{Name: "time-shown-twice", Severity: diag.Warning, Summary: "an entry's time is one that the clock shows twice", Remedy: "nothing has to be done: on that day it occurs the first time, and once; to have no doubt about it, move it out of the hour of the change, or to UTC"}
)
