package docs_test

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/anmitsu/go-shlex"
	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli"
	"github.com/firstlight/firstlight/internal/world"
)

var (
	// called is a command line of ours in a shell line: at its beginning, after an
	// assignment, a pipe or &&.
	called = regexp.MustCompile(`(?:^|^\$ |[|&]\s*|[A-Z_]+=\S+ )\s*firstlight ([^|&#>;]*)`)
	// inner is a command whose output is put into another.
	inner = regexp.MustCompile(`\$\(([^()]*)\)`)
	// span is one in a sentence.
	span = regexp.MustCompile("`firstlight ([^`]*)`")
)

// commandLines are the arguments of every call of ours in a page: those in its
// code blocks, and those mentioned in sentences.
func commandLines(text string) (shown, mentioned []string) {
	for _, line := range codeLines(text) {
		shown = append(shown, calls(line)...)
	}
	for _, m := range span.FindAllStringSubmatch(prose(text), -1) {
		mentioned = append(mentioned, calls("firstlight "+m[1])...)
	}
	return shown, mentioned
}

func calls(line string) []string {
	var out []string
	for m := inner.FindStringSubmatch(line); m != nil; m = inner.FindStringSubmatch(line) {
		out = append(out, calls(m[1])...)
		line = strings.Replace(line, m[0], "VALUE", 1)
	}
	for _, m := range called.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
		out = append(out, strings.TrimSpace(m[1]))
	}
	return out
}

// accepted reports whether the program accepts the arguments: an existing command with its flags
// and the right number of arguments. A mention in a sentence may leave all of them out.
func accepted(line string, mention bool) error {
	tree := cli.Root(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	tree.InitDefaultCompletionCmd("bash")
	words, err := shlex.Split(line, true)
	if err != nil {
		return fmt.Errorf("read it as a shell would: %w", err)
	}
	cmd, rest, err := tree.Find(words)
	if err != nil {
		return fmt.Errorf("find the command: %w", err)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return fmt.Errorf("read its flags: %w", err)
	}
	args := cmd.Flags().Args()
	if mention && len(rest) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		if len(args) > 0 {
			return fmt.Errorf("%s has no command %s", cmd.CommandPath(), args[0])
		}
		return cmd.ValidateFlagGroups()
	}
	if cmd.Args == nil {
		cmd.Args = cobra.NoArgs // as cmdutil.Execute; cobra's own default takes any
	}
	if err := cmd.ValidateArgs(args); err != nil {
		return err
	}
	return errors.Join(cmd.ValidateFlagGroups(), fault(cmd, args))
}

// fault puts the fault of a "lab fault add" into a world.
func fault(cmd *cobra.Command, args []string) error {
	if cmd.CommandPath() != "firstlight lab fault add" || args[0] == "KIND" {
		return nil
	}
	options, err := cmd.Flags().GetStringToString("set")
	if err != nil {
		return err
	}
	w, err := world.New(world.DefaultSpec(4))
	if err != nil {
		return err
	}
	f := world.Fault{Kind: args[0], Options: options}
	if len(args) > 1 {
		f.Target = args[1]
	}
	_, err = w.AddFault(f)
	return err
}

func TestEveryCommandLineOfThePagesIsAccepted(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range pages(t) {
		shown, mentioned := commandLines(p.text)
		for i, line := range append(shown, mentioned...) {
			seen++
			if err := accepted(line, i >= len(shown)); err != nil {
				t.Errorf("%s: firstlight %s: %v", p.path, line, err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d command lines were found in the pages: the search is broken", seen)
	}
}

func TestEveryExampleOfTheHelpIsAccepted(t *testing.T) {
	t.Parallel()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			for _, call := range calls(line) {
				if err := accepted(call, false); err != nil {
					t.Errorf("help of %s: firstlight %s: %v", cmd.CommandPath(), call, err)
				}
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(cli.Root(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}))
}

func TestAWrongCommandLineIsRefused(t *testing.T) {
	t.Parallel()
	for line, good := range map[string]bool{
		"accept --from 6": true,
		"lab fault add link-degraded gpu-02/mlx5_3":   true,
		"lab fault add link-degraded --set how=width": true,
		"lab":                        true,
		"accpt":                      false,
		"accept --form 6":            false,
		"accept --from 6 --only 7":   false,
		"evidence verify":            false,
		"lab upp":                    false,
		"lab up --nodes many":        false,
		"lab fault add link-degradd": false,
		"lab fault add link-degraded gpu-02/mlx5_3 --set mode=no": false,
	} {
		if err := accepted(line, false); (err == nil) != good {
			t.Errorf("firstlight %s: %v", line, err)
		}
	}
}

func TestCommandLinesAreFoundInAPage(t *testing.T) {
	t.Parallel()
	text := "Run `firstlight plan --rbac` first.\n\n    export K=$(firstlight lab kubeconfig --path)\n" +
		"    firstlight accept --kubeconfig $(firstlight lab kubeconfig --path)\n\n" +
		"```\nA_B=c firstlight lab up # start\nfirstlight plan --rbac | kubectl apply -f -\nmake x && firstlight version\n```\n"
	const want = "lab kubeconfig --path;lab kubeconfig --path;accept --kubeconfig VALUE;lab up;plan --rbac;version"
	shown, mentioned := commandLines(text)
	if got := strings.Join(shown, ";"); got != want {
		t.Errorf("shown are %q, want %q", got, want)
	}
	if got := strings.Join(mentioned, ";"); got != "plan --rbac" {
		t.Errorf("mentioned are %q", got)
	}
}
