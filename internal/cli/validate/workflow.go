package validate

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/ciworkflow"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

func newWorkflow(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "Render the validation for an intent as a GitHub Actions workflow",
		Long: `Print a workflow with the steps of the pipeline, with the same names and in the same
order as firstlight validate. Each step continues the same run (validate --until), so that
GitHub shows the result of each. The last step collects the artifacts; an empty upload is
an error.

Without --site it validates the lab; with it, a cluster that the runner can reach.`,
		Example: `  # Validate the lab for inference
  firstlight validate workflow --intent inference > .github/workflows/validate-inference.yaml

  # Validate a cluster for training on a self-hosted runner
  firstlight validate workflow --intent training --site prod.yaml --recipe h100-eks-ubuntu-training --runner gpu-cluster --use v0.4.0`,
		Args: cobra.NoArgs,
	}
	var f orderFlags
	f.add(cmd)
	flags := cmd.Flags()
	flags.Lookup("site").Usage = "site file of the cluster, as a path in the repository (default: the lab)"
	recipe := flags.String("recipe", "", "recipe of the cluster")
	runner := flags.String("runner", "ubuntu-24.04", "label of a runner that can reach the cluster")
	use := flags.String("use", "", "release of firstlight that the workflow installs (default: this one); firstlight's own repository builds it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		order, err := f.parse(cmd.Context(), flags.Changed)
		if err != nil {
			return err
		}
		own, err := cmdutil.IsOwnRepository(".")
		if err != nil {
			return err
		}
		data, err := ciworkflow.RenderValidation(ciworkflow.ValidationOptions{
			Source: ciworkflow.Source{Own: own && *use == "", Version: cmp.Or(*use, cmdutil.Version)},
			Order:  order, ExplicitOrder: len(f.order) > 0, Runner: *runner,
			Site: filepath.ToSlash(f.site), Recipe: *recipe, Extras: labExtras(),
		})
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		_, err = s.Out.Write(data)
		return err
	}
	return cmd
}
