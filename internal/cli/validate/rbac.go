package validate

import (
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/validate"
	"github.com/firstlight/firstlight/internal/validate/health"
)

func newRBAC(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rbac RECIPE",
		Short: "Print the minimal RBAC roles that validate needs for a recipe's cluster",
		Long: `Print a ClusterRole for firstlight validate. It is a ClusterRole because each run has a
new namespace, firstlight-<run id>. Create and delete rules apply only to that namespace,
or to objects with the label firstlight.dev/run. Read rules are those of the checks and of
the health of the recipe's components.`,
		Example: `  firstlight validate rbac h100-eks-ubuntu-training | kubectl apply -f -
  kubectl create clusterrolebinding firstlight --clusterrole=firstlight-validate --user=NAME`,
		Args: cobra.ExactArgs(1),
	}
	var f cmdutil.RecipeFlags
	f.Add(cmd)
	profile := cmd.Flags().String("recipe-profile", "", "value of the recipe's profile, as name=value")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		_, r, err := f.OpenRecipe(s, args[0], resolve.Options{Profile: *profile})
		if err != nil {
			return err
		}
		components := health.Components(r)
		if err := health.Usable(components); err != nil { // the role would be incomplete
			return cmdutil.UsageErrorf("%w", err)
		}
		role, err := validate.Role(components)
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		data, err := yaml.Marshal(role)
		if err != nil {
			return cmdutil.Unobserved(fmt.Errorf("print the role: %w", err))
		}
		_, err = s.Out.Write(data)
		return err
	}
	return cmd
}
