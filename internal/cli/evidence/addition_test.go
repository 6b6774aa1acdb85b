package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/capacity"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// A run with added nodes has a plan of its own, which needs the command, the header and the input.
func TestAnAdditionOfAnotherRunFailsVerify(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	b, err := evidence.Load(simulatedRun(t))
	if err != nil {
		t.Fatal(err)
	}
	s, p, err := accept.Used(b)
	if err != nil {
		t.Fatal(err)
	}
	input := fmt.Sprintf(`{"format": 1, "to": {"run": "r", "site": %q, "profile": %q, "cluster": %q, "simulated": true, "nodes": [%q], "driver": "580", "components": {"driver": ["580"]}}, "nodes": [{"name": "new-01"}]}`,
		b.Header.Site, b.Header.Profile, b.Header.Cluster, s.NodeNames()[0])
	added := []string{"firstlight", "accept", "--add", capacity.InputFile}
	for name, tt := range map[string]struct {
		command        []string
		addedTo, input string
		problem        string // empty: none
	}{
		"an addition":        {added, "r", input, ""},
		"of another run":     {added, "other", input, "addedTo"},
		"of another cluster": {added, "r", strings.Replace(input, b.Header.Cluster, another, 1), "of cluster"},
		"of real hardware":   {added, "r", strings.Replace(input, `"simulated": true`, `"simulated": false`, 1), "simulated"},
		"no input":           {added, "r", "", capacity.InputFile},
		"no --add":           {added[:2], "r", input, "--add"},
	} {
		b.Header.AddedTo, b.Inputs = tt.addedTo, map[string][]byte{capacity.InputFile: []byte(tt.input)}
		if tt.input == "" {
			b.Inputs = nil
		}
		d, err := parseCommand(tt.command).derive(b, s, p)
		if err != nil {
			t.Fatal(err)
		}
		if tt.problem == "" {
			var names []string
			for _, step := range d.Plan.Steps {
				names = append(names, step.Name)
			}
			if len(d.Problems) > 0 || !slices.Equal(names, capacity.Steps()) || len(d.Checks) != len(names) {
				t.Errorf("%s: %v, %v", name, names, d.Problems)
			}
			if _, ok := d.Checks[1].(plan.Localising); !ok || d.Plan.AllowFailed != 1 {
				t.Errorf("%s: a failed new node is not left out", name)
			}
		} else if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, tt.problem) {
			t.Errorf("%s: %v", name, d.Problems)
		}
	}
}
