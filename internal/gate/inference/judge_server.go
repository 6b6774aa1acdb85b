package inference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// down says why a server did not become healthy.
func (r *review) down(s seen[ServerFigures]) check.Judgement {
	f := s.figures
	suspect := "pod " + f.Pod + " on " + f.Node
	kv := f.Log.KVCache
	switch {
	case kv != nil:
		remedy := "reduce max-model-len (site workloads.inference.maxModelLen), or raise --gpu-memory-utilization, or give the server more GPUs (tensor parallel)"
		fits := ""
		if fit := kv.Fit(); fit > 0 {
			remedy = fmt.Sprintf("reduce max-model-len (site workloads.inference.maxModelLen) to <= %d, or raise --gpu-memory-utilization, or give the server more GPUs (tensor parallel)", fit)
			fits = fmt.Sprintf(", which holds %d", fit)
		}
		r.fail("vllm --max-model-len (site workloads.inference.maxModelLen)", remedy, s.id,
			"vLLM does not come up: max-model-len %d does not fit the KV cache%s%s", kv.MaxModelLen, fits, restarted(f.Restarts))
	case f.Log.FreeMemory != "":
		r.fail(suspect, "find out who holds GPU memory on the node (nvidia-smi), or lower --gpu-memory-utilization", s.id,
			"vLLM does not come up: %s", f.Log.FreeMemory)
	case f.Crashed && f.Restarts == 0 && f.Log.Lines == 0:
		r.blind(suspect, remedyRun, s.id, "the server could not be started: %s", f.Problem)
	case f.Crashed:
		r.fail(suspect, remedyLog, s.id, "vLLM crashes%s%s: %s", restarted(f.Restarts), last(f.Log.Errors), f.Problem)
	default:
		r.fail(suspect, "read the server's log in the evidence; when it is still loading the model, allow more time (site workloads.inference.timeout)", s.id,
			"the server was not healthy after %.0f s%s: %s", f.WaitedSeconds, last(f.Log.Errors), f.Problem)
	}
	return r.conclude()
}

func restarted(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (CrashLoop: %d restarts)", n)
}

// models demands that the model is served under its name.
func (r *review) models(s seen[ModelsFigures]) {
	want := r.gate.site.Workloads.Inference.Model
	if !slices.Contains(s.figures.Models, want) {
		r.fail("model "+want, "compare --served-model-name and the site's workloads.inference.model", s.id,
			"the server does not list model %s; it lists %s", want, orNone(s.figures.Models))
	}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// completion demands the golden prefix.
func (r *review) completion(s seen[CompletionFigures]) {
	w := r.gate.site.Workloads.Inference
	if w.GoldenPrefix == "" {
		r.blind("site workloads.inference.goldenPrefix", "give the prefix that a good server answers", s.id, "there is nothing to compare the completion with")
		return
	}
	if s.figures.Prompt != w.Prompt {
		r.blind("site workloads.inference.prompt", remedyRun, s.id, "the completion is of another prompt (%q)", s.figures.Prompt)
		return
	}
	if text := s.figures.Text; text != "" && text != w.GoldenPrefix && strings.HasPrefix(w.GoldenPrefix, text) {
		r.fail("length of answers of model "+w.Model, remedyLength, s.id, "the greedy completion of %q ends with %q after %d tokens, before the golden prefix %q does", w.Prompt, text, s.figures.Tokens, w.GoldenPrefix)
		return
	}
	if !strings.HasPrefix(s.figures.Text, w.GoldenPrefix) {
		const most = 80
		text := s.figures.Text
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "..."
		}
		r.fail("tokens of model "+w.Model, "compare the model's revision and the checksums of its weights and tokenizer with those that the prefix was recorded from; try another GPU and another tensor-parallel size: when only one GPU answers so, run dcgmi diag -r 4 on it", s.id,
			"the greedy completion of %q is %q and does not begin with the golden prefix %q", w.Prompt, text, w.GoldenPrefix)
	}
}
