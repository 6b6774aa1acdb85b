package inference

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

func (s *Server) completions(w http.ResponseWriter, r *http.Request) { s.serve(w, r, false) }

func (s *Server) chat(w http.ResponseWriter, r *http.Request) { s.serve(w, r, true) }

// serve handles a request of either endpoint.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, chat bool) {
	number := s.requests.Add(1)
	q, no := s.read(w, r, chat)
	if no != nil {
		apiError(w, no.status, no.kind, "%s", no.text)
		return
	}
	m := s.config.Modifiers()
	if m.FailEvery > 0 && number%int64(m.FailEvery) == 0 {
		apiError(w, http.StatusInternalServerError, "InternalServerError", "EngineCore encountered an issue. See stack trace (above) for the root cause.")
		return
	}
	seq, err := s.start(r.Context(), q, number, m)
	if err != nil {
		return // the client disconnected
	}
	a := answer{server: s, chat: chat, id: fmt.Sprintf("cmpl-%032x", number), created: s.config.Now().Unix(), prompt: q.Prompt.tokens, pause: m.Pause}
	if chat {
		a.id = fmt.Sprintf("chatcmpl-%032x", number)
	}
	if q.Stream {
		a.stream(r.Context(), w, seq, q.StreamOptions != nil && q.StreamOptions.IncludeUsage)
		return
	}
	a.whole(w, seq)
}

// start queues the request in the engine after the delay before the first token: tokenizing,
// scheduling and faults.
func (s *Server) start(ctx context.Context, q request, number int64, m world.Inference) (*sequence, error) {
	arrived := s.config.Now()
	f := s.config.Figures
	prefill := float64(q.Prompt.tokens) / f.PrefillTokensPerSecond
	before := f.TTFTBaseMs/1000*m.TTFTFactor + prefill*(m.TTFTFactor-1)
	delay := time.Duration(before * float64(time.Second))
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	salt := uint64(0)
	if q.Temperature != nil && *q.Temperature > 0 {
		salt = uint64(number) //nolint:gosec // any number is a salt
		if q.Seed != nil {
			salt = uint64(*q.Seed) + 1 //nolint:gosec // any number is a salt
		}
	}
	text := func(i int) string { return s.language.next(q.Prompt.text, i, salt) }
	switch {
	case m.WrongTokens:
		text = func(int) string { return nonsense }
	case m.OtherRevision:
		text = func(i int) string { return s.language.otherwise(q.Prompt.text, i, salt) }
	}
	limit := *q.MaxTokens
	if m.MaxTokens > 0 {
		limit = min(limit, m.MaxTokens)
	}
	seq := &sequence{ctx: ctx, arrived: arrived, queued: arrived.Add(delay), prompt: q.Prompt.tokens, limit: limit, text: text, tokens: make(chan string, limit)}
	s.engine.submit(seq)
	return seq, nil
}

// wait returns after d or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// answer writes one request's tokens.
type answer struct {
	server  *Server
	chat    bool
	id      string
	created int64
	prompt  int
	// pause is the delay in the middle of the stream.
	pause time.Duration
}

func (a answer) usage(n int) map[string]any {
	return map[string]any{"prompt_tokens": a.prompt, "total_tokens": a.prompt + n, "completion_tokens": n}
}

func (a answer) object(streaming bool) string {
	switch {
	case !a.chat:
		return "text_completion"
	case streaming:
		return "chat.completion.chunk"
	default:
		return "chat.completion"
	}
}

func (a answer) body(streaming bool, choices []map[string]any) map[string]any {
	return map[string]any{"id": a.id, "object": a.object(streaming), "created": a.created, "model": a.server.config.Model, "choices": choices}
}

func (a answer) whole(w http.ResponseWriter, seq *sequence) {
	var text strings.Builder
	n := 0
	for t := range seq.tokens {
		text.WriteString(t)
		n++
	}
	if n < seq.limit {
		apiError(w, http.StatusInternalServerError, "InternalServerError", "Engine loop is not running. Inspect the stacktrace to find the original error.")
		return
	}
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": "length", "stop_reason": nil}
	if a.chat {
		choice["message"] = map[string]any{"role": "assistant", "content": text.String()}
	} else {
		choice["text"] = text.String()
	}
	body := a.body(false, []map[string]any{choice})
	body["usage"] = a.usage(n)
	writeJSON(w, http.StatusOK, body)
}

// stream sends server-sent events: one per token, the usage if requested, [DONE].
func (a answer) stream(ctx context.Context, w http.ResponseWriter, seq *sequence, usage bool) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	rc := http.NewResponseController(w)
	send := func(v map[string]any) {
		b, err := json.Marshal(v)
		if err != nil {
			return // cannot happen: maps of strings and numbers
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", b) // a disconnect ends the sequence's context
		_ = rc.Flush()
	}
	n := 0
	for t := range seq.tokens {
		n++
		if n == seq.limit/2+1 {
			wait(ctx, a.pause)
			a.server.metrics.paused(a.pause)
		}
		if a.chat && n == 1 {
			send(a.body(true, []map[string]any{{"index": 0, "delta": map[string]any{"role": "assistant", "content": ""}, "logprobs": nil, "finish_reason": nil}}))
		}
		choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": nil, "stop_reason": nil}
		if a.chat {
			choice["delta"] = map[string]any{"content": t}
		} else {
			choice["text"] = t
		}
		if n == seq.limit {
			choice["finish_reason"] = "length"
		}
		send(a.body(true, []map[string]any{choice}))
	}
	if n < seq.limit {
		return // the engine died: the stream ends without [DONE]
	}
	if usage {
		body := a.body(true, []map[string]any{})
		body["usage"] = a.usage(n)
		send(body)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	_ = rc.Flush()
}
