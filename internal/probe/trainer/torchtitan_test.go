package trainer_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/trainer"
)

const titanLog = "[rank0]:[titan] 2026-01-09 19:01:15,186 - root - INFO - Starting job: Llama 3 8B training\n" +
	"[rank0]:[titan] 2026-01-09 19:01:15,198 - root - INFO - Model llama3 8B size: 8,030,261,248 total parameters\n" +
	"[rank0]:[titan] 2026-01-09 19:01:15,281 - root - INFO - Peak FLOPS used for computing MFU: 9.890e+14\n" +
	"[rank0]:[titan] 2026-01-09 19:01:15,290 - root - INFO - Trainer is initialized with local batch size 2, global batch size 64, gradient accumulation steps 1, sequence length 8192, total steps 60 (warmup 2)\n" +
	"[rank0]:[titan] 2026-01-09 19:02:58,105 - root - INFO - step: 20  loss: 11.83506  grad_norm:  9.6669  memory: 48.87GiB(51.44%)  tps: 4,376  tflops: 253.41  mfu: 25.62%\n" +
	"[rank1]:[titan] 2026-01-09 19:01:16,281 - root - INFO - \x1b[31mstep: 21  \x1b[32mloss:  9.4939  \x1b[33mgrad_norm: 18.2500  \x1b[36mmemory: 72.82GiB(91.97%)  \x1b[34mtps: 55,314  \x1b[36mtflops: 1,412.06  \x1b[35mmfu: N/A\x1b[39m\n" +
	"[rank1]:[titan] 2026-01-09 19:01:16,281 - root - INFO - step:  1  loss: nan  grad_norm:  0.0  memory: 1.0GiB(1%)  tps: 5,314\n" +
	"[rank1]:[titan] 2026-01-09 19:01:16,281 - root - INFO - validate step:  1  loss: 9.0  memory: 1.0GiB(1%)  tps: 5,314\n" +
	"[rank0]:[titan] 2026-01-09 19:03:00,000 - root - INFO - Training completed\n" +
	"[rank1]:[E1218 20:27:21.4 ProcessGroupNCCL.cpp:629] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600081 milliseconds before timing out.\n" +
	"some other line\n"

func TestParseTorchtitan(t *testing.T) {
	t.Parallel()
	got, err := trainer.ParseTorchtitan(strings.NewReader(titanLog))
	if err != nil {
		t.Fatal(err)
	}
	want := trainer.TorchtitanLog{
		Ranks: []trainer.TorchtitanRank{
			{
				Rank: 0, Started: time.Date(2026, 1, 9, 19, 1, 15, 186e6, time.UTC), Completed: true,
				PeakTFLOPS: new(989.0), TokensPerStep: 16384, Parameters: 8030261248,
				Steps: []trainer.TorchtitanStep{{Step: 20, Loss: new(11.83506), TPS: 4376, TFLOPS: new(253.41), MFU: new(25.62), Memory: new(48.87)}},
			},
			{
				Rank: 1, Started: time.Date(2026, 1, 9, 19, 1, 16, 281e6, time.UTC),
				Steps: []trainer.TorchtitanStep{
					{Step: 21, Loss: new(9.4939), TPS: 55314, TFLOPS: new(1412.06), Memory: new(72.82)},
					{Step: 1, LossText: "nan", TPS: 5314, Memory: new(1.0)},
				},
			},
		},
		Failures: []trainer.Failure{{Kind: "collective-timeout", Rank: 1, Operation: "ALLREDUCE", Text: "[E1218 20:27:21.4 ProcessGroupNCCL.cpp:629] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600081 milliseconds before timing out."}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Releases of 2024 print wps (pytorch/torchtitan v0.0.2, train.py: "tokens per second, abbr. as wps by convention") and no
// [titan] (pytorch/torchtitan pull request 171); every step of such a log had no tps.
func TestParseTorchtitanOf2024(t *testing.T) {
	t.Parallel()
	lines := []string{
		"2024-03-27 14:30:00,872 - root - INFO - Starting job: Llama 3 8B training",
		"2024-03-27 14:30:02,818 - root - INFO - Model llama3 8B size: 8,030,261,248 total parameters",
		"2024-03-27 14:30:12,001 - root - INFO - \x1b[36mstep: 10  \x1b[32mloss:  9.4939  \x1b[33mmemory: 72.82GiB(91.97%)  \x1b[34mwps: 5,314  \x1b[35mmfu: 30.55%\x1b[39m",
		"2024-03-27 14:31:00,000 - root - INFO - Training completed",
	}
	for _, label := range []string{"", "[rank0]:"} {
		got, err := trainer.ParseTorchtitan(strings.NewReader(label + strings.Join(lines, "\n"+label) + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		rank := -1
		if label != "" {
			rank = 0
		}
		want := trainer.TorchtitanLog{Ranks: []trainer.TorchtitanRank{{
			Rank: rank, Started: time.Date(2024, 3, 27, 14, 30, 0, 872e6, time.UTC), Completed: true, Parameters: 8030261248,
			Steps: []trainer.TorchtitanStep{{Step: 10, Loss: new(9.4939), TPS: 5314, MFU: new(30.55), Memory: new(72.82)}},
		}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", label, diff)
		}
	}
}

func TestLinesWithoutStepAreIgnored(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text     string
		problems int
	}{
		"empty":                 {"", 0},
		"noise":                 {"hello\n\xff\xfe\n", 0},
		"cut":                   {"[rank0]:[titan] 2026-01-09 19:02:58,105 - root - INFO - step: 20  loss: 11.8 grad_norm", 1},
		"another program's log": {"2024-03-27 14:30:00,872 INFO - Training completed", 0},
		"bad wps":               {"step: 20  loss: 11.8  wps: fast", 1},
		"bad tps":               {"step: 20  loss: 11.8  tps: fast", 1},
		"huge step":             {"step: 99999999999999999999  loss: 11.8  tps: 1", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := trainer.ParseTorchtitan(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range got.Ranks {
				if len(r.Steps) > 0 {
					t.Errorf("steps %+v", r.Steps)
				}
			}
			if len(got.Problems) != tt.problems {
				t.Errorf("problems %v", got.Problems)
			}
		})
	}
}

func FuzzParseTorchtitan(f *testing.F) {
	f.Add([]byte(titanLog))
	f.Add([]byte("[rank0]:step:  1  loss: inf  tps: -1  mfu: 1e999%"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := trainer.ParseTorchtitan(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Ranks {
			for _, s := range r.Steps {
				if s.Loss == nil && s.LossText == "" || s.TPS < 0 {
					t.Errorf("%+v", s)
				}
			}
		}
	})
}
