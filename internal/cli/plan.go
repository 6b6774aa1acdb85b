package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func newPlan(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print the gates, what each needs, claims and would run, without touching anything",
		Example: `  firstlight plan --site prod.yaml
  firstlight plan --rbac | kubectl apply -f -   # what a walk needs to be allowed`,
	}
	path := cmd.Flags().String("site", "", "site file; without one, the lab's default")
	include := cmd.Flags().StringSlice("include", nil, "what accept is to include beside the gates: "+strings.Join(gate.Extras(), ", "))
	rbac := cmd.Flags().Bool("rbac", false, "print the RBAC that a walk needs which makes its own namespace, as YAML (less: accept rbac --namespace)")
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		site, profile, err := planSite(cmd.Context(), *path)
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
			return usage("%w", err)
		}
		described, err := evidence.DescribePlan(p)
		if err != nil {
			return usage("%w", err)
		}
		return out.write(s.Out, described, func(w io.Writer) error { return printPlan(w, described) })
	}
	return cmd
}

// planSite is the site asked for, that of the lab that is up, or the example.
func planSite(ctx context.Context, path string) (*site.Site, *profile.Profile, error) {
	if path == "" {
		if h, err := lab.Attach(ctx, lab.DefaultName); err == nil {
			path = h.Dir + string(os.PathSeparator) + embedded.SiteFile
		}
	}
	var loaded *site.Site
	var err error
	if path == "" {
		loaded, err = embedded.DefaultSite()
	} else {
		loaded, err = site.Load(path)
	}
	if err != nil {
		return nil, nil, usage("%w", err)
	}
	p, err := profile.Load(loaded.Profile)
	if err != nil {
		return nil, nil, usage("%w", err)
	}
	return loaded, p, nil
}

func printPlan(w io.Writer, p evidence.PlanFile) error {
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
			fmt.Fprintf(w, "   claims  %d GPUs\n", step.GPUs)
		}
		for _, prepare := range step.Prepare {
			fmt.Fprintf(w, "   prepare %s\n", prepare)
		}
		for _, line := range step.Describe {
			fmt.Fprintf(w, "   runs    %s\n", line)
		}
	}
	return nil
}
