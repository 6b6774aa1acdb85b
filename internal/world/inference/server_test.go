package inference

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const model = "meta-llama/Llama-3.1-8B-Instruct"

// client shares no connection with other tests: the Close of any httptest.Server closes those of
// http.DefaultTransport. Regression: in November 2026 a test that ended broke a request of another.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func config(t *testing.T) Config {
	t.Helper()
	hw, err := world.LoadHardware("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	hw.Inference.LoadSeconds = 0.05
	return Config{
		Model: model, MaxModelLen: 8192, GPUs: 1, Figures: hw.Inference,
		Modifiers: func() world.Inference { return world.Inference{TTFTFactor: 1, TPOTFactor: 1} },
	}
}

func serve(t *testing.T, c Config) (*Server, string) {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.CloseClientConnections(); cancel(); <-done; h.Close() })
	deadline := time.Now().Add(2 * time.Minute)
	for !healthy(t, h.URL) {
		if time.Now().After(deadline) {
			t.Fatal("the server never became healthy")
		}
	}
	return s, h.URL
}

func get(t *testing.T, url string) (status int, body []byte) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

func healthy(t *testing.T, url string) bool {
	t.Helper()
	status, _ := get(t, url+"/health")
	return status == http.StatusOK
}

func post(t *testing.T, url, body string) (int, map[string]any) {
	t.Helper()
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, out
}

func text(t *testing.T, out map[string]any) string {
	t.Helper()
	choices, ok := out["choices"].([]any)
	if !ok || len(choices) != 1 {
		t.Fatalf("choices: %v", out)
	}
	choice := choices[0].(map[string]any)
	if s, ok := choice["text"].(string); ok {
		return s
	}
	return choice["message"].(map[string]any)["content"].(string)
}

func TestLoadsThenServes(t *testing.T) {
	t.Parallel()
	s, err := New(config(t))
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/health", nil))
	if rec.Code != http.StatusServiceUnavailable {
		t.Errorf("health while loading = %d, want 503", rec.Code)
	}
	_, url := serve(t, config(t))
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			MaxModelLen int    `json:"max_model_len"`
		} `json:"data"`
	}
	_, body := get(t, url+"/v1/models")
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != 1 || list.Data[0].ID != model || list.Data[0].MaxModelLen != 8192 {
		t.Errorf("models = %+v", list)
	}
}

