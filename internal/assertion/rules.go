package assertion

import "github.com/firstlight/firstlight/internal/diag"

// Problems of a Chainsaw test file.
var (
	notATest    = diag.Rule{Name: "not-a-test", Severity: diag.Error, Summary: "a document is not a Chainsaw test", Remedy: "write apiVersion: chainsaw.kyverno.io/v1alpha1 and kind: Test"}
	noOperation = diag.Rule{Name: "no-operation", Severity: diag.Error, Summary: "a test, a step or an operation is empty", Remedy: "write an assert or an error, or remove it"}
	refused     = diag.Rule{Name: "refused-operation", Severity: diag.Error, Summary: "an operation that modifies objects or needs a shell", Remedy: "remove it: a health check is read-only; use assert or error"}
	notCarried  = diag.Rule{Name: "not-carried-out", Severity: diag.Error, Summary: "an unsupported setting", Remedy: "remove it"}
	reference   = diag.Rule{Name: "reference", Severity: diag.Error, Summary: "a referenced file does not exist or cannot be read", Remedy: "correct the path; it must be relative to the file and below its directory"}
	badValue    = diag.Rule{Name: "assertion-value", Severity: diag.Error, Summary: "a value that Chainsaw would reject or ignore", Remedy: "correct the value"}
)
