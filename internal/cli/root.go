package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/accept"
	"github.com/firstlight/firstlight/internal/cli/autoscale"
	"github.com/firstlight/firstlight/internal/cli/certificate"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/drift"
	"github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/cli/lab"
	"github.com/firstlight/firstlight/internal/cli/load"
	"github.com/firstlight/firstlight/internal/cli/recipe"
	"github.com/firstlight/firstlight/internal/cli/reservation"
	"github.com/firstlight/firstlight/internal/cli/site"
	"github.com/firstlight/firstlight/internal/cli/validate"
)

// Streams are the process's standard streams.
type Streams = cmdutil.Streams

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, s Streams) int {
	return cmdutil.Execute(ctx, Root(s), args, s)
}

// Root is the command tree.
func Root(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "firstlight",
		Short: "Bring a GPU cluster from powered-on racks to its first accepted workload, and prove it",
		Long: `firstlight runs a gated bring-up playbook on a GPU cluster: facility, fabric, node,
gpustack, telemetry, collective, training, inference. A gate passes when its criterion
was observed, never because a command exited 0. The run stops at the first gate that does
not pass, names the suspect and the remedy, and keeps the evidence.

Without a kubeconfig it uses the lab: a real Kubernetes control plane over simulated
hardware, on this machine, without Docker, root or a GPU.`,
		Example: `  # Run all gates on the lab
  firstlight accept

  # Run all gates on a cluster
  firstlight accept --site prod.yaml --kubeconfig ~/.kube/prod

  # Prove the autoscaling chain, hop by hop
  firstlight autoscale

  # Break a link of the lab's fabric
  firstlight lab up && firstlight lab fault add link-degraded gpu-02/mlx5_3

  # Show a run
  firstlight evidence show evidence/RUN`,
	}
	root.AddCommand(
		accept.New(s), drift.New(s), drift.NewBaseline(s), autoscale.New(s), recipe.New(s), validate.New(s), reservation.New(s), accept.NewPlan(s), site.New(s), evidence.New(s), certificate.New(s), lab.New(s), load.New(s), newVersion(s),
	)
	return root
}
