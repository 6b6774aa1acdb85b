package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

const exampleRegistry = "../../../examples/reservations.yaml"

func load(t *testing.T, path string) *config.Registry {
	t.Helper()
	r, err := config.LoadRegistry(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheExample(t *testing.T) {
	t.Parallel()
	r := load(t, exampleRegistry)
	want := []config.Assignment{{Reservation: "aws-h100-ct-1", Intent: config.Training}, {Reservation: "gcp-h100", Intent: config.Inference}}
	if diff := cmp.Diff(want, r.Daytime()); diff != "" {
		t.Errorf("the daytime rotation (-want +got):\n%s", diff)
	}
	shares := []config.Share{
		{ReservationID: "cr-0123456789abcdef1", Reservations: []string{"aws-h100-ct-1", "aws-h100-ct-2"}, Nodes: 4, Capacity: 4},
	}
	if diff := cmp.Diff(shares, r.Shares()); diff != "" {
		t.Errorf("shares of rows (-want +got):\n%s", diff)
	}
	if err := r.Validate(); err != nil {
		t.Errorf("the parsed registry is invalid: %v", err)
	}
}

func TestNightly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]config.Intent{
		"":                                   {config.Training}, // absent
		"    nightly-intents:\n":             {config.Training}, // null
		"    nightly-intents: []\n":          {},
		"    nightly-intents: [inference]\n": {config.Inference},
		"    nightly-intents: [inference, training]": {config.Inference, config.Training},
	} {
		r, err := config.ParseRegistry("f", []byte(row("a")+text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Reservations[0].Nightly()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func row(name string) string {
	return "reservations:\n  - name: " + name + "\n    slug: aa1\n    cloud: aws\n    accelerator: h100\n    gpu-count: 8\n" +
		"    cluster-config-path: clusters/a.yaml\n    test-config-dir: tests/a\n"
}

func TestNothingIsAssumedOfACapacity(t *testing.T) {
	t.Parallel()
	rows := good().Reservations
	rows[1].NodeCount = 0
	r := config.Registry{Reservations: rows}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	want := []config.Share{{ReservationID: "cr-1", Reservations: []string{"a", "b"}, Nodes: 2, Unstated: []string{"b"}}}
	if diff := cmp.Diff(want, r.Shares()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFindGivesACopy(t *testing.T) {
	t.Parallel()
	r := load(t, exampleRegistry)
	for _, name := range r.Names() {
		row, ok := r.Find(name)
		if !ok || row.Name != name {
			t.Fatalf("%s is not found", name)
		}
		if len(row.NightlyIntents) > 0 {
			row.NightlyIntents[0] = "changed"
		}
	}
	if err := r.Validate(); err != nil {
		t.Errorf("the registry was changed through a copy: %v", err)
	}
	if _, ok := r.Find("aws-h10"); ok {
		t.Error("found a missing row")
	}
}

// TestEveryRowOfTheFieldsFormatIsRead has what others' files have: no key of ours.
func TestEveryRowOfTheFieldsFormatIsRead(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(exampleRegistry)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	text, _, _ := strings.Cut(string(data), "\ncapacities:")
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "node-count:") {
			kept = append(kept, line)
		}
	}
	r, err := config.ParseRegistry("theirs", []byte(strings.Join(kept, "")))
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Shares(); len(s) != 1 || s[0].Capacity != 0 || s[0].Nodes != 0 || len(s[0].Unstated) != 2 {
		t.Errorf("something is assumed of the capacity: %+v", s)
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := config.LoadRegistry(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v", err)
	}
}
