package assertion

import "github.com/firstlight/firstlight/internal/recipe/problem"

// What can be wrong with a Chainsaw test file.
var (
	notATest    = problem.Rule{Name: "not-a-test", Severity: problem.Error, Summary: "a document is no Chainsaw test", Remedy: "write apiVersion: chainsaw.kyverno.io/v1alpha1 and kind: Test"}
	noOperation = problem.Rule{Name: "no-operation", Severity: problem.Error, Summary: "a test, a step or an operation says nothing", Remedy: "write an assert or an error, or remove it"}
	refused     = problem.Rule{Name: "refused-operation", Severity: problem.Error, Summary: "an operation that changes something, or needs a shell", Remedy: "remove it: a health check only looks; what is demanded goes into an assert or an error"}
	notCarried  = problem.Rule{Name: "not-carried-out", Severity: problem.Error, Summary: "a setting that can't be followed here", Remedy: "remove it"}
	reference   = problem.Rule{Name: "reference", Severity: problem.Error, Summary: "a file that is referred to is not there, or can't be read", Remedy: "correct the path; it is relative to the file it stands in, and stays below its directory"}
	badValue    = problem.Rule{Name: "assertion-value", Severity: problem.Error, Summary: "a value that Chainsaw would refuse, or take for nothing", Remedy: "correct the value"}
)
