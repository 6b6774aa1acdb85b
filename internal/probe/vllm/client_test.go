package vllm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// ticking is a clock that moves 10 ms each time it is read.
func ticking() func() time.Duration {
	var now time.Duration
	return func() time.Duration {
		now += 10 * time.Millisecond
		return now
	}
}

const stream = `data: {"id":"cmpl-1","choices":[{"index":0,"text":" Paris","finish_reason":null}]}

data: {"id":"cmpl-1","choices":[{"index":0,"text":".","finish_reason":null}]}

: keep-alive

data: {"id":"cmpl-1","choices":[{"index":0,"text":" It","finish_reason":"length"}]}

data: {"id":"cmpl-1","choices":[],"usage":{"prompt_tokens":6,"completion_tokens":3,"total_tokens":9}}

data: [DONE]

`

func TestParseStream(t *testing.T) {
	t.Parallel()
	gap := 10 * time.Millisecond
	tests := map[string]struct {
		in      string
		want    vllm.Stream
		tpot    time.Duration
		wantErr string
	}{
		"usage":     {stream, vllm.Stream{First: gap, Last: 3 * gap, Gaps: []time.Duration{gap, gap}, Tokens: 3, FromUsage: true, Text: " Paris. It"}, gap, ""},
		"no usage":  {strings.Replace(stream, `"usage"`, `"x"`, 1), vllm.Stream{First: gap, Last: 3 * gap, Gaps: []time.Duration{gap, gap}, Tokens: 3, Text: " Paris. It"}, gap, ""},
		"chat":      {"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\ndata: [DONE]\n", vllm.Stream{First: gap, Last: gap, Tokens: 1, Text: "a"}, 0, ""},
		"no tokens": {"data: {\"choices\":[{\"text\":\"\"}]}\ndata: [DONE]\n", vllm.Stream{First: gap, Last: gap}, 0, ""},
		"tokens without text": { // the end of a text that continues, or half a character
			strings.ReplaceAll(strings.ReplaceAll(stream, `"."`, `""`), `" It"`, `""`),
			vllm.Stream{First: gap, Last: 3 * gap, Gaps: []time.Duration{gap, gap}, Tokens: 3, FromUsage: true, Text: " Paris"}, gap, "",
		},
		"only tokens without text": {
			strings.NewReplacer(`" Paris"`, `""`, `"."`, `""`, `" It"`, `""`).Replace(stream),
			vllm.Stream{First: gap, Last: 3 * gap, Gaps: []time.Duration{gap, gap}, Tokens: 3, FromUsage: true}, gap, "",
		},
		"a role is not a token": {
			"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\ndata: [DONE]\n",
			vllm.Stream{First: gap, Last: gap, Tokens: 1, Text: "a"}, 0, "",
		},
		"cut":       {stream[:strings.Index(stream, "data: [DONE]")], vllm.Stream{}, 0, "before [DONE]"},
		"empty":     {"", vllm.Stream{}, 0, "before [DONE]"},
		"error":     {"data: {\"error\":{\"message\":\"engine is dead\",\"code\":500}}\n", vllm.Stream{}, 0, "engine is dead"},
		"old error": {"data: {\"object\":\"error\",\"message\":\"too long\"}\n", vllm.Stream{}, 0, "too long"},
		"no JSON":   {"data: <html>\n", vllm.Stream{}, 0, "read chunk"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := vllm.ParseStream(strings.NewReader(tt.in), ticking())
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if got.TPOT() != tt.tpot {
				t.Errorf("TPOT %v, want %v", got.TPOT(), tt.tpot)
			}
		})
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"llama","object":"model"},{"id":""}]}`)
	})
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		var req vllm.Request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		switch {
		case req.Prompt == "fail":
			http.Error(w, `{"error":"out of luck"}`, http.StatusInternalServerError)
		case req.Stream:
			fmt.Fprint(w, stream)
		default:
			fmt.Fprint(w, `{"choices":[{"text":" Paris","finish_reason":"length"}],"usage":{"completion_tokens":1}}`)
		}
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	c := &vllm.Client{Base: srv.URL, HTTP: srv.Client(), Now: time.Now}
	ctx := t.Context()
	if err := c.Health(ctx); err != nil {
		t.Error(err)
	}
	if ids, _, err := c.Models(ctx); err != nil || !cmp.Equal(ids, []string{"llama"}) {
		t.Error(ids, err)
	}
	if got, _, err := c.Complete(ctx, vllm.Request{Model: "llama", Prompt: "x", MaxTokens: 1}); err != nil || got != (vllm.Completion{Text: " Paris", Reason: "length", Tokens: 1}) {
		t.Error(got, err)
	}
	if got, err := c.Stream(ctx, vllm.Request{Model: "llama", Prompt: "x", MaxTokens: 3}); err != nil || got.Tokens != 3 || got.First <= 0 || got.Last < got.First {
		t.Error(got, err)
	}
	var status *vllm.StatusError
	if _, err := c.Stream(ctx, vllm.Request{Prompt: "fail"}); !errors.As(err, &status) || status.Status != 500 {
		t.Error(err)
	}
	if _, _, err := c.Complete(ctx, vllm.Request{Prompt: "fail"}); !errors.As(err, &status) || !strings.Contains(err.Error(), "out of luck") {
		t.Error(err)
	}
}

func TestInvalidResponsesAreRefused(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{}", "null", "[]", `{"choices":[]}`, "<html>", `{"error":{"message":"no"}}`} {
		if got, err := vllm.ParseCompletion([]byte(body)); err == nil {
			t.Errorf("completion %q: %+v", body, got)
		}
	}
	if ids, err := vllm.ParseModels([]byte(`{"data":[]}`)); err != nil || len(ids) != 0 {
		t.Error(ids, err)
	}
}

func FuzzParseStream(f *testing.F) {
	f.Add([]byte(stream))
	f.Add([]byte(`{"choices":[{"text":" Paris"}]}`))
	f.Add([]byte(`{"data":[{"id":"x"}]}`))
	f.Add([]byte("data: {\"choices\":[null]}\ndata:[DONE]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := vllm.ParseStream(strings.NewReader(string(data)), ticking())
		if err == nil && s.Last < s.First {
			t.Errorf("%+v", s)
		}
		_ = s.TPOT()
		_, _ = vllm.ParseCompletion(data)
		_, _ = vllm.ParseModels(data)
	})
}
