package inference

import (
	"fmt"
	"slices"
	"strings"
)

// down reports why a server did not become healthy.
func (r *review) down(id string, f ServerFigures) {
	suspect := f.place().String()
	kv := f.Log.KVCache
	switch {
	case kv != nil:
		remedy := "reduce max-model-len (site workloads.inference.maxModelLen), or raise --gpu-memory-utilization, or give the server more GPUs (tensor parallel)"
		fits := ""
		if fit := kv.Fit(); fit > 0 {
			remedy = fmt.Sprintf("reduce max-model-len (site workloads.inference.maxModelLen) to <= %d, or raise --gpu-memory-utilization, or give the server more GPUs (tensor parallel)", fit)
			fits = fmt.Sprintf(", which fits %d", fit)
		}
		r.Fail(id, "vllm --max-model-len (site workloads.inference.maxModelLen)", remedy, "vLLM does not start: max-model-len %d does not fit the KV cache%s%s", kv.MaxModelLen, fits, restarted(f.Restarts))
	case f.Log.FreeMemory != "":
		r.Fail(id, suspect, "find the processes that use GPU memory on the node (nvidia-smi), or lower --gpu-memory-utilization", "vLLM does not start: %s", f.Log.FreeMemory)
	case f.Unreached && f.Restarts == 0:
		r.Unobserved(id, suspect, f.remedyForward()+"; then run the gate again", "the server could not be reached for %.0f s: %s", f.WaitedSeconds, f.Problem)
	case f.Crashed && strings.HasSuffix(f.LastLine, portInUse):
		r.Unobserved(id, suspect, remedyPort, "the server was not started: %s", f.LastLine)
	case f.Crashed && f.Restarts == 0 && f.Log.Lines == 0:
		r.Unobserved(id, suspect, r.gate.remedyRun(), "the server could not be started: %s", f.Problem)
	case f.Crashed:
		r.Fail(id, suspect, remedyLog, "vLLM crashes%s%s: %s", restarted(f.Restarts), f.cause(), f.Problem)
	default:
		r.Fail(id, suspect, "read the server's log in the evidence; if it is still loading the model, allow more time (site workloads.inference.timeout)", "the server was not healthy after %.0f s%s: %s", f.WaitedSeconds, lastError(f.Log.Errors), f.Problem)
	}
}

// cause is the last error in the log of a server that has terminated, or else the last line.
func (f ServerFigures) cause() string {
	if len(f.Log.Errors) == 0 {
		return because(f.LastLine)
	}
	return lastError(f.Log.Errors)
}

func restarted(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (CrashLoop: %d restarts)", n)
}

// models requires that the model is served under its name.
func (r *review) models(id string, f ModelsFigures) {
	want := r.gate.site.Workloads.Inference.Model
	if !slices.Contains(f.Models, want) {
		r.Fail(id, "model "+want, "compare --served-model-name and the site's workloads.inference.model", "the server does not list model %s; it lists %s", want, orNone(f.Models))
	}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// completion requires the golden prefix.
func (r *review) completion(id string, f CompletionFigures) {
	w := r.gate.site.Workloads.Inference
	if w.GoldenPrefix == "" {
		r.Unobserved(id, "site workloads.inference.goldenPrefix", "set the prefix that a good server answers", "the completion has no golden prefix to compare with")
		return
	}
	if f.Prompt != w.Prompt {
		r.Unobserved(id, "site workloads.inference.prompt", remedyRun, "the completion is of another prompt (%q)", f.Prompt)
		return
	}
	if text := f.Text; text != "" && text != w.GoldenPrefix && strings.HasPrefix(w.GoldenPrefix, text) {
		r.Fail(id, "length of answers of model "+w.Model, remedyLength, "the greedy completion of %q ends with %q after %d tokens, before the golden prefix %q does", w.Prompt, text, f.Tokens, w.GoldenPrefix)
		return
	}
	if !strings.HasPrefix(f.Text, w.GoldenPrefix) {
		const most = 80
		text := f.Text
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "..."
		}
		r.Fail(id, "tokens of model "+w.Model,
			"compare the model's revision and the checksums of its weights and tokenizer with those that the prefix was recorded from; "+
				"try another GPU and another tensor-parallel size: if only one GPU answers differently, run dcgmi diag -r 4 on it",
			"the greedy completion of %q is %q and does not begin with the golden prefix %q",
			w.Prompt, text, w.GoldenPrefix)
	}
}
