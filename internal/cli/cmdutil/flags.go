package cmdutil

import "github.com/spf13/cobra"

// CompleteFlag sets the values that a shell completes for a flag.
func CompleteFlag(cmd *cobra.Command, flag string, values []string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// MapFlag adds a repeatable flag of pairs. The usage has their form in backquotes, such as
// `NAME=VALUE`; pflag would show the type stringToString and the default [].
func MapFlag(cmd *cobra.Command, name, usage string) *map[string]string {
	pairs := cmd.Flags().StringToString(name, nil, usage+" (repeatable)")
	cmd.Flags().Lookup(name).DefValue = ""
	return pairs
}

// RequireFlags makes flags required, and marks them in the help.
func RequireFlags(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		must(cmd.MarkFlagRequired(flag))
		cmd.Flags().Lookup(flag).Usage += " (required)"
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
