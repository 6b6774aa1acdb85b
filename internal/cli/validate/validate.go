// Package validate has the command validate.
package validate

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/report"
	"github.com/firstlight/firstlight/internal/pipeline"
)

// New is the command validate.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Run the canonical GPU validation pipeline for an intent",
		Long: `Run the seven steps of a GPU cluster's validation: snapshot, expected resources,
autoscaling set-up, health checks, CNCF AI Conformance, the intent's own test, artifacts.
The order is derived from each step's needs and GPU claims, and proved before the run
(firstlight validate plan prints it).

A step that does not pass blocks the steps that need it. After a failed health check
conformance still runs, but the run fails. Each conformance requirement is shown by
behavior, with its negative half, and the evidence has the API calls. Skipped is not
passed: a requirement that was not shown fails the run. Recommendations of the program
are checked last and fail nothing.

Without --kubeconfig it uses the lab, and installs the components of a recipe for the
intent. On a cluster in use it creates its own namespace, uses free GPUs only, and removes
everything at the end. Checks that disturb other workloads need --disruptive; without it
their requirement is only partially shown.

Exit codes: 0 passed; 1 failed; 2 invalid input; 3 not observed; 130 interrupted.`,
		Example: `  # Validate the lab for conformance
  firstlight validate

  # Validate the lab for inference, and write the artifacts to out
  firstlight validate --intent inference --artifacts out -o json

  # Check one requirement
  firstlight validate --step gang_scheduling

  # Validate a cluster for training
  firstlight validate --site prod.yaml --kubeconfig ~/.kube/prod --recipe h100-eks-ubuntu-training --intent training`,
		Args: cobra.NoArgs,
	}
	f := &validateFlags{}
	f.add(cmd)
	f.verbose, f.out = report.AddVerboseFlag(cmd), cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) }
	cmd.AddCommand(newPlan(s), newRBAC(s), newSubmission(s), newWorkflow(s))
	return cmd
}

// orderFlags select an intent, the number of GPUs and the order of the steps.
type orderFlags struct {
	intent string
	site   string
	gpus   int
	order  []string
}

func addIntentFlag(cmd *cobra.Command, intent *string) {
	var all []string
	for _, i := range pipeline.Intents() {
		all = append(all, string(i))
	}
	cmd.Flags().StringVar(intent, "intent", all[0], "intended use of the cluster: "+strings.Join(all, ", "))
	cmdutil.CompleteFlag(cmd, "intent", all)
}

func (f *orderFlags) add(cmd *cobra.Command) {
	addIntentFlag(cmd, &f.intent)
	cmd.Flags().StringVar(&f.site, "site", "", "site file (default: that of the lab)")
	cmd.Flags().IntVar(&f.gpus, "gpus", -1, "number of GPUs (default: that of the site)")
	cmd.Flags().StringSliceVar(&f.order, "order", nil, "order of the steps to prove (default: derive one)")
	cmd.Flags().Lookup("gpus").DefValue = "0" // a zero default is not printed
}

func (f *orderFlags) parse(ctx context.Context, given func(flag string) bool) (pipeline.Order, error) {
	intent, err := pipeline.ParseIntent(f.intent)
	if err != nil {
		return pipeline.Order{}, cmdutil.UsageErrorf("--intent: %w", err)
	}
	if !given("gpus") {
		site, profile, err := cmdutil.OpenSite(ctx, f.site)
		if err != nil {
			return pipeline.Order{}, err
		}
		f.gpus = cmdutil.GPUs(site, profile)
	}
	return orderFor(intent, f.gpus, f.order)
}

func orderFor(intent pipeline.Intent, gpus int, names []string) (pipeline.Order, error) {
	o, err := pipeline.OrderFor(intent, gpus, names)
	if err != nil {
		return o, cmdutil.UsageErrorf("%w", err)
	}
	return o, nil
}
