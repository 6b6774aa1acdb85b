package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// served are the observations of a healthy server, with the same times on every machine.
func served(t *testing.T, g *Gate) []check.Observation {
	t.Helper()
	w := g.site.Workloads.Inference
	up := ServerFigures{Pod: "inference-0-abcde", Node: "gpu-02", Model: w.Model, MaxLen: w.MaxModelLen, GPUs: w.GPUs, Healthy: true, WaitedSeconds: 40}
	load := LoadFigures{
		RatePerSecond: w.Rate, Concurrency: w.Concurrency, Asked: w.Requests, Warmup: w.Warmup, InputTokens: w.InputTokens, OutputTokens: w.OutputTokens,
		Seconds: 2, ClientStall: 1, ITL: Percentiles{P50: 7, P90: 8, P99: 9},
	}
	for i := range w.Requests {
		due := float64(i) * 1000 / w.Rate
		load.Requests = append(load.Requests, Request{
			Due: due, Sent: due + 0.1, TTFT: new(20 + float64(i)), TPOT: new(7 + float64(i)/10), E2E: new(50 + float64(i)), Tokens: w.OutputTokens, FromUsage: true,
		})
	}
	load.WarmupRequests = load.Requests[:w.Warmup]
	var out []check.Observation
	for _, part := range []struct {
		kind    string
		figures any
	}{
		{KindServer, up},
		{KindModels, ModelsFigures{Models: []string{w.Model}}},
		{KindCompletion, CompletionFigures{Prompt: w.Prompt, Text: w.GoldenPrefix + ".", Tokens: 3}},
		{KindLoad, load},
		{KindEnd, up},
	} {
		o, err := check.Observation{ID: "id-" + part.kind, Kind: part.kind, Target: "job inference"}.WithFigures(part.figures)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

// Every field of a healthy server is demanded, or this list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	checktest.EveryField(t, "spoilt", func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, served(t, g), checktest.Harmless{
		"the last observation of a kind decides":                            {`.*: twice`},
		"it describes the server that was asked for":                        {`vllm-(server|end).* .(gpus|maxModelLen|model|node|pod|waitedSeconds): .*`},
		"the log explains a failure":                                        {`vllm-(server|end).* .log.*: .*`},
		"restarts before the load are how long it took to come up":          {`vllm-server.* .restarts: .*`, `vllm-end.* .restarts: (left out|-1)`},
		"said twice is not more":                                            {`vllm-models.* .models: the first twice`},
		"the answer begins with the golden prefix, with any continuation":   {`vllm-completion.* .text: another text`, `vllm-completion.* .tokens: .*`},
		"it has no objective":                                               {`vllm-load.* .itlMs.*: .*`, `vllm-load.* .requests.e2eMs: .*`, `vllm-load.* .seconds: .*`},
		"a stall shorter than the objectives spoils nothing":                {`vllm-load.* .clientStallMs: .*`},
		"sent in time, or later by less than the objective":                 {`vllm-load.* .requests.(dueMs|sentMs): .*`},
		"the source of the token count changes nothing, nor do more tokens": {`vllm-load.* .requests.(fromUsage|tokens): .*`},
		"within the objective":                                              {`vllm-load.* .requests.(tpotMs|ttftMs): .*`},
		"the warm-up is counted and not judged":                             {`vllm-load.* .(warmup|warmupRequests.*): .*`},
	})
}
