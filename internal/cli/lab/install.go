package lab

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

func newInstall(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install RECIPE",
		Short: "Create the workloads of a recipe's components on a running lab",
		Long: `Create the workloads of a recipe's components on a running lab: each in its own namespace,
with the replicas, requests, selectors and tolerations of its footprint. Existing objects
are not changed.`,
		Example: `  firstlight lab install h100-kind-training
  firstlight lab install service=kind,intent=inference --name big`,
		Args: cobra.ExactArgs(1),
	}
	name := addLabName(cmd)
	var f cmdutil.RecipeFlags
	f.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, r, err := f.OpenRecipe(s, args[0], resolve.Options{})
		if err != nil {
			return err
		}
		h, err := lab.Attach(cmd.Context(), *name)
		if err != nil {
			return cmdutil.UsageErrorf("%w: start it with firstlight lab up --name %s", err, *name)
		}
		status, err := h.Status(cmd.Context())
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		cluster, err := kube.Open(status.Info.Kubeconfig, "")
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		n, err := cmdutil.InstallRecipe(cmd.Context(), cluster, r)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Err, "lab %s has the %s of %s\n", *name, cmdutil.Count(n, "component"), args[0])
		return nil
	}
	return cmd
}
