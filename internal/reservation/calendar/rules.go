package calendar

import "github.com/firstlight/firstlight/internal/recipe/problem"

// Rules is the catalogue: what is checked of a file beside its being readable,
// then what Check finds in a year of it.
func Rules() []problem.Rule {
	return []problem.Rule{
		ruleEmpty, ruleMissing, ruleName, ruleTwice, ruleAction, ruleNoDown, ruleCron, ruleZone, ruleDuration, ruleUnknownEntry, ruleCountedFrom,
		ruleMargin, ruleMeet, ruleNotThisYear, ruleJumped, ruleShownTwice,
	}
}

// What can be wrong with a file.
var (
	ruleEmpty        = problem.Rule{Name: "empty", Severity: problem.Error, Summary: "a schedule without entries or without margins", Remedy: "write at least one: where nothing is stated, nothing can be checked"}
	ruleMissing      = problem.Rule{Name: "missing", Severity: problem.Error, Summary: "a key that must be there is not, or is empty", Remedy: "write it"}
	ruleName         = problem.Rule{Name: "bad-name", Severity: problem.Error, Summary: "a name of an entry that is no DNS label", Remedy: "write a letter, then letters, digits and -, all small, a letter or a digit at the end, 63 at most"}
	ruleTwice        = problem.Rule{Name: "duplicate", Severity: problem.Error, Summary: "two entries have one name, or two margins are between the same two, counted alike", Remedy: "keep one of them, or rename it"}
	ruleAction       = problem.Rule{Name: "unknown-action", Severity: problem.Error, Summary: "an action that there is not", Remedy: "write up, down or batch"}
	ruleNoDown       = problem.Rule{Name: "no-down", Severity: problem.Error, Summary: "an entry stands deployments up, and none tears them down", Remedy: "add an entry with action: down"}
	ruleCron         = problem.Rule{Name: "bad-cron", Severity: problem.Error, Summary: "a cron expression that can't be read, never occurs, or occurs too often", Remedy: "write minute, hour, day of the month, month, day of the week, in quotes: \"0 15 * * 1-5\""}
	ruleZone         = problem.Rule{Name: "bad-zone", Severity: problem.Error, Summary: "a time zone that there is not", Remedy: "write a name of the time zone database, such as UTC, Europe/Berlin or America/New_York"}
	ruleDuration     = problem.Rule{Name: "bad-duration", Severity: problem.Error, Summary: "a duration that can't be read, or makes no sense there", Remedy: "write hours and minutes, such as 2h or 5h50m, at most 168h; a window is longer than nothing"}
	ruleUnknownEntry = problem.Rule{Name: "unknown-entry", Severity: problem.Error, Summary: "a margin of an entry that there is not", Remedy: "correct the name, or add the entry"}
	ruleCountedFrom  = problem.Rule{Name: "bad-counted-from", Severity: problem.Error, Summary: "counted-from is neither start nor end", Remedy: "write start, or end: where the window ends, which is also what it means when it is left out"}
)

// What can be wrong with a year.
var (
	ruleMargin      = problem.Rule{Name: "margin", Severity: problem.Error, Summary: "two entries come closer to each other than their margin", Remedy: "move one of the entries, shorten the window, or put both into one time zone"}
	ruleMeet        = problem.Rule{Name: "meet", Severity: problem.Error, Summary: "a batch runs while people have the reservations, or while another batch does", Remedy: "move one of the entries, or shorten the batch's window"}
	ruleNotThisYear = problem.Rule{Name: "not-this-year", Severity: problem.Error, Summary: "an entry does not occur in the year: nothing was checked of it", Remedy: "correct its cron expression, or remove the entry"}
	ruleJumped      = problem.Rule{Name: "time-jumped-over", Severity: problem.Warning, Summary: "an entry's time is one that the clock jumps over", Remedy: "nothing has to be done: on that day it occurs when the clock has jumped; to have it at its time on every day, move it out of the hour of the change, or to UTC"}
	ruleShownTwice  = problem.Rule{Name: "time-shown-twice", Severity: problem.Warning, Summary: "an entry's time is one that the clock shows twice", Remedy: "nothing has to be done: on that day it occurs the first time, and once; to have no doubt about it, move it out of the hour of the change, or to UTC"}
)
