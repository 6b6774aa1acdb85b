package assertion

import "github.com/firstlight/firstlight/internal/diag"

// What can be wrong with a Chainsaw test file.
var (
	notATest    = diag.Rule{Name: "not-a-test", Severity: diag.Error, Summary: "a document is no Chainsaw test", Remedy: "write apiVersion: chainsaw.kyverno.io/v1alpha1 and kind: Test"}
	noOperation = diag.Rule{Name: "no-operation", Severity: diag.Error, Summary: "a test, a step or an operation says nothing", Remedy: "write an assert or an error, or remove it"}
	refused     = diag.Rule{Name: "refused-operation", Severity: diag.Error, Summary: "an operation that changes something, or needs a shell", Remedy: "remove it: a health check only looks; what is demanded goes into an assert or an error"}
	notCarried  = diag.Rule{Name: "not-carried-out", Severity: diag.Error, Summary: "a setting that can't be followed here", Remedy: "remove it"}
	reference   = diag.Rule{Name: "reference", Severity: diag.Error, Summary: "a file that is referred to is not there, or can't be read", Remedy: "correct the path; it is relative to the file it stands in, and stays below its directory"}
	badValue    = diag.Rule{Name: "assertion-value", Severity: diag.Error, Summary: "a value that Chainsaw would refuse, or take for nothing", Remedy: "correct the value"}
)