func TestGreedyCompletionIsGolden(t *testing.T) {
	t.Parallel()
	_, url := serve(t, config(t))
	body := fmt.Sprintf(`{"model":%q,"prompt":"The capital of France is","max_tokens":24,"temperature":0}`, model)
	code, out := post(t, url+"/v1/completions", body)
	if code != http.StatusOK || !strings.HasPrefix(text(t, out), " Paris. It is the largest city in France") {
		t.Fatalf("%d %v", code, out)
	}
	if usage := out["usage"].(map[string]any); usage["completion_tokens"] != 24.0 || usage["prompt_tokens"] != 6.0 {
		t.Errorf("usage = %v", usage)
	}
	if _, again := post(t, url+"/v1/completions", body); text(t, again) != text(t, out) {
		t.Error("the same prompt gave another text")
	}
	code, out = post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"The capital of France is"}],"max_tokens":4,"temperature":0}`, model))
	if code != http.StatusOK || text(t, out) != " Paris. It is" {
		t.Errorf("chat: %d %v", code, out)
	}
	if _, hot := post(t, url+"/v1/completions", strings.Replace(body, `"temperature":0`, `"temperature":0.8`, 1)); text(t, hot) == text(t, out) {
		t.Error("sampling gave the greedy text")
	}
}

type stream struct {
	text   string
	chunks int
	usage  map[string]any
	done   bool
	ttft   time.Duration
	tpot   time.Duration
}

func open(t *testing.T, url, body string) stream {
	t.Helper()
	start := time.Now()
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return stream{}
	}
	defer func() { _ = resp.Body.Close() }()
	var got stream
	var first, last time.Time
	sc := bufio.NewScanner(resp.Body)
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			got.done = true
			continue
		}
		var chunk struct {
			Choices []struct {
				Text  string
				Delta struct{ Content string }
			}
			Usage map[string]any
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Error(err)
		}
		if chunk.Usage != nil {
			got.usage = chunk.Usage
			continue
		}
		if c := chunk.Choices[0].Text + chunk.Choices[0].Delta.Content; c != "" {
			last = time.Now()
			if got.chunks == 0 {
				first = last
			}
			got.chunks++
			got.text += c
		}
	}
	got.ttft = first.Sub(start)
	if got.chunks > 1 {
		got.tpot = last.Sub(first) / time.Duration(got.chunks-1)
	}
	return got
}

func TestStreaming(t *testing.T) {
	t.Parallel()
	_, url := serve(t, config(t))
	for _, tt := range []struct{ name, path, rest string }{
		{"completions", "/v1/completions", `"prompt":"The capital of France is"`},
		{"chat", "/v1/chat/completions", `"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"The capital of France is"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := open(t, url+tt.path, fmt.Sprintf(`{"model":%q,%s,"max_tokens":8,"temperature":0,"stream":true,"stream_options":{"include_usage":true}}`, model, tt.rest))
			if got.chunks != 8 || !got.done || got.usage["completion_tokens"] != 8.0 || !strings.HasPrefix(got.text, " Paris.") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	_, url := serve(t, config(t))
	tests := []struct {
		name, body string
		code       int
		says       string
	}{
		{"other model", `{"model":"gpt-2","prompt":"a"}`, 404, "The model `gpt-2` does not exist."},
		{"no prompt", `{"model":"` + model + `"}`, 400, "cannot be empty"},
		{"too long", `{"prompt":"a b c","max_tokens":8192}`, 400, "This model's maximum context length is 8192 tokens. However, you requested 8195 tokens"},
		{"not json", `{`, 400, "Invalid request body"},
		{"two choices", `{"prompt":"a","n":2}`, 400, "n must be 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, out := post(t, url+"/v1/completions", tt.body)
			e, _ := out["error"].(map[string]any)
			if code != tt.code || !strings.Contains(fmt.Sprint(e["message"]), tt.says) {
				t.Errorf("%d %v, want %d %q", code, out, tt.code, tt.says)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	with := func(t *testing.T, change func(*world.Inference)) Config {
		t.Helper()
		c := config(t)
		m := c.Modifiers()
		change(&m)
		c.Modifiers = func() world.Inference { return m }
		return c
	}
	prompt := `{"prompt":"The capital of France is","max_tokens":6,"temperature":0,"stream":true}`
	t.Run("ttft-slow", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, with(t, func(m *world.Inference) { m.TTFTFactor = 20 }))
		if got := open(t, url+"/v1/completions", prompt); got.ttft < 600*time.Millisecond {
			t.Errorf("TTFT = %s", got.ttft)
		}
	})
	t.Run("tpot-slow", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, with(t, func(m *world.Inference) { m.TPOTFactor = 12 }))
		if got := open(t, url+"/v1/completions", prompt); got.tpot < 90*time.Millisecond {
			t.Errorf("TPOT = %s", got.tpot)
		}
	})
	t.Run("wrong-tokens", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, with(t, func(m *world.Inference) { m.WrongTokens = true }))
		if got := open(t, url+"/v1/completions", prompt); got.text != "!!!!!!" {
			t.Errorf("text = %q", got.text)
		}
	})
	t.Run("failed-requests", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, with(t, func(m *world.Inference) { m.FailEvery = 3 }))
		failed := 0
		for range 6 {
			if code, _ := post(t, url+"/v1/completions", `{"prompt":"a","max_tokens":1}`); code == http.StatusInternalServerError {
				failed++
			}
		}
		if failed != 2 {
			t.Errorf("%d of 6 requests failed, want 2", failed)
		}
	})
	t.Run("model-revision-other", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, with(t, func(m *world.Inference) { m.OtherRevision = true }))
		got := open(t, url+"/v1/completions", prompt)
		if !strings.HasPrefix(got.text, " Paris.") || strings.HasPrefix(got.text, " Paris. It is") || got.chunks != 6 {
			t.Errorf("text = %q", got.text)
		}
	})
	t.Run("answers-truncated", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, with(t, func(m *world.Inference) { m.MaxTokens = 2 }))
		got := open(t, url+"/v1/completions", strings.Replace(prompt, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1))
		if got.chunks != 2 || !got.done || got.usage["completion_tokens"] != 2.0 {
			t.Errorf("%+v", got)
		}
		if code, out := post(t, url+"/v1/completions", `{"prompt":"a","max_tokens":6}`); code != http.StatusOK || out["usage"].(map[string]any)["completion_tokens"] != 2.0 {
			t.Errorf("%d %v", code, out)
		}
	})
	t.Run("decoding-pauses", func(t *testing.T) {
		t.Parallel()
		_, url := serve(t, with(t, func(m *world.Inference) { m.Pause = 600 * time.Millisecond }))
		if got := open(t, url+"/v1/completions", prompt); got.chunks != 6 || !got.done || got.tpot < 110*time.Millisecond {
			t.Errorf("%+v", got)
		}
	})
	t.Run("request-rate-not-sustained", func(t *testing.T) {
		t.Parallel()
		const requests, tokens = 6, 20
		c := with(t, func(m *world.Inference) { m.MaxNumSeqs = 1 })
		_, url := serve(t, c)
		begin := time.Now()
		var wg sync.WaitGroup
		for i := range requests {
			wg.Go(func() {
				open(t, url+"/v1/completions", fmt.Sprintf(`{"prompt":"%d","max_tokens":%d,"stream":true}`, i, tokens))
			})
		}
		wg.Wait()
		if took, least := time.Since(begin), time.Duration(requests*tokens*c.Figures.TPOTMs*float64(time.Millisecond)); took < least {
			t.Errorf("%d requests, one after another, took %s, want at least %s", requests, took, least)
		}
		if _, b := get(t, url+"/metrics"); strings.Contains(string(b), `vllm:request_queue_time_seconds_sum{engine="0",model_name="`+model+`"} 0\n`) {
			t.Error("no request waited in the queue")
		}
	})
	t.Run("max-model-len", func(t *testing.T) {
		t.Parallel()
		for _, maxLen := range []int{8192, 131072} {
			c := with(t, func(m *world.Inference) { m.MaxModelLenBroken = true })
			c.MaxModelLen = maxLen
			_, err := New(c)
			var e *ContextError
			if !errors.As(err, &e) || e.CacheTokens >= maxLen || !strings.HasPrefix(err.Error(), fmt.Sprintf("The model's max seq len (%d) is larger than", maxLen)) {
				t.Errorf("max model len %d: err = %v", maxLen, err)
			}
		}
	})
}

