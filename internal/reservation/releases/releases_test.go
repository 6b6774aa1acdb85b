package releases

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/registry"
)

func TestTags(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"tags.txt": "v1.2.0\nv1.3.0\n", "empty.txt": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	two := []string{"v1.2.0", "v1.3.0"}
	for name, c := range map[string]struct {
		from matrix.Releases
		want []string
		why  string
	}{
		"a file":             {matrix.Releases{File: "tags.txt"}, two, ""},
		"a command, in dir":  {matrix.Releases{Command: []string{"cat", "tags.txt"}}, two, ""},
		"nothing is named":   {matrix.Releases{}, nil, ""},
		"no such file":       {matrix.Releases{File: "none.txt"}, nil, "none.txt"},
		"an empty file":      {matrix.Releases{File: "empty.txt"}, nil, ErrNone.Error()},
		"nothing is printed": {matrix.Releases{Command: []string{"true"}}, nil, ErrNone.Error()},
		"it fails":           {matrix.Releases{Command: []string{"sh", "-c", "echo v1.0.0; echo no network >&2; exit 3"}}, nil, "exit status 3: no network"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Source{Config: &matrix.Config{Releases: c.from}, Path: filepath.Join(dir, "batch.yaml")}.Tags(t.Context())
			if c.why == "" && (err != nil || !slices.Equal(got, c.want)) || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why) || got != nil) {
				t.Errorf("%v %v, want %v %q", got, err, c.want, c.why)
			}
		})
	}
}

func TestLane(t *testing.T) {
	config, err := matrix.Load("../../../examples/batch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := Source{Config: config, Path: "../../../examples/batch.yaml"}
	lane, err := s.Lane(t.Context(), registry.Reservation{Name: "aws", Cloud: registry.AWS, NightlyIntents: registry.Intents()})
	if err != nil || len(lane.Cells) != 6 {
		t.Errorf("%v: %v", err, lane.Cells)
	}
	s.Config.Compat = "none.yaml"
	if _, err := s.Lane(t.Context(), registry.Reservation{Name: "aws", Cloud: registry.AWS}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("floors that can not be read hold nothing back: %v", err)
	}
}
