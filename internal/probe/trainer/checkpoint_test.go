package trainer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/trainer"
)

const written = `checkpoint test: {"index": 3, "bytes": 33554432, "fileSystem": "nfs4", "source": "server:/export", "freeBytes": 75836784640, "writeSeconds": 0.011, "readSeconds": 0.008}` + "\n"

func TestParseCheckpointTests(t *testing.T) {
	t.Parallel()
	want := trainer.CheckpointTest{Index: 3, FileSystem: "nfs4", Source: "server:/export", FreeBytes: new(int64(75836784640)), Bytes: 33554432, WriteSeconds: 0.011, ReadSeconds: 0.008}
	for name, tt := range map[string]struct {
		text    string
		want    []trainer.CheckpointTest
		problem string
	}{
		"written":            {written, []trainer.CheckpointTest{want}, ""},
		"behind a timestamp": {"2026-11-21T01:02:03.456Z " + written, []trainer.CheckpointTest{want}, ""},
		"an error":           {`checkpoint test: {"index": 0, "bytes": 0, "error": "[Errno 28] No space left on device"}` + "\n", []trainer.CheckpointTest{{Error: "[Errno 28] No space left on device"}}, ""},
		"in another line":    {"[rank0]:[titan] " + written, nil, ""},
		"nothing":            {"", nil, ""},
		"twice":              {written + written, nil, "more than 1"},
		"cut":                {written[:60], nil, "checkpoint test"},
		"Python's NaN":       {strings.Replace(written, "0.008", "NaN", 1), nil, "checkpoint test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := trainer.ParseCheckpointTests(strings.NewReader(tt.text))
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("%v, want %q", err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzParseCheckpointTests(f *testing.F) {
	f.Add(written)
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := trainer.ParseCheckpointTests(strings.NewReader(text)); err == nil && len(got) > 1 {
			t.Errorf("%d tests", len(got))
		}
	})
}
