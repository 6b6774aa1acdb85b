package corpus

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/logline"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/probe/trainer"

	"github.com/firstlight/firstlight/internal/probe/vllm"
)

func float(text string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return -1
	}
	return v
}

func readTorchtitan(text string) (got, want []string, err error) {
	log, err := trainer.ParseTorchtitan(strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if len(log.Problems) > 0 {
		return nil, nil, errors.New(log.Problems[0])
	}
	steps, loss, tps := 0, 0.0, 0.0
	for _, r := range log.Ranks {
		for _, s := range r.Steps {
			steps++
			tps += s.TPS
			if s.Loss != nil {
				loss += *s.Loss
			}
		}
	}
	if steps == 0 {
		return nil, nil, errors.New("no step")
	}
	got = []string{word("steps", steps), word("tokens", tps), word("loss", fmt.Sprintf("%.3f", loss))}
	steps, loss, tps = 0, 0, 0
	for _, v := range all(`step:\s*\d+\s.*?loss:\s*([\d.]+)`, text) {
		steps++
		loss += float(v)
	}
	for _, v := range all(`step:.*tps:\s*([\d,]+)`, text) {
		tps += float(v)
	}
	return got, []string{word("steps", steps), word("tokens", tps), word("loss", fmt.Sprintf("%.3f", loss))}, nil
}

func readMegatron(text string) (got, want []string, err error) {
	log, err := trainer.ParseMegatron(strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if len(log.Problems) > 0 {
		return nil, nil, errors.New(log.Problems[0])
	}
	for _, r := range log.Ranks {
		for _, s := range r.Steps {
			got = append(got, word("iteration", s.Step, s.Total, s.StepMS))
		}
	}
	for _, s := range log.Stragglers {
		got = append(got, word("straggler", s.MinTFLOPS, s.MinRank, s.MaxTFLOPS, s.MaxRank))
	}
	if len(got) == 0 {
		return nil, nil, errors.New("neither an iteration nor a straggler")
	}
	for line := range strings.Lines(text) {
		if took := all(`iteration\s+\d+/\s*\d+.*elapsed time per iteration \(ms\):\s*([\d.]+)`, line); len(took) > 0 {
			want = append(want, word("iteration", all(`iteration\s+(\d+)/`, line)[0], all(`iteration\s+\d+/\s*(\d+)`, line)[0], float(took[0])))
		}
	}
	for line := range strings.Lines(text) {
		if least := all(`MnEtpt/Rnk: ([\d.]+)TF`, line); len(least) > 0 {
			want = append(want, word("straggler", float(least[0]), all(`MnEtpt/Rnk: [\d.]+TF/(\d+)`, line)[0], float(all(`MxEtpt/Rnk: ([\d.]+)TF`, line)[0]), all(`MxEtpt/Rnk: [\d.]+TF/(\d+)`, line)[0]))
		}
	}
	return got, want, nil
}

func readTorchrun(text string) (got, want []string, err error) {
	kinds := map[string]int{}
	err = logline.Scan(strings.NewReader(text), func(l logline.Line) error {
		if f, ok := trainer.DetectFailure(l); ok {
			kinds[f.Kind]++
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	counts := func(kind func(string) int) (out []string) {
		for _, k := range []string{"collective-timeout", "rendezvous-timeout", "out-of-memory", "worker-failed"} {
			out = append(out, word(k, kind(k)))
		}
		return out
	}
	got = counts(func(k string) int { return kinds[k] })
	want = counts(func(k string) int {
		pattern := map[string]string{
			"collective-timeout": `(?m)^(.*Watchdog caught collective operation timeout)`, "rendezvous-timeout": `(?m)^(.*RendezvousTimeoutError)`,
			"out-of-memory": `(?m)^(.*(?:OutOfMemoryError|CUDA out of memory))`, "worker-failed": `(?m)^(.*(?:ChildFailedError|rank\s*: \d+ \(local_rank))`,
		}[k]
		return len(all(pattern, text))
	})
	return got, want, nil
}

func readVLLM(text string) (got, want []string, err error) {
	r, err := vllm.ParseLog(strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if r.KVCache == nil && r.FreeMemory == "" {
		return nil, nil, errors.New("nothing about memory")
	}
	kv := vllm.KVCache{}
	if r.KVCache != nil {
		kv = *r.KVCache
	}
	got = []string{word("kv", kv.MaxModelLen, kv.Fits, kv.NeededGiB, kv.AvailableGiB), word("memory", r.FreeMemory != "")}
	first := func(pattern string) float64 { return float(append(all(pattern, text), "0")[0]) }
	fits := max(first(`KV cache \((\d+)\)`), first(`maximum model length is (\d+)`))
	want = []string{
		word("kv", int64(first(`max seq len \((\d+)\)`)), int64(fits), first(`([\d.]+) GiB KV cache is needed`), first(`KV cache memory \(([\d.]+) GiB`)),
		word("memory", strings.Contains(text, "Free memory on device")),
	}
	return got, want, nil
}

// readExposition reads every gauge of an exposition, one after the other.
func readExposition(text string) (got, want []string, err error) {
	names := all(`(?m)^# TYPE (\S+) gauge`, text)
	if len(names) == 0 {
		names = all(`(?m)^(\w+)\{`, text)
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	for _, name := range names {
		samples, err := prom.ParseExposition([]byte(text), name)
		if err != nil {
			return nil, nil, err
		}
		sum, expected := 0.0, 0.0
		for _, s := range samples {
			sum += s.Value
		}
		values := all(`(?m)^`+name+`(?:\{.*\})? ([-+.\deE]+)\s*$`, text)
		for _, v := range values {
			expected += float(v)
		}
		got = append(got, word(name, len(samples), sum))
		want = append(want, word(name, len(values), expected))
	}
	return got, want, nil
}
