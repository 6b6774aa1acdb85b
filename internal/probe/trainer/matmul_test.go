package trainer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/trainer"
)

const line = `gpu matmul: {"rank": 13, "device": 5, "uuid": "GPU-5a", "size": 8192, "seconds": 10.01, "tflops": 655.31}` + "\n"

func TestParseMatmul(t *testing.T) {
	t.Parallel()
	want := trainer.MatmulGPU{Rank: 13, Device: 5, UUID: "GPU-5a", Size: 8192, Seconds: 10.01, TFLOPS: 655.31}
	limited := want
	limited.PowerLimit, limited.PowerDefault, limited.SMClock = new(500.), new(700.), new(1485.)
	for name, tt := range map[string]struct {
		text    string
		want    []trainer.MatmulGPU
		problem string
	}{
		"a GPU":                   {line, []trainer.MatmulGPU{want}, ""},
		"behind a timestamp":      {"2026-11-21T01:02:03.456Z " + line, []trainer.MatmulGPU{want}, ""},
		"among others":            {"hello\n" + line + "[rank0]:[titan] gpu matmul: no\n" + line, []trainer.MatmulGPU{want, want}, ""},
		"with its limits":         {strings.Replace(line, "}", `, "powerLimitWatts": 500.0, "powerDefaultWatts": 700.0, "smClockMHz": 1485.0}`, 1), []trainer.MatmulGPU{limited}, ""},
		"nothing":                 {"", nil, ""},
		"another program":         {"Traceback (most recent call last):\n", nil, ""},
		"cut":                     {line[:40], nil, "GPU measurement"},
		"Python's infinity":       {strings.Replace(line, "655.31", "Infinity", 1), nil, "GPU measurement"},
		"a number that is a word": {strings.Replace(line, "655.31", `"fast"`, 1), nil, "GPU measurement"},
		"more than a pod has":     {strings.Repeat(line, 65), nil, "more than 64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := trainer.ParseMatmul(strings.NewReader(tt.text))
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

func FuzzParseMatmul(f *testing.F) {
	f.Add(line)
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := trainer.ParseMatmul(strings.NewReader(text)); err == nil && len(got) > 64 {
			t.Errorf("%d GPUs", len(got))
		}
	})
}
