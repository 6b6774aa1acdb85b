package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/pipeline"
)

func newValidate(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Run the canonical GPU validation pipeline for an intent",
	}
	cmd.AddCommand(newValidatePlan(s))
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
