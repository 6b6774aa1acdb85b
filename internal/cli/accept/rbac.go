package accept

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func newRBAC(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rbac",
		Short: "Print the minimal RBAC roles that accept needs in the cluster",
		Long: `Print the roles that firstlight accept needs for the selected gates, as YAML with a
reason for each rule.

With --namespace everything is created in that namespace, which an administrator creates
from the output: a Role in it, a ClusterRole that reads cluster-wide objects and manages
the run's PriorityClass, and Roles in the namespaces of the GPU Operator and of Prometheus
and Alertmanager. Without it each run creates its own namespace, so the ClusterRole must
allow in every namespace what a run does in its own.`,
		Example: `  # Let the user acceptance run accept in one namespace
  firstlight accept rbac --site prod.yaml --namespace firstlight --user acceptance | kubectl apply -f -
  firstlight accept --site prod.yaml --namespace firstlight

  # Print the roles for one gate
  firstlight accept rbac --site prod.yaml --namespace firstlight --only fabric`,
		Args: cobra.NoArgs,
	}
	var a gate.Allowed
	flags := cmd.Flags()
	path := flags.String("site", "", "site file (default: that of the lab)")
	flags.StringVar(&a.Namespace, "namespace", "", "namespace to create everything in (default: each run creates its own)")
	flags.StringVar(&a.User, "user", "", "user to bind the roles to")
	only := flags.String("only", "", "print the roles for this gate alone (name or number)")
	include := flags.StringSlice("include", nil, "checks to run in addition to the gates: "+strings.Join(gate.Extras(), ", "))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		site, profile, err := cmdutil.OpenSite(cmd.Context(), *path)
		if err != nil {
			return err
		}
		if a.Gates, err = selectedGates(site, profile, *only, *include); err != nil {
			return err
		}
		return printRBAC(s, site, a)
	}
	return cmd
}

// selectedGates are the gates that apply to a site with the included checks, or the gate
// only.
func selectedGates(s *site.Site, p *profile.Profile, only string, include []string) ([]string, error) {
	if only == autoscale.Name {
		return []string{only}, nil
	}
	if only != "" {
		name, err := gateName(only)
		return []string{name}, err
	}
	reasons := s.WhyNotApplicable(p)
	gates := slices.DeleteFunc(site.Gates(), func(name string) bool { return reasons[name] != "" })
	return append(gates, include...), nil
}

func printRBAC(s cmdutil.Streams, site *site.Site, a gate.Allowed) error {
	if !site.Kubernetes() {
		return cmdutil.UsageErrorf("spine %s has no Kubernetes cluster, and needs no roles", site.Spine)
	}
	data, err := gate.RBAC(site, a)
	if err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	_, err = s.Out.Write(data)
	return err
}
