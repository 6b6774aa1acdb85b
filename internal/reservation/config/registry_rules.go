package config

import "github.com/firstlight/firstlight/internal/diag"

// Rules is the catalogue of what is checked of a registry, beside its being
// readable.
func RegistryRules() []diag.Rule {
	return []diag.Rule{
		ruleEmpty, ruleMissing, ruleName, ruleSlug, ruleTwice, ruleCloud, ruleIntent, ruleIntentTwice, ruleDaytime, ruleText, rulePath, ruleCount,
		ruleMixed, ruleCapacity, ruleCapacityID, ruleUnstated,
	}
}

var (
	ruleEmpty       = diag.Rule{Name: "no-reservations", Severity: diag.Error, Summary: "a registry without reservations", Remedy: "write at least one row under reservations"}
	ruleMissing     = diag.Rule{Name: "missing", Severity: diag.Error, Summary: "a key that must be there is not, or is empty", Remedy: "write the key"}
	ruleName        = diag.Rule{Name: "bad-name", Severity: diag.Error, Summary: "a name that is no DNS label", Remedy: "write a letter, then letters, digits and -, all small, a letter or a digit at the end, 63 at most: it is the name of the lease"}
	ruleSlug        = diag.Rule{Name: "bad-slug", Severity: diag.Error, Summary: "a slug that does not fit into names of clusters", Remedy: "write two to four small letters and digits, a letter first"}
	ruleTwice       = diag.Rule{Name: "duplicate", Severity: diag.Error, Summary: "two rows have one name or one slug, or two capacities one reservation-id", Remedy: "rename one of them: a lease, and the clusters made under it, are found by it"}
	ruleCloud       = diag.Rule{Name: "unknown-cloud", Severity: diag.Error, Summary: "a cloud that is not known", Remedy: "write aws, gcp, azure or kind"}
	ruleIntent      = diag.Rule{Name: "unknown-intent", Severity: diag.Error, Summary: "an intent that is not known", Remedy: "write training or inference"}
	ruleIntentTwice = diag.Rule{Name: "duplicate-intent", Severity: diag.Error, Summary: "a row lists an intent twice", Remedy: "remove one of them: the batch would run the same cell twice"}
	ruleDaytime     = diag.Rule{Name: "daytime-twice", Severity: diag.Error, Summary: "two rows of one cloud have a daytime-intent", Remedy: "keep one of them: the rotation stands up one deployment a cloud"}
	ruleText        = diag.Rule{Name: "bad-text", Severity: diag.Error, Summary: "a value with blanks, control characters or characters that mean something to a shell in it", Remedy: "write it without: it is printed into lines of key=value"}
	rulePath        = diag.Rule{Name: "bad-path", Severity: diag.Error, Summary: "a path that is not one inside the repository", Remedy: "write it relative to the repository's root, with /, without . and .. in it"}
	ruleCount       = diag.Rule{Name: "bad-count", Severity: diag.Error, Summary: "a number of GPUs or nodes that there can't be", Remedy: "write how many there are: at least 1, at most 1000000"}
	ruleMixed       = diag.Rule{Name: "mixed-reservation", Severity: diag.Error, Summary: "rows that share a reservation-id differ in cloud, accelerator or gpu-count", Remedy: "correct the row, or its reservation-id: a reservation is of one kind of machine, in one cloud"}
	ruleCapacity    = diag.Rule{Name: "capacity", Severity: diag.Error, Summary: "rows take more of a reservation together than it has", Remedy: "lower node-count, remove a row, or correct the capacity: each row can be held while the others are"}
	ruleCapacityID  = diag.Rule{Name: "capacity-of-nothing", Severity: diag.Error, Summary: "a capacity of a reservation-id that no row has", Remedy: "correct the reservation-id, or remove the capacity"}
	ruleUnstated    = diag.Rule{Name: "node-count", Severity: diag.Error, Summary: "a capacity is stated, and a row does not say what it takes of it", Remedy: "write node-count: how many nodes the holder of this lease takes"}
)
