package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/display"
)

// Streams are the process's standard streams.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Execute runs one command line, prints its error and returns the exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, s Streams) int {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return UsageErrorf("%w\nsee: %s --help", err, cmd.CommandPath())
	})
	root.SetArgs(args)
	started := false
	strict(root, &started)
	err := root.ExecuteContext(ctx)
	if err != nil && !started { // cobra's own errors: arguments, mutually exclusive flags
		err = UsageErrorf("%w", err)
	}
	exit, isExit := errors.AsType[*ExitError](err)
	if isExit && exit.Code == ExitPassed {
		return ExitPassed // a controller that was stopped by a signal
	}
	if ctx.Err() != nil {
		fmt.Fprintln(s.Err, "firstlight: interrupted")
		return ExitInterrupted
	}
	if err != nil && (!isExit || exit.Err != nil) {
		PrintError(s.Err, err)
	}
	return ExitCode(err)
}

// PrintError prints an error. Control characters in quoted text are escaped.
func PrintError(w io.Writer, err error) {
	fmt.Fprintln(w, "firstlight: "+strings.ReplaceAll(display.Escape(err.Error()), "\n", "\nfirstlight: "))
}

// strict makes every command group refuse unknown subcommands, and sets started when a
// command begins to run.
func strict(cmd *cobra.Command, started *bool) {
	for _, c := range cmd.Commands() {
		strict(c, started)
	}
	if cmd.HasSubCommands() && cmd.RunE == nil {
		cmd.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return UsageErrorf("unknown command %q for %q\nsee: %s --help", args[0], c.CommandPath(), c.CommandPath())
		}
		cmd.Args = cobra.ArbitraryArgs
		return
	}
	validate, run := cmd.Args, cmd.RunE
	if validate == nil {
		validate = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		if err := validate(c, args); err != nil {
			return UsageErrorf("%w\nsee: %s --help", err, c.CommandPath())
		}
		return nil
	}
	if run != nil {
		cmd.RunE = func(c *cobra.Command, args []string) error {
			*started = true
			return run(c, args)
		}
	}
}
