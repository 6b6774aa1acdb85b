package hook

import "github.com/firstlight/firstlight/internal/recipe/problem"

var (
	ruleVersion  = problem.Rule{Name: "hooks-version", Severity: problem.Error, Summary: "a version of the format that is not this one", Remedy: "write apiVersion: " + APIVersion}
	ruleOwner    = problem.Rule{Name: "hooks-owner", Severity: problem.Error, Summary: "an owner that can't be a label everywhere", Remedy: "write lower-case letters, digits and dashes, a letter first, at most 32"}
	ruleNoHook   = problem.Rule{Name: "hooks-none", Severity: problem.Error, Summary: "no hooks", Remedy: "write one entry a cloud"}
	ruleTwice    = problem.Rule{Name: "hook-twice", Severity: problem.Error, Summary: "a cloud has two hooks", Remedy: "keep one of them"}
	ruleCloud    = problem.Rule{Name: "hook-cloud", Severity: problem.Error, Summary: "a cloud that is not known", Remedy: "write a cloud of the registry: aws, gcp, azure or kind"}
	ruleOneOf    = problem.Rule{Name: "hook-one-of", Severity: problem.Error, Summary: "a hook is not exactly one of a command and a Job", Remedy: "write command: [PROGRAM, ARG...], or job: with template and namespace"}
	ruleVariable = problem.Rule{Name: "hook-variable", Severity: problem.Error, Summary: "a variable that can't be handed on", Remedy: "name a variable of this process's environment; a Job's are written into its template"}
	ruleLimit    = problem.Rule{Name: "hook-limit", Severity: problem.Error, Summary: "a limit that can't be", Remedy: "write, for example, time: 60m, attempts: 3, backoff: 30s"}
	ruleTemplate = problem.Rule{Name: "hook-template", Severity: problem.Error, Summary: "a template that is no usable Job", Remedy: "write a batch/v1 Job with one container, as docs/hooks.md shows"}
)

// Rules is the catalogue of what is checked of a configuration, beside its being readable.
func Rules() []problem.Rule {
	return []problem.Rule{ruleVersion, ruleOwner, ruleNoHook, ruleTwice, ruleCloud, ruleOneOf, ruleVariable, ruleLimit, ruleTemplate}
}