func TestBatchSharesStepsAndFullCacheQueues(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.MaxModelLen = 256
	c.Figures.KVCacheTokens = 512 // room for two of the requests below, and a bit
	s, url := serve(t, c)
	words := strings.Repeat("word ", 160)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			got := open(t, url+"/v1/completions", fmt.Sprintf(`{"prompt":"%d %s","max_tokens":40,"stream":true}`, i, words))
			if got.chunks != 40 || !got.done {
				t.Errorf("request %d: %+v", i, got)
			}
		})
	}
	wg.Wait()
	_, b := get(t, url+"/metrics")
	for _, want := range []string{
		`vllm:generation_tokens_total{engine="0",model_name="` + model + `"} 240`,
		`vllm:request_success_total{engine="0",finished_reason="length",model_name="` + model + `"} 6`,
		`vllm:kv_cache_usage_perc{engine="0",model_name="` + model + `"} 0`,
		`vllm:num_requests_running{engine="0",model_name="` + model + `"} 0`,
		`vllm:time_to_first_token_seconds_count{engine="0",model_name="` + model + `"} 6`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("metrics lack %q", want)
		}
	}
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if s.engine.used != 0 {
		t.Errorf("%d cache blocks leaked", s.engine.used)
	}
}

func TestDisconnectFreesSequence(t *testing.T) {
	t.Parallel()
	s, url := serve(t, config(t))
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/completions", strings.NewReader(`{"prompt":"a","max_tokens":8000,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReader(resp.Body).ReadString('\n')
	cancel()
	_ = resp.Body.Close()
	polltest.Until(t, "the sequence of the closed connection to end", func() bool {
		s.engine.mu.Lock()
		defer s.engine.mu.Unlock()
		return len(s.engine.running) == 0
	})
}
