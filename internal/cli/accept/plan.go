package accept

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/capacity"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// NewPlan is the command plan.
func NewPlan(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print each gate with its needs, GPU claims and commands, without running it",
		Example: `  # Print what accept would run
  firstlight plan --site prod.yaml

  # Print what accept would run on this machine, without Kubernetes
  firstlight plan --spine single-node

  # Print what accept --add would run, with all other nodes of the site accepted
  firstlight plan --site prod.yaml --add nodes.yaml

  # Print what accept would run on a Slurm cluster
  firstlight plan --spine slurm --site prod.yaml

  # Print what accept would run on a RayCluster
  firstlight plan --spine ray

  # Print what accept would run on a k3s cluster
  firstlight plan --spine k3s

  # Create the roles that accept needs
  firstlight plan --rbac | kubectl apply -f -`,
	}
	path := cmd.Flags().String("site", "", "site file (default: that of the lab)")
	var spine string
	cmdutil.AddSpineFlag(cmd, &spine)
	include := cmd.Flags().StringSlice("include", nil, "checks to run in addition to the gates: "+strings.Join(gate.Extras(), ", "))
	rbac := cmd.Flags().Bool("rbac", false, "print the RBAC of a run that creates its own namespace, as YAML (accept rbac --namespace needs less)")
	add := cmd.Flags().String("add", "", "file of new nodes: print the plan of accept --add, with all other nodes of the site accepted")
	cmd.MarkFlagsMutuallyExclusive("spine", "rbac")
	for _, other := range []string{"spine", "include", "rbac"} {
		cmd.MarkFlagsMutuallyExclusive("add", other)
	}
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		site, profile, err := openPlanned(cmd.Context(), s, *path, spine)
		if err != nil {
			return err
		}
		if *rbac {
			gates, err := selectedGates(site, profile, "", *include)
			if err != nil {
				return err
			}
			return printRBAC(s, site, gate.Allowed{Gates: gates})
		}
		p, err := planOf(site, profile, *add, *include)
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

// planOf is the playbook of a site, or with a file of new nodes the plan that adds them.
func planOf(s *site.Site, p *profile.Profile, add string, include []string) (plan.Plan, error) {
	if add == "" {
		return gate.Playbook(s, p, gate.Access{}, include...)
	}
	file, err := readNodes(add)
	if err != nil {
		return plan.Plan{}, err
	}
	addition, err := capacity.Planned(s, p, file)
	if err != nil {
		return plan.Plan{}, err
	}
	return capacity.Plan(s, p, addition, gate.Access{})
}

// openPlanned is the site at path, or with --spine that of this machine or of an example. A plan needs no GPU: a machine
// without one shows that of an example.
func openPlanned(ctx context.Context, s cmdutil.Streams, path, spine string) (*site.Site, *profile.Profile, error) {
	if err := cmdutil.CheckSpine(spine, path); err != nil {
		return nil, nil, err
	}
	switch spine {
	case site.SpineSlurm:
		return openSlurm(ctx, s, path)
	case site.SpineRay:
		return openRay(ctx, s, path)
	case site.SpineK3s:
		return openK3s(ctx, s, path)
	case "":
		return cmdutil.OpenSite(ctx, path)
	}
	file, p, err := cmdutil.ThisMachine(ctx)
	if err != nil {
		fmt.Fprintf(s.Err, "firstlight: %v; this is the plan of an example, profile %s\n", err, exampleProfile)
		if p, err = profile.Load(exampleProfile); err != nil {
			return nil, nil, err
		}
		file = site.SingleNodeFile("example", p)
	}
	loaded, err := site.Parse(spine, file)
	return loaded, p, err
}

// openSlurm is the Slurm site at path, or that of the example.
func openSlurm(ctx context.Context, s cmdutil.Streams, path string) (*site.Site, *profile.Profile, error) {
	if path != "" {
		return cmdutil.OpenSpine(ctx, path, site.SpineSlurm)
	}
	fmt.Fprintln(s.Err, "firstlight: this is the plan of an example; --site names the site file of a cluster")
	loaded, err := site.Parse("slurm.yaml", site.SlurmExample())
	if err != nil {
		return nil, nil, err
	}
	p, err := profile.Load(loaded.Profile)
	return loaded, p, err
}

// openRay is the site with a RayCluster at path, or the lab's with that of the example.
func openRay(ctx context.Context, s cmdutil.Streams, path string) (*site.Site, *profile.Profile, error) {
	if path != "" {
		return cmdutil.OpenSpine(ctx, path, site.SpineRay)
	}
	fmt.Fprintln(s.Err, "firstlight: this is the plan of the lab with a RayCluster; --site names the site file of a cluster")
	loaded, p, err := cmdutil.OpenSite(ctx, "")
	if err == nil {
		err = loaded.WithRay()
	}
	return loaded, p, err
}

// openK3s is the site of a cluster of k3s at path, or the lab's with that spine.
func openK3s(ctx context.Context, s cmdutil.Streams, path string) (*site.Site, *profile.Profile, error) {
	if path != "" {
		return cmdutil.OpenSpine(ctx, path, site.SpineK3s)
	}
	fmt.Fprintln(s.Err, "firstlight: this is the plan of a k3s lab; --site names the site file of a cluster")
	loaded, p, err := cmdutil.OpenSite(ctx, "")
	if err == nil {
		loaded.Spine = site.SpineK3s
	}
	return loaded, p, err
}

// exampleProfile is that of a plan on a machine without GPUs.
const exampleProfile = "h100-sxm"

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
