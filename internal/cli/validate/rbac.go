package validate

import (
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/validate"
	"github.com/firstlight/firstlight/internal/validate/health"
)

func newValidateRBAC(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rbac RECIPE",
		Short: "Print the ClusterRole that validating a cluster of a recipe needs, and nothing more",
		Long: `rbac prints a ClusterRole for whoever runs firstlight validate. It is a ClusterRole
because the namespace, firstlight-<run id>, is new with every run; what is created or
deleted is only ever in that namespace, or carries the label firstlight.dev/run. Reading
is of what the checks and the health of the recipe's components look at.`,
		Example: `  firstlight validate rbac h100-eks-ubuntu-training | kubectl apply -f -
  kubectl create clusterrolebinding firstlight --clusterrole=firstlight-validate --user=NAME`,
		Args: cobra.ExactArgs(1),
	}
	var f recipeFlags
	addRecipesFlag(cmd, &f)
	profile := cmd.Flags().String("recipe-profile", "", "value of the recipe's profile, as name=value")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		t, err := f.open(s)
		if err != nil {
			return err
		}
		n, err := parseRecipe(t, args[0])
		if err != nil {
			return err
		}
		r, err := n.resolve(t, resolve.Options{Profile: *profile})
		if err != nil {
			return err
		}
		components := health.Components(r)
		if err := health.Usable(components); err != nil { // a role of the rest would be too little
			return usage("%w", err)
		}
		role, err := validate.Role(components)
		if err != nil {
			return infrastructure(err)
		}
		data, err := yaml.Marshal(role)
		if err != nil {
			return infrastructure(fmt.Errorf("print the role: %w", err))
		}
		_, err = s.Out.Write(data)
		return err //nolint:wrapcheck // our own stream
	}
	return cmd
}
