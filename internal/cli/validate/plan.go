package validate

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func newValidatePlan(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print the steps of an intent in the order in which they are taken, and why",
		Long: `plan prints the steps of an intent in an order that is proved possible on the GPUs that
there are: steps say what they need and which GPUs they claim, and a claim that is held
until the end is not there for a later step. An order that is asked for is proved, too,
and refused with the step, the claim and the count that are in its way.

Nothing is touched. Exit codes: 0 there is an order; 2 there is none, or not the one
that was asked for.`,
		Example: `  firstlight validate plan --intent inference
  firstlight validate plan --intent inference --gpus 1 -o json
  firstlight validate plan --intent training --site prod.yaml
  firstlight validate plan --intent training --order snapshot,resources,autoscaling,health,intent,conformance,artifacts`,
		Args: cobra.NoArgs,
	}
	intent := addIntent(cmd)
	path := cmd.Flags().String("site", "", "site file; without one, the lab's default")
	gpus := cmd.Flags().Int("gpus", 0, "GPUs that there are (default: those of the site)")
	asked := cmd.Flags().StringSlice("order", nil, "order of the steps to prove, instead of deriving one")
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		want, err := intentOf(*intent)
		if err != nil {
			return err
		}
		total := *gpus
		if !cmd.Flags().Changed("gpus") {
			s, p, err := planSite(cmd.Context(), *path)
			if err != nil {
				return err
			}
			total = gpusOf(s, p)
		}
		o, err := orderOf(want, total, *asked)
		if err != nil {
			return err
		}
		return out.write(s.Out, o, func(w io.Writer) error { return printOrder(w, o) })
	}
	return cmd
}

// gpusOf a site: what its profile has on each node of its inventory.
func gpusOf(s *site.Site, p *profile.Profile) int {
	return int(p.Node.GPUs.Value) * len(s.Inventory.Nodes)
}

// orderOf is the order that is asked for, or else the one that follows from needs and
// claims.
func orderOf(intent pipeline.Intent, gpus int, asked []string) (pipeline.Order, error) {
	steps, err := pipeline.Steps()
	if err != nil {
		return pipeline.Order{}, infrastructure(err)
	}
	var o pipeline.Order
	if len(asked) > 0 {
		o, err = pipeline.Asked(steps, intent, gpus, asked)
	} else {
		o, err = pipeline.Derive(steps, intent, gpus)
	}
	if err != nil {
		return pipeline.Order{}, usage("%w", err)
	}
	return o, nil
}

func printOrder(w io.Writer, o pipeline.Order) error {
	fmt.Fprintf(w, "validation for %s on %s\n", o.Intent, pipeline.Count(o.GPUs))
	for i, step := range o.Steps {
		fmt.Fprintf(w, "\n%d  %s: %s\n", i+1, step.Name, step.Title)
		fmt.Fprintf(w, "   proves   %s\n", step.Proves)
		fmt.Fprintf(w, "   because  %s\n", step.Because)
		if own := o.Needs(step); len(own) > 0 {
			fmt.Fprintf(w, "   needs    %s\n", strings.Join(own, ", "))
		}
		for _, c := range step.Claims {
			held := "gives them back"
			if c.Holds {
				held = "holds until the end"
			}
			fmt.Fprintf(w, "   claims   %s through %s for %s, %s\n", pipeline.Count(c.GPUs), c.Through, c.Check, held)
		}
	}
	for i, m := range o.Moved {
		if i == 0 {
			fmt.Fprintf(w, "\nnot in the order in which they are declared:\n")
		}
		fmt.Fprintf(w, "  %s\n", m)
	}
	return nil
}
