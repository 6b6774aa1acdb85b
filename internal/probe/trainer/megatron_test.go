package trainer_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/trainer"
)

const megatronLog = `[rank0]:> initialized tensor model parallel with size 2
[rank0]:> initialized pipeline model parallel with size 4
[rank31]:[before the start of training step] datetime: 2026-08-22 09:59:50 
[rank31]: [2026-08-22 10:00:00.123456] iteration       20/     100 | consumed samples:         5120 | elapsed time per iteration (ms): 2851.3 | throughput per GPU (TFLOP/s/GPU): 539.8 | learning rate: 1.000000E-04 | global batch size:   256 | lm loss: 8.123456E+00 | loss scale: 1.0 | grad norm: 3.210 | number of skipped iterations:   0 | number of nan iterations:   0 |
[rank31]: iteration       21/     100 | consumed samples:         5376 | elapsed time per iteration (ms): 2850.0 | learning rate: 1.000000E-04 | global batch size:   256 | lm loss: NAN | loss scale: 1.0 | number of skipped iterations:   1 | number of nan iterations:   2 |
[rank0]:MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | MnPwr/Rnk: 601796W/8 | MxPwr/Rnk: 683801W/18 | MnTmp/Rnk: 52C/0 | MxTmp/Rnk: 65C/21 | MnUtl/Rnk: 97%/8 | MxUtl/Rnk: 100%/6 | MnClk/Rnk: 1950MHz/28 | MxClk/Rnk: 1980MHz/0 | MnDRtt/Rnk: 14.27ms/23 | MxDRtt/Rnk: 34.65ms/3 | MnEtpt/Rnk: 296.02TF/0 | MxEtpt/Rnk: 297.32TF/8
[rank31]:[after training is done] datetime: 2026-08-22 10:10:00 
`

func TestParseMegatron(t *testing.T) {
	t.Parallel()
	got, err := trainer.ParseMegatron(strings.NewReader(megatronLog))
	if err != nil {
		t.Fatal(err)
	}
	want := trainer.MegatronLog{
		Ranks: []trainer.MegatronRank{
			{Rank: 0, Lines: 3},
			{
				Rank: 31, Lines: 4, Started: time.Date(2026, 8, 22, 9, 59, 50, 0, time.UTC), Completed: true,
				Steps: []trainer.MegatronIteration{
					{Step: 20, Total: 100, StepMS: 2851.3, TFLOPS: new(539.8), Loss: new(8.123456), Skipped: new(0), NaN: new(0)},
					{Step: 21, Total: 100, StepMS: 2850, LossText: "NAN", Skipped: new(1), NaN: new(2)},
				},
			},
		},
		PipelineStages: 4,
		Stragglers:     []trainer.MegatronStraggler{{MinTFLOPS: 296.02, MinRank: 0, MaxTFLOPS: 297.32, MaxRank: 8}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLinesWithoutIterationAreIgnored(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		" iteration       20/     100 | consumed samples:",
		" iteration       20/     100 | elapsed time per iteration (ms): nan |",
		" iteration 99999999999999999999/ 100 | elapsed time per iteration (ms): 1.0 |",
		" iteration       20/     100 | elapsed time per iteration (ms): 1.0 | number of skipped iterations: x |",
	} {
		got, err := trainer.ParseMegatron(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Problems) != 1 || len(got.Ranks[0].Steps) != 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got, err := trainer.ParseMegatron(strings.NewReader("")); err != nil || len(got.Ranks) != 0 {
		t.Errorf("empty: %+v, %v", got, err)
	}
}

func FuzzParseMegatron(f *testing.F) {
	f.Add([]byte(megatronLog))
	f.Add([]byte("iteration 1/1 | elapsed time per iteration (ms): 1e999 |"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := trainer.ParseMegatron(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Ranks {
			for _, it := range r.Steps {
				if it.StepMS <= 0 {
					t.Errorf("%+v", it)
				}
			}
		}
	})
}
