package calendar

import "github.com/firstlight/firstlight/internal/diag"

// Rules lists the rules of the file, then those of Check.
func Rules() []diag.Rule {
	return []diag.Rule{
		ruleEmpty, ruleMissing, ruleName, ruleTwice, ruleNoDown, ruleCron, ruleZone, ruleDuration, ruleUnknownEntry,
		ruleMargin, ruleMeet, ruleNotThisYear, ruleJumped, ruleShownTwice,
	}
}
