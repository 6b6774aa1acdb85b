package validate

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/pipeline"
)

func newPlan(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print the steps of an intent in order, with the reason for the order",
		Long: `Print the steps of an intent in an order that is proved possible on the available GPUs.
Steps state what they need and which GPUs they claim; a claim that is held until the end
is not available to a later step. An order given with --order is proved too, and refused
with the step, the claim and the count that make it impossible.

Nothing is run. Exit codes: 0 an order exists; 2 none exists, or the given one is
impossible.`,
		Example: `  # Print the order for inference
  firstlight validate plan --intent inference

  # Print the order on one GPU as JSON
  firstlight validate plan --intent inference --gpus 1 -o json

  # Prove another order
  firstlight validate plan --intent training --order snapshot,resources,autoscaling,health,intent,conformance,artifacts`,
		Args: cobra.NoArgs,
	}
	var f orderFlags
	f.add(cmd)
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := f.parse(cmd.Context(), cmd.Flags().Changed)
		if err != nil {
			return err
		}
		return out.Write(s.Out, o, func(w io.Writer) { printOrder(w, o) })
	}
	return cmd
}

func printOrder(w io.Writer, o pipeline.Order) {
	fmt.Fprintf(w, "validation for %s on %s\n", o.Intent, pipeline.Count(o.GPUs))
	for i, step := range o.Steps {
		fmt.Fprintf(w, "\n%d  %s: %s\n", i+1, step.Name, step.Title)
		fmt.Fprintf(w, "   proves   %s\n", step.Proves)
		fmt.Fprintf(w, "   because  %s\n", step.Because)
		if needs := o.Needs(step); len(needs) > 0 {
			fmt.Fprintf(w, "   needs    %s\n", strings.Join(needs, ", "))
		}
		for _, c := range step.Claims {
			release := "releases them"
			if c.Holds {
				release = "holds them until the end"
			}
			fmt.Fprintf(w, "   claims   %s through %s for %s, %s\n", pipeline.Count(c.GPUs), c.Through, c.Check, release)
		}
	}
	for i, m := range o.Moved {
		if i == 0 {
			fmt.Fprintf(w, "\nthe declared order is impossible:\n")
		}
		fmt.Fprintf(w, "  %s\n", m)
	}
}
