package accept

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/site"
)

func newAcceptRBAC(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rbac",
		Short: "Print what a walk of the gates has to be allowed in the cluster, and nothing more",
		Long: `rbac prints the roles that firstlight accept needs for the gates that are selected, as
YAML with a reason for each rule.

With --namespace everything is created in that namespace, which an administrator makes
from what is printed: a Role there, a ClusterRole that reads and keeps the run's
priority class, and Roles in the namespaces of the GPU Operator and of Prometheus and
Alertmanager. Without it each run makes its own namespace, so the ClusterRole has to
allow in every namespace what a run does in its own.`,
		Example: `  firstlight accept rbac --site prod.yaml --namespace firstlight --user ada | kubectl apply -f -
  firstlight accept --site prod.yaml --namespace firstlight
  firstlight accept rbac --site prod.yaml --namespace firstlight --only fabric`,
		Args: cobra.NoArgs,
	}
	var a gate.Allowed
	flags := cmd.Flags()
	path := flags.String("site", "", "site file; without one, the lab's default")
	flags.StringVar(&a.Namespace, "namespace", "", "namespace for everything that is created; without one, each run makes its own")
	flags.StringVar(&a.User, "user", "", "bind the roles to this user")
	only := flags.String("only", "", "roles for this gate alone (name or number)")
	include := flags.StringSlice("include", nil, "what accept is to include beside the gates: "+strings.Join(gate.Extras(), ", "))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		of, _, err := planSite(cmd.Context(), *path)
		if err != nil {
			return err
		}
		if a.Gates, err = selectedGates(of, *only, *include); err != nil {
			return err
		}
		return printRBAC(s, of, a)
	}
	return cmd
}

// selectedGates are those that apply on a site, or the one that is asked for, and extras.
func selectedGates(s *site.Site, only string, include []string) ([]string, error) {
	if only != "" && only != autoscale.Name {
		name, err := gateName(only)
		if err != nil {
			return nil, err
		}
		return []string{name}, nil
	}
	if only != "" {
		return []string{only}, nil
	}
	gates := slices.DeleteFunc(site.Gates(), func(name string) bool { return s.NotApplicable[name] != "" })
	return append(gates, include...), nil
}

func printRBAC(s Streams, of *site.Site, a gate.Allowed) error {
	data, err := gate.RBAC(of, a)
	if err != nil {
		return usage("%w", err)
	}
	_, err = s.Out.Write(data)
	return err //nolint:wrapcheck // our own stream
}
