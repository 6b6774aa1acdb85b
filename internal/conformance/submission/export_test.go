package submission

import "github.com/firstlight/firstlight/internal/diag"

// Rules lists the rules of Validate: the program's rules first, then the rules of
// firstlight. Rules for unreadable files are in package diag.
func Rules() []diag.Rule {
	return []diag.Rule{
		ruleMetadata, rulePlaceholder, ruleText, ruleLogo, ruleConformance, ruleMember, ruleCategory, ruleRequirement, ruleStatus, ruleMust, ruleNotes, ruleFile, ruleURL,
		ruleEdited, ruleExtra, ruleNoEvidence, ruleTwice, ruleKeyTwice, ruleAddress, ruleVersion, ruleLayout, ruleFileLink, ruleOutside, ruleDraft,
	}
}
