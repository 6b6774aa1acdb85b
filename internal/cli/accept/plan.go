package accept

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate"
)

// NewPlan is the command plan.
func NewPlan(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print each gate with its needs, GPU claims and commands, without running it",
		Example: `  # Print what accept would run
  firstlight plan --site prod.yaml

  # Create the roles that accept needs
  firstlight plan --rbac | kubectl apply -f -`,
	}
	path := cmd.Flags().String("site", "", "site file (default: that of the lab)")
	include := cmd.Flags().StringSlice("include", nil, "checks to run in addition to the gates: "+strings.Join(gate.Extras(), ", "))
	rbac := cmd.Flags().Bool("rbac", false, "print the RBAC of a run that creates its own namespace, as YAML (accept rbac --namespace needs less)")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		site, profile, err := cmdutil.OpenSite(cmd.Context(), *path)
		if err != nil {
			return err
		}
		if *rbac {
			gates, err := selectedGates(site, "", *include)
			if err != nil {
				return err
			}
			return printRBAC(s, site, gate.Allowed{Gates: gates})
		}
		p, err := gate.Playbook(site, profile, gate.Access{}, *include...)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		described, err := evidence.DescribePlan(p)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		return out.Write(s.Out, described, func(w io.Writer) { printPlan(w, described) })
	}
	return cmd
}

func printPlan(w io.Writer, p evidence.PlanFile) {
	fmt.Fprintf(w, "%s\n", p.Name)
	for i, step := range p.Steps {
		fmt.Fprintf(w, "\n%d  %s\n", i+1, step.Name)
		if step.NotApplicable != "" {
			fmt.Fprintf(w, "   not applicable: %s\n", step.NotApplicable)
			continue
		}
		if len(step.Needs) > 0 {
			fmt.Fprintf(w, "   needs   %s\n", strings.Join(step.Needs, ", "))
		}
		if step.GPUs > 0 {
			fmt.Fprintf(w, "   claims  %s\n", cmdutil.Count(step.GPUs, "GPU"))
		}
		for _, prepare := range step.Prepare {
			fmt.Fprintf(w, "   prepare %s\n", prepare)
		}
		for _, line := range step.Describe {
			fmt.Fprintf(w, "   runs    %s\n", line)
		}
	}
}
