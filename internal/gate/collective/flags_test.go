package collective

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// optionsOf are the options of a command line, up to the next program.
func optionsOf(words []string) []string {
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, "-") {
			out = append(out, w)
		}
	}
	return out
}

// The options of the script exist in nccl-tests and in mpirun.
func TestOptions(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/flags.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var programs map[string]struct{ Sources, Flags []string }
	if err := yaml.Unmarshal(data, &programs); err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(strings.ReplaceAll(script, "\\\n", " "), "\n  mpirun ")
	line, _, ended := strings.Cut(line, "\n")
	words := strings.Fields(line)
	i := slices.Index(words, "all_reduce_perf")
	if !found || !ended || i < 0 {
		t.Fatalf("no command of mpirun in the script: %q", line)
	}
	words = slices.Insert(words, i, "-x") // environment has it
	i++
	_, pieces, _ := strings.Cut(script, "; then pieces=(")
	pieces, _, ended = strings.Cut(pieces, ")")
	if !ended {
		t.Fatal("no option for pieces of lines in the script")
	}
	used := map[string][]string{"mpirun": append(optionsOf(strings.Fields(pieces)), optionsOf(words[:i])...), "all_reduce_perf": optionsOf(words[i:])}
	for program, options := range used {
		if len(options) < 4 || len(programs[program].Sources) == 0 {
			t.Errorf("%s: options %v, sources %v", program, options, programs[program].Sources)
		}
		for _, o := range options {
			if !slices.Contains(programs[program].Flags, o) {
				t.Errorf("%s has no option %s", program, o)
			}
		}
	}
	if got := optionsOf(strings.Fields("all_reduce_perf -b 8 --minimum 8")); !slices.Equal(got, []string{"-b", "--minimum"}) || slices.Contains(programs["all_reduce_perf"].Flags, "--minimum") {
		t.Errorf("an unknown option is not found: %v", got)
	}
}
