package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// FuzzParseRegistry: no input panics; an accepted one is valid and survives a round trip.
func FuzzParseRegistry(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, exampleRegistry) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := config.ParseRegistry("f", data)
		if err != nil {
			return
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("it was taken and is not valid: %v", err)
		}
		clouds := map[config.Cloud]bool{}
		for _, a := range r.Daytime() {
			row, ok := r.Find(a.Reservation)
			if !ok || clouds[row.Cloud] {
				t.Fatalf("%s is missing, or %s has two daytime rows", a.Reservation, row.Cloud)
			}
			clouds[row.Cloud] = true
		}
		again, err := yaml.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		second, err := config.ParseRegistry("again", again)
		if err != nil {
			t.Fatalf("cannot read the written registry: %v\n%s", err, again)
		}
		if diff := cmp.Diff(resolved(r), resolved(second), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("changed by writing and reading:\n%s", diff)
		}
	})
}

// resolved is a registry with its nightly intents as they count.
func resolved(r *config.Registry) *config.Registry {
	out := *r
	out.Reservations = slices.Clone(r.Reservations)
	for i, row := range out.Reservations {
		out.Reservations[i].NightlyIntents = row.Nightly()
	}
	return &out
}
