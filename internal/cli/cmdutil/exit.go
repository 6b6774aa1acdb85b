package cmdutil

import (
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

// Exit codes.
const (
	ExitPassed      = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitUnobserved  = 3
	ExitInterrupted = 130
)

// ExitError carries an exit code. Without Err nothing is printed: the command has already
// written its result.
type ExitError struct {
	Code int
	Err  error
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *ExitError) Unwrap() error { return e.Err }

// UsageErrorf formats an error that exits with ExitUsage.
func UsageErrorf(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// Unobserved makes err exit with ExitUnobserved; nil stays nil.
func Unobserved(err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{Code: ExitUnobserved, Err: err}
}

// VerdictError is the exit code of a verdict, without a message; nil for passed, partial (the
// user has allowed it) and not applicable.
func VerdictError(v check.Verdict) error {
	switch v {
	case check.Passed, check.Partial, check.NotApplicable:
		return nil
	case check.Failed:
		return &ExitError{Code: ExitFailed}
	default:
		return &ExitError{Code: ExitUnobserved}
	}
}

// ExitCode is the exit code of a command's error. An error without a code exits with
// ExitUsage if it is an invalid site file, else with ExitUnobserved.
func ExitCode(err error) int {
	if err == nil {
		return ExitPassed
	}
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	if _, ok := errors.AsType[*site.InvalidError](err); ok {
		return ExitUsage
	}
	return ExitUnobserved
}
