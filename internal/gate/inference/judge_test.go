package inference

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	older = "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (39024). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n"
	newer = "ERROR 07-11 06:23:05 [core.py:390] ValueError: To serve at least one request with the models's max seq len (118000), (6.30 GiB KV cache is needed, which is larger than the available KV cache memory (6.11 GiB). Based on the available memory, the estimated maximum model length is 114432.\n"
	taken = "ValueError: Free memory on device cuda:0 (15.32/79.04 GiB) on startup is less than desired GPU memory utilization (0.9, 71.1 GiB).\n"
	other = "OSError: meta-llama/Llama-3.1-8B-Instruct is not a local folder and is not a valid model identifier\n"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	slowTTFT, slowTPOT := 300*time.Millisecond, 120*time.Millisecond
	tight := func(s *site.Site) { s.Workloads.Inference.TTFTp99 = site.Duration(slowTTFT / 2) }
	tightTPOT := func(s *site.Site) { s.Workloads.Inference.TPOTp99 = site.Duration(slowTPOT / 2) }
	tests := map[string]struct {
		world   *fakeVLLM
		change  func(*site.Site)
		verdict check.Verdict
		suspect string
		message string
		remedy  string
	}{
		"healthy":                {&fakeVLLM{}, nil, check.Passed, "", "", ""},
		"healthy after loading":  {&fakeVLLM{loadingLooks: 3}, nil, check.Passed, "", "", ""},
		"no usage from server":   {&fakeVLLM{noUsage: true}, nil, check.Passed, "", "", ""},
		"first token late":       {&fakeVLLM{prefill: slowTTFT}, tight, check.Failed, "server of job inference (TTFT)", "time to first token", "prefill"},
		"tokens slow":            {&fakeVLLM{decode: slowTPOT}, tightTPOT, check.Failed, "server of job inference (TPOT)", "time per output token", "decoding"},
		"both slow":              {&fakeVLLM{prefill: slowTTFT, decode: slowTPOT}, func(s *site.Site) { tight(s); tightTPOT(s) }, check.Failed, "server of job inference (TTFT)", "TTFT", "clocks"},
		"requests fail":          {&fakeVLLM{failEvery: 7}, nil, check.Failed, "requests to job inference", "requests failed", ""},
		"all requests fail":      {&fakeVLLM{failEvery: 1}, nil, check.Failed, "requests to job inference", "20 of 20 requests failed", ""},
		"streams are cut":        {&fakeVLLM{cut: true}, nil, check.Failed, "requests to job inference", "[DONE]", ""},
		"no tokens":              {&fakeVLLM{noTokens: true}, nil, check.Failed, "tokens of model " + testModel, "without any output token", ""},
		"one token":              {&fakeVLLM{oneToken: true}, nil, check.Failed, "length of answers of model " + testModel, "20 of 20 answers have fewer than the requested 4 tokens, the shortest has 1", "max_new_tokens"},
		"one piece, not counted": {&fakeVLLM{oneToken: true, noUsage: true}, nil, check.Unobserved, "tokens of model " + testModel, "only one token", ""},
		"pauses between tokens":  {&fakeVLLM{decode: slowTPOT}, func(s *site.Site) { s.Workloads.Inference.ITLp99 = site.Duration(slowTPOT / 2) }, check.Failed, "server of job inference (ITL)", "time between tokens", "preemptions"},
		"completion too short":   {&fakeVLLM{text: " Paris"}, func(s *site.Site) { s.Workloads.Inference.GoldenPrefix = " Paris. It is the largest city in France" }, check.Failed, "length of answers of model " + testModel, "before the golden prefix", "max_new_tokens"},
		"prefix beyond the load": {&fakeVLLM{text: " Paris. It is the largest city in France"}, func(s *site.Site) {
			s.Workloads.Inference.GoldenPrefix, s.Workloads.Inference.OutputTokens = " Paris. It is the largest city in France", 2
		}, check.Passed, "", "", ""},
		"long golden prefix":      {&fakeVLLM{text: " Paris. It is the capital"}, func(s *site.Site) { s.Workloads.Inference.GoldenPrefix = " Paris. It is the largest city in France" }, check.Failed, "tokens of model " + testModel, "golden prefix", "revision"},
		"wrong tokens":            {&fakeVLLM{text: "!!!!"}, nil, check.Failed, "tokens of model " + testModel, "golden prefix", "weights"},
		"another model":           {&fakeVLLM{model: "gpt2"}, nil, check.Failed, "model " + testModel, "it lists gpt2", ""},
		"context does not fit":    {&fakeVLLM{crashes: older}, nil, check.Failed, "vllm --max-model-len (site workloads.inference.maxModelLen)", "KV cache", "<= 39024"},
		"newer wording":           {&fakeVLLM{crashes: newer}, nil, check.Failed, "vllm --max-model-len (site workloads.inference.maxModelLen)", "CrashLoop", "<= 114432"},
		"GPU memory taken":        {&fakeVLLM{crashes: taken}, nil, check.Failed, "pod inference-0-abcde on gpu-02", "Free memory", "nvidia-smi"},
		"crash for other reason":  {&fakeVLLM{crashes: other}, nil, check.Failed, "pod inference-0-abcde on gpu-02", "OSError", ""},
		"image cannot be pulled":  {&fakeVLLM{pulls: true, never: true}, nil, check.Unobserved, "pod inference-0-abcde on gpu-02", "ImagePullBackOff", ""},
		"never healthy":           {&fakeVLLM{never: true}, nil, check.Failed, "pod inference-0-abcde on gpu-02", "not healthy", "timeout"},
		"cannot watch":            {&fakeVLLM{blind: true, never: true}, nil, check.Unobserved, "job inference", "cannot watch", ""},
		"not placed":              {&fakeVLLM{notPlaced: true}, nil, check.Unobserved, "job inference", "0 of 1 pods", ""},
		"restarted under load":    {&fakeVLLM{restarts: 1}, nil, check.Failed, "pod inference-0-abcde on gpu-02", "restarted 1 times", ""},
		"no golden prefix":        {&fakeVLLM{}, func(s *site.Site) { s.Workloads.Inference.GoldenPrefix = "" }, check.Unobserved, "site workloads.inference.goldenPrefix", "no golden prefix", ""},
		"time is over":            {&fakeVLLM{prefill: time.Hour}, nil, check.Unobserved, "requests to job inference", "firstlight's own time was over", "timeout"},
		"time is over for models": {&fakeVLLM{hangs: time.Hour}, nil, check.Unobserved, "server of job inference", "deadline exceeded", ""},
		"models are refused":      {&fakeVLLM{refuses: true}, nil, check.Failed, "server of job inference", "HTTP status 500", ""},
		"sick after the load":     {&fakeVLLM{sick: 503}, nil, check.Failed, "pod inference-0-abcde on gpu-02", "not healthy after the load: HTTP status 503", ""},
		"deaf after the load":     {&fakeVLLM{sick: -1}, nil, check.Unobserved, "pod inference-0-abcde on gpu-02", "could not be reached after the load", ""},
		"deaf, and restarted":     {&fakeVLLM{sick: -1, restarts: 1}, nil, check.Failed, "pod inference-0-abcde on gpu-02", "restarted 1 times", ""},
		"cannot forward":          {&fakeVLLM{cannotForward: true}, nil, check.Unobserved, "pod inference-0-abcde on gpu-02", "could not be reached", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testSite()
			if tt.change != nil {
				tt.change(s)
			}
			g := testGate(t, s)
			_, obs := observeAndJudge(t, g, tt.world)
			j := plan.Judge(g, obs)
			if j.Verdict != tt.verdict {
				t.Fatalf("verdict %s (%s), want %s: %+v", j.Verdict, j.Reason, tt.verdict, j.Findings)
			}
			if diff := cmp.Diff(j, plan.Judge(g, obs)); diff != "" {
				t.Errorf("not the same twice: %s", diff)
			}
			if tt.verdict == check.Passed {
				if len(j.Findings) > 0 || len(j.Figures) < 15 || len(obs) != 5 {
					t.Errorf("%d observations, findings %+v, figures %+v", len(obs), j.Findings, j.Figures)
				}
				return
			}
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, tt.message) && strings.Contains(f.Remedy, tt.remedy) && f.Remedy != "" && len(f.Observations) == 1
			}) {
				t.Errorf("no finding of %q says %q, remedy %q: %+v", tt.suspect, tt.message, tt.remedy, j.Findings)
			}
		})
	}
}

