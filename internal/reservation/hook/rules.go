package hook

import "github.com/firstlight/firstlight/internal/diag"

var (
	ruleVersion  = diag.Rule{Name: "hooks-version", Severity: diag.Error, Summary: "a version of the format that is not this one", Remedy: "write apiVersion: " + APIVersion}
	ruleOwner    = diag.Rule{Name: "hooks-owner", Severity: diag.Error, Summary: "an owner that can't be a label everywhere", Remedy: "write lower-case letters, digits and dashes, a letter first, at most 32"}
	ruleNoHook   = diag.Rule{Name: "hooks-none", Severity: diag.Error, Summary: "no hooks", Remedy: "write one entry a cloud"}
	ruleTwice    = diag.Rule{Name: "hook-twice", Severity: diag.Error, Summary: "a cloud has two hooks", Remedy: "keep one of them"}
	ruleCloud    = diag.Rule{Name: "hook-cloud", Severity: diag.Error, Summary: "a cloud that is not known", Remedy: "write a cloud of the registry: aws, gcp, azure or kind"}
	ruleOneOf    = diag.Rule{Name: "hook-one-of", Severity: diag.Error, Summary: "a hook is not exactly one of a command and a Job", Remedy: "write command: [PROGRAM, ARG...], or job: with template and namespace"}
	ruleVariable = diag.Rule{Name: "hook-variable", Severity: diag.Error, Summary: "a variable that can't be handed on", Remedy: "name a variable of this process's environment; a Job's are written into its template"}
	ruleLimit    = diag.Rule{Name: "hook-limit", Severity: diag.Error, Summary: "a limit that can't be", Remedy: "write, for example, time: 60m, attempts: 3, backoff: 30s"}
	ruleTemplate = diag.Rule{Name: "hook-template", Severity: diag.Error, Summary: "a template that is no usable Job", Remedy: "write a batch/v1 Job with one container, as docs/hooks.md shows"}
)

// Rules is the catalogue of what is checked of a configuration, beside its being readable.
func Rules() []diag.Rule {
	return []diag.Rule{ruleVersion, ruleOwner, ruleNoHook, ruleTwice, ruleCloud, ruleOneOf, ruleVariable, ruleLimit, ruleTemplate}
}
