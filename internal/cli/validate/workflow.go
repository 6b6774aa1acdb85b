package validate

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/ciworkflow"
)

func newValidateWorkflow(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "Render the validation for an intent as a GitHub Actions workflow",
		Long: `workflow prints a workflow with the steps of the pipeline, by the same names and in the
same order as firstlight validate takes them. Each step goes on with the same run
(validate --through), so that GitHub shows what became of it; the last collects the
artifacts, and uploading nothing is an error.

Without --site it validates the lab; with it, a cluster that the runner reaches.`,
		Example: `  firstlight validate workflow --intent inference > .github/workflows/validate-inference.yaml
  firstlight validate workflow --intent training --site prod.yaml --recipe h100-eks-ubuntu-training --runner gpu-cluster --use v0.4.0`,
		Args: cobra.NoArgs,
	}
	intent := addIntent(cmd)
	flags := cmd.Flags()
	path := flags.String("site", "", "site file of the cluster, as the repository has it; without one, the lab")
	recipe := flags.String("recipe", "", "recipe of the cluster")
	runner := flags.String("runner", "ubuntu-24.04", "label of the runner; one that reaches the cluster")
	use := flags.String("use", "", "release of firstlight that the workflow installs (default: this one); firstlight's own repository builds it")
	gpus := flags.Int("gpus", 0, "GPUs that there are (default: those of the site)")
	asked := flags.StringSlice("order", nil, "order of the steps to prove, instead of deriving one")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		want, err := intentOf(*intent)
		if err != nil {
			return err
		}
		total := *gpus
		if !flags.Changed("gpus") {
			site, profile, err := planSite(cmd.Context(), *path)
			if err != nil {
				return err
			}
			total = gpusOf(site, profile)
		}
		order, err := orderOf(want, total, *asked)
		if err != nil {
			return err
		}
		own, err := ownRepository(".")
		if err != nil {
			return err
		}
		o := ciworkflow.ValidationOptions{
			Source: ciworkflow.Source{Own: own && *use == "", Version: *use}, Order: order, ExplicitOrder: len(*asked) > 0, Runner: *runner,
			Site: filepath.ToSlash(*path), Recipe: *recipe, Extras: (&validateFlags{}).extras(),
		}
		if o.Version == "" {
			o.Version = version
		}
		data, err := ciworkflow.RenderValidation(o)
		if err != nil {
			return usage("%w", err)
		}
		_, err = s.Out.Write(data)
		return err //nolint:wrapcheck // our own stream
	}
	return cmd
}
