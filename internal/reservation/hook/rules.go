package hook

import "github.com/firstlight/firstlight/internal/diag"

var (
	ruleVersion  = diag.Rule{Name: "hooks-version", Severity: diag.Error, Summary: "an unsupported version of the format", Remedy: "set apiVersion: " + APIVersion}
	ruleOwner    = diag.Rule{Name: "hooks-owner", Severity: diag.Error, Summary: "an owner that is not a valid label in every cloud", Remedy: "use lower-case letters, digits and dashes, starting with a letter, at most 32 characters"}
	ruleNoHook   = diag.Rule{Name: "hooks-none", Severity: diag.Error, Summary: "no hooks", Remedy: "add one hook per cloud"}
	ruleTwice    = diag.Rule{Name: "hook-twice", Severity: diag.Error, Summary: "a cloud has two hooks", Remedy: "remove one of them"}
	ruleCloud    = diag.Rule{Name: "hook-cloud", Severity: diag.Error, Summary: "an unknown cloud", Remedy: "use a cloud of the registry: aws, gcp, azure or kind"}
	ruleOneOf    = diag.Rule{Name: "hook-one-of", Severity: diag.Error, Summary: "a hook without exactly one of command and job", Remedy: "set command: [PROGRAM, ARG...], or job: with template and namespace"}
	ruleVariable = diag.Rule{Name: "hook-variable", Severity: diag.Error, Summary: "an invalid variable", Remedy: "use the name of an environment variable of this process; those of a Job belong to its template"}
	ruleLimit    = diag.Rule{Name: "hook-limit", Severity: diag.Error, Summary: "an invalid limit", Remedy: "use, for example, time: 60m, attempts: 3, backoff: 30s"}
	ruleTemplate = diag.Rule{Name: "hook-template", Severity: diag.Error, Summary: "a template that is not a usable Job", Remedy: "use a batch/v1 Job with one container, as in docs/hooks.md"}
)
