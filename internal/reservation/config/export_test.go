package config

import "github.com/firstlight/firstlight/internal/diag"

// CompatRules lists the rules of Compat.Validate.
func CompatRules() []diag.Rule {
	return []diag.Rule{ruleCompatMissing, ruleCompatLane, ruleCompatIntent, ruleCompatRelease, ruleCompatTwice}
}

// RegistryRules lists the rules of Registry.Validate.
func RegistryRules() []diag.Rule {
	return []diag.Rule{
		ruleEmpty, ruleMissing, ruleName, ruleSlug, ruleTwice, ruleCloud, ruleIntent, ruleIntentTwice, ruleDaytime, ruleText, rulePath, ruleCount,
		ruleMixed, ruleCapacity, ruleCapacityID, ruleUnstated,
	}
}