func TestJudgeProfileObjective(t *testing.T) {
	t.Parallel()
	s := testSite()
	_, obs := observeAndJudge(t, testGate(t, s), &fakeVLLM{})
	s.Workloads.Inference.TTFTp99, s.Workloads.Inference.TPOTp99 = 0, 0
	g := testGate(t, s)
	g.profile.Inference.TTFTp99.Value = 500
	if j := g.Judge(slow(t, obs, func(f *LoadFigures) { f.ClientStall = 0 })); j.Verdict != check.Failed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	g.profile.Inference.TTFTp99.Value = 0
	if j := g.Judge(obs); j.Verdict == check.Passed {
		t.Errorf("passed without an objective")
	}
}

func TestJudgeWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := testSite()
	g := testGate(t, s)
	_, obs := observeAndJudge(t, g, &fakeVLLM{})
	for i, o := range obs {
		if j := g.Judge(slices.Delete(slices.Clone(obs), i, i+1)); j.Verdict == check.Passed {
			t.Errorf("passed without %s", o.Kind)
		}
	}
	more := testSite()
	more.Workloads.Inference.Requests++
	if j := testGate(t, more).Judge(obs); j.Verdict == check.Passed {
		t.Error("passed with fewer requests than the site wants")
	}
	for name, obs := range map[string][]check.Observation{
		"none": nil, "an error": {{Kind: "error", Err: "no cluster"}}, "no JSON": {{Kind: KindServer, Figures: []byte("{")}},
	} {
		if j := g.Judge(obs); j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", name, j.Verdict)
		}
	}
}
