package vllm_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/vllm"
)

const (
	older     = "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (39024). Try increasing gpu_memory_utilization or decreasing max_model_len when initializing the engine.\n"
	backticks = "(EngineCore pid=12) ERROR 07-11 06:23:05 [core.py:390] ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (39024). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n"
	newer     = "ERROR 07-11 06:23:05 [core.py:390] ValueError: To serve at least one request with the models's max seq len (118000), (6.30 GiB KV cache is needed, which is larger than the available KV cache memory (6.11 GiB). Based on the available memory, the estimated maximum model length is 114432. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n"
	noGuess   = "ValueError: To serve at least one request with the model's max seq len (1000), 10.00 GiB KV cache is needed, which is larger than the available KV cache memory (5.00 GiB).\n"
	memory    = "ValueError: Free memory on device cuda:0 (15.32/22.04 GiB) on startup is less than desired GPU memory utilization (0.9, 19.84 GiB). Decrease GPU memory utilization\n"
	ready     = "INFO 11-21 01:02:03 [api_server.py:1600] vLLM API server version 0.12.0\nINFO:     Application startup complete.\n"
)

func TestParseKVCache(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want vllm.KVCache
		fit  int64
	}{
		"older":       {older, vllm.KVCache{MaxModelLen: 131072, Fits: 39024}, 39024},
		"backticks":   {backticks, vllm.KVCache{MaxModelLen: 131072, Fits: 39024}, 39024},
		"newer":       {newer, vllm.KVCache{MaxModelLen: 118000, Fits: 114432, NeededGiB: 6.30, AvailableGiB: 6.11}, 114432},
		"no estimate": {noGuess, vllm.KVCache{MaxModelLen: 1000, NeededGiB: 10, AvailableGiB: 5}, 500},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := vllm.ParseLog(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got.KVCache); diff != "" {
				t.Error(diff)
			}
			if got.KVCache.Fit() != tt.fit || len(got.Errors) != 1 || !strings.HasPrefix(got.Errors[0], "ValueError: ") {
				t.Errorf("fit %d, errors %q", got.KVCache.Fit(), got.Errors)
			}
		})
	}
}

func TestParseOther(t *testing.T) {
	t.Parallel()
	got, err := vllm.ParseLog(strings.NewReader(ready + memory))
	if err != nil {
		t.Fatal(err)
	}
	if !got.Ready || got.Version != "0.12.0" || got.FreeMemory == "" || got.KVCache != nil {
		t.Errorf("%+v", got)
	}
	if got, err := vllm.ParseLog(strings.NewReader("")); err != nil || got.Ready || got.Lines != 0 {
		t.Errorf("empty: %+v, %v", got, err)
	}
}

// Where the server prints its version: up to 0.11 in a sentence, then in its banner; the engine in its own line
// (vllm-project/vllm issues 20305 and 44411; logs of 0.17 and 0.26).
func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"INFO 06-30 13:53:00 [api_server.py:1395] vLLM API server version 0.9.2rc2.dev208+g247102f07\n":                                 "0.9.2rc2.dev208+g247102f07",
		"vllm-b-1  | (APIServer pid=1) INFO 03-10 15:49:42 [utils.py:302]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.17.1rc1.dev126+gbc2c\n": "0.17.1rc1.dev126+gbc2c",
		"(EngineCore pid=86) INFO 08-10 06:25:58 [core.py:116] Initializing a V1 LLM engine (v0.26.0) with config: model='m'\n":         "0.26.0",
		"INFO 01-15 10:00:00 llm_engine.py:234] Initializing an LLM engine (v0.6.6.post1) with config: model='m'\n":                     "0.6.6.post1",
		"(APIServer pid=1) WARNING [api_utils.py:1] The `--model` option will be removed in a future version. Use version 0.1\n":        "",
		"(EngineCore pid=86) INFO [core.py:116] Initializing a V1 LLM engine (v0.26.0) with\nINFO vLLM API server version 0.26.0\n":     "0.26.0",
	} {
		got, err := vllm.ParseLog(strings.NewReader(text))
		if err != nil || got.Version != want {
			t.Errorf("%q, %v, want %q", got.Version, err, want)
		}
	}
}

// The last exception of a server that does not start refers to the cause above it (vllm-project/vllm issue 26898; that of a
// server that ends under load is EngineDeadError). Where a worker dies without an exception, its end is the cause of
// those of the engine (issues 29085 and 27194).
func TestParseErrorsThatReferToTheCause(t *testing.T) {
	t.Parallel()
	const (
		cause    = "(EngineCore_DP0 pid=272) ERROR 10-15 08:32:29 [core.py:708] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
		starting = "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1}\n"
		dead     = "(APIServer pid=1) ERROR 10-15 08:40:00 [async_llm.py:480] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n"
		died     = "(EngineCore pid=559) ERROR 04-02 06:21:53 [multiproc_executor.py:273] Worker proc VllmWorker-3 died unexpectedly, shutting down executor.\n"
		canceled = "(EngineCore_DP0 pid=559)     raise RuntimeError(\"cancelled\")\n(EngineCore_DP0 pid=559) RuntimeError: cancelled\n"
		deleted  = "AttributeError: 'MultiprocExecutor' object has no attribute 'workers'\n"
		ended    = "Worker proc VllmWorker-3 died unexpectedly, shutting down executor."
	)
	for text, want := range map[string][]string{
		cause + starting:        {"OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."},
		died + canceled + dead:  {ended},
		died + cause + canceled: {ended, "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."},
		cause + died + canceled: {"OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."},
		cause + deleted:         {"OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."},
		cause + dead + starting: {"OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."},
		starting:                {"RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1}"},
		starting + cause:        {"RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1}", "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."},
	} {
		got, err := vllm.ParseLog(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Errors); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	for _, s := range []string{older, backticks, newer, noGuess, memory, ready, "max seq len (99999999999999999999), (1..2 GiB"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rep, err := vllm.ParseLog(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if rep.KVCache != nil && rep.KVCache.Fit() < 0 {
			t.Errorf("%+v", rep.KVCache)
		}
		if len(rep.Errors) > 16 {
			t.Error("unbounded")
		}
	})
}
