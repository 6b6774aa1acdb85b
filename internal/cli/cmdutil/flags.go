package cmdutil

import "github.com/spf13/cobra"

// CompleteFlag sets the values that a shell completes for a flag.
func CompleteFlag(cmd *cobra.Command, flag string, values []string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// RequireFlags marks flags as required.
func RequireFlags(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		must(cmd.MarkFlagRequired(flag))
	}
}

// HideFlags leaves flags out of the help.
func HideFlags(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		must(cmd.Flags().MarkHidden(flag))
	}
}

// must panics when a flag is not defined: an error of the program, not of its user.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
