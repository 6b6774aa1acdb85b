package cli

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

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, s Streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	started := false
	strict(root, &started)
	err := root.ExecuteContext(ctx)
	if err != nil && !started { // what cobra itself refuses: arguments, flags that exclude each other
		err = usage("%w", err)
	}
	if e, ok := errors.AsType[*exitError](err); ok && e.code == ExitPassed {
		return ExitPassed // to be ended is how it ends
	}
	if ctx.Err() != nil {
		fmt.Fprintln(s.Err, "firstlight: interrupted")
		return ExitInterrupted
	}
	if err != nil {
		if e, ok := errors.AsType[*exitError](err); !ok || e.err != nil {
			printError(s.Err, err)
		}
	}
	return exitCode(err)
}

// printError prints an error, which may quote what others wrote.
func printError(w io.Writer, err error) {
	fmt.Fprintln(w, "firstlight: "+strings.ReplaceAll(display.Escape(err.Error()), "\n", "\nfirstlight: "))
}

// Root is the whole command tree, for whoever describes or checks it.
func Root(s Streams) *cobra.Command { return newRoot(s) }

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "firstlight",
		Short: "Bring a GPU cluster from powered-on racks to its first accepted workload, and prove it",
		Long: `firstlight walks a gated bring-up playbook over a GPU cluster: facility, fabric,
node, gpustack, telemetry, collective, training, inference. A gate is passed when
its criterion was observed, never because something exited 0. It stops at the first
gate that is not passed, names the suspect and the remedy, and keeps the evidence.

Without a kubeconfig it works on the lab: a real Kubernetes control plane over
simulated hardware, on this machine, without Docker, root or a GPU.`,
		Example: `  firstlight accept                                  # walk all gates on the lab
  firstlight accept --site prod.yaml --kubeconfig k  # on a cluster of yours
  firstlight autoscale                               # prove the autoscaling chain, hop by hop
  firstlight lab up && firstlight lab fault add link-degraded gpu-02/mlx5_3
  firstlight evidence show evidence/RUN`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w\nsee: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		newAccept(s), newAutoscale(s), newRecipe(s), newValidate(s), newReservation(s), newPlan(s), newSite(s), newEvidence(s), newLab(s), newVersion(s),
	)
	return root
}

// strict makes every command group answer an unknown subcommand with what
// there is, and notes in started that a command was begun.
func strict(cmd *cobra.Command, started *bool) {
	for _, c := range cmd.Commands() {
		strict(c, started)
	}
	if cmd.HasSubCommands() && cmd.RunE == nil {
		cmd.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help() //nolint:wrapcheck // writes to our own stream
			}
			return usage("unknown command %q for %q\nsee: %s --help", args[0], c.CommandPath(), c.CommandPath())
		}
		cmd.Args = cobra.ArbitraryArgs
		return
	}
	check, run := cmd.Args, cmd.RunE
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usage("%w\nsee: %s --help", err, c.CommandPath())
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
