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

// exitError carries an exit code with an error; a nil err exits mutely, for
// commands that have already said everything.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as bad input.
func usage(format string, args ...any) error {
	return &exitError{code: ExitUsage, err: fmt.Errorf(format, args...)}
}

// infrastructure marks an error as "could not be observed".
func infrastructure(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: ExitUnobserved, err: err}
}

// verdictExit is the mute exit of a verdict; nil for passed.
func verdictExit(v check.Verdict) error {
	switch v {
	case check.Passed, check.NotApplicable:
		return nil
	case check.Failed:
		return &exitError{code: ExitFailed}
	case check.Unobserved, check.Blocked:
		return &exitError{code: ExitUnobserved}
	default:
		return &exitError{code: ExitUnobserved}
	}
}

// exitCode decides the process's exit code. What nobody classified is bad input
// when it is a site problem, otherwise "could not be observed".
func exitCode(err error) int {
	if err == nil {
		return ExitPassed
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*site.InvalidError](err); ok {
		return ExitUsage
	}
	return ExitUnobserved
}
