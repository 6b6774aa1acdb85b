package validate

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/pipeline"
)

func newValidate(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Run the canonical GPU validation pipeline for an intent",
		Long: `validate takes the seven canonical steps of a GPU cluster's validation: snapshot,
expected resources, the set-up for autoscaling, health checks, CNCF AI Conformance, the
intent's own test, artifacts. Their order is derived from what each needs and which GPUs
it claims, and proved before anything is done (firstlight validate plan prints it).

What a step needs and is not passed blocks it; a failed health check still lets
conformance run, and fails the whole. Every requirement of conformance is shown by
behaviour, with its negative half, and the API calls made are in the evidence. Skipped is
not passed: a requirement that was not shown fails the run. What the programme only
recommends is looked at after them and said in its words; it fails nothing.

Without --kubeconfig it works on the lab, which gets the components of a recipe for the
intent. On a cluster in use it is a guest: a namespace of its own, free GPUs, and all of
it removed at the end. What disturbs others needs --disruptive; without it that half is
not run, and its requirement only partially shown.

Exit codes: 0 passed; 1 something failed; 2 bad input; 3 could not be observed;
130 interrupted.`,
		Example: `  firstlight validate
  firstlight validate --intent training
  firstlight validate --intent inference --artifacts out -o json
  firstlight validate --step gang_scheduling
  firstlight validate --site prod.yaml --kubeconfig ~/.kube/prod --recipe h100-eks-ubuntu-training --intent training`,
		Args: cobra.NoArgs,
	}
	f := &validateFlags{}
	f.add(cmd)
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runValidate(cmd.Context(), s, f, out) }
	cmd.AddCommand(newValidatePlan(s), newValidateRBAC(s), newValidateSubmission(s), newValidateWorkflow(s))
	return cmd
}

// intentOf reads --intent.
func intentOf(text string) (pipeline.Intent, error) {
	var all []string
	for _, i := range pipeline.Intents() {
		if string(i) == text {
			return i, nil
		}
		all = append(all, string(i))
	}
	return "", usage("--intent %q: it is one of %s", text, strings.Join(all, ", "))
}

// addIntent adds --intent.
func addIntent(cmd *cobra.Command) *string {
	var all []string
	for _, i := range pipeline.Intents() {
		all = append(all, string(i))
	}
	intent := cmd.Flags().String("intent", all[0], "what the cluster is for: "+strings.Join(all, ", "))
	if err := cmd.RegisterFlagCompletionFunc("intent", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added above
	}
	return intent
}
