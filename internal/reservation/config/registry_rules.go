package config

import "github.com/firstlight/firstlight/internal/diag"

var (
	ruleEmpty       = diag.Rule{Name: "no-reservations", Severity: diag.Error, Summary: "a registry without reservations", Remedy: "add at least one row to reservations"}
	ruleMissing     = diag.Rule{Name: "missing", Severity: diag.Error, Summary: "a required key is missing or empty", Remedy: "add the key"}
	ruleName        = diag.Rule{Name: "bad-name", Severity: diag.Error, Summary: "a name that is not a DNS label", Remedy: "use lower-case letters, digits and -, starting with a letter and ending with a letter or a digit, at most 63 characters: it is the name of the lease"}
	ruleSlug        = diag.Rule{Name: "bad-slug", Severity: diag.Error, Summary: "a slug that does not fit into names of clusters", Remedy: "use two to four lower-case letters and digits, starting with a letter"}
	ruleTwice       = diag.Rule{Name: "duplicate", Severity: diag.Error, Summary: "two rows with one name or slug, or two capacities with one reservation-id", Remedy: "rename one of them: leases and their clusters are found by it"}
	ruleCloud       = diag.Rule{Name: "unknown-cloud", Severity: diag.Error, Summary: "an unknown cloud", Remedy: "use aws, gcp, azure or kind"}
	ruleIntent      = diag.Rule{Name: "unknown-intent", Severity: diag.Error, Summary: "an unknown intent", Remedy: "use training or inference"}
	ruleIntentTwice = diag.Rule{Name: "duplicate-intent", Severity: diag.Error, Summary: "a row lists an intent twice", Remedy: "remove one of them: the batch would run the same cell twice"}
	ruleDaytime     = diag.Rule{Name: "daytime-twice", Severity: diag.Error, Summary: "two rows of one cloud have a daytime-intent", Remedy: "remove one of them: the rotation deploys one intent per cloud"}
	ruleText        = diag.Rule{Name: "bad-text", Severity: diag.Error, Summary: "a value with spaces, control characters or shell metacharacters", Remedy: "remove these characters: the value is printed in lines of key=value"}
	rulePath        = diag.Rule{Name: "bad-path", Severity: diag.Error, Summary: "a path that is not inside the repository", Remedy: "use a path relative to the root of the repository, with /, without . and .."}
	ruleCount       = diag.Rule{Name: "bad-count", Severity: diag.Error, Summary: "an invalid number of GPUs or nodes", Remedy: "use a number from 1 to 1000000"}
	ruleMixed       = diag.Rule{Name: "mixed-reservation", Severity: diag.Error, Summary: "rows with one reservation-id differ in cloud, accelerator or gpu-count", Remedy: "correct the row or its reservation-id: a reservation has one kind of machine in one cloud"}
	ruleCapacity    = diag.Rule{Name: "capacity", Severity: diag.Error, Summary: "rows use more of a reservation in total than it has", Remedy: "lower node-count, remove a row, or correct the capacity: all rows can be held at once"}
	ruleCapacityID  = diag.Rule{Name: "capacity-of-nothing", Severity: diag.Error, Summary: "a capacity of an unknown reservation-id", Remedy: "correct the reservation-id, or remove the capacity"}
	ruleUnstated    = diag.Rule{Name: "node-count", Severity: diag.Error, Summary: "a capacity is stated, but a row does not state its node-count", Remedy: "add node-count: the number of nodes of this lease"}
)
