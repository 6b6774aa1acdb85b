package inference

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// version of vLLM whose API is simulated.
const version = "0.11.0"

// Server is one vLLM server. Call Run and serve it over HTTP.
type Server struct {
	config   Config
	language language
	engine   *engine
	metrics  *metrics
	mux      *http.ServeMux
	created  int64
	ready    atomic.Bool
	requests atomic.Int64
}

// New returns a server that has not loaded its model. If the context does not fit the KV cache,
// the error is a *ContextError, at which vLLM exits.
func New(c Config) (*Server, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("make inference server: %w", err)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	cache := c.cacheTokens(c.Modifiers().MaxModelLenBroken)
	if c.MaxModelLen > cache {
		return nil, &ContextError{MaxModelLen: c.MaxModelLen, CacheTokens: cache}
	}
	lang, err := newLanguage()
	if err != nil {
		return nil, fmt.Errorf("make inference server: %w", err)
	}
	m := newMetrics(c.Model, cache/blockTokens)
	s := &Server{config: c, language: lang, metrics: m, engine: newEngine(c, cache, m), mux: http.NewServeMux(), created: c.Now().Unix()}
	s.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	s.mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	s.mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": version})
	})
	s.mux.HandleFunc("GET /v1/models", s.models)
	s.mux.HandleFunc("POST /v1/completions", s.completions)
	s.mux.HandleFunc("POST /v1/chat/completions", s.chat)
	s.mux.Handle("GET /metrics", m.handler())
	return s, nil
}

// Run loads the model and then steps the engine until ctx ends.
func (s *Server) Run(ctx context.Context) {
	load := time.NewTimer(time.Duration(s.config.Figures.LoadSeconds * float64(time.Second)))
	defer load.Stop()
	select {
	case <-ctx.Done():
		return
	case <-load.C:
	}
	s.ready.Store(true)
	defer s.ready.Store(false)
	s.engine.run(ctx)
}

// Ready reports whether the model is loaded.
func (s *Server) Ready() bool { return s.ready.Load() }

// ServeHTTP responds 503 until the model is loaded.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.ready.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	root := cmp.Or(s.config.Root, s.config.Model)
	var cards []map[string]any
	for _, name := range append([]string{s.config.Model}, s.config.Aliases...) {
		cards = append(cards, map[string]any{
			"id": name, "object": "model", "created": s.created, "owned_by": "vllm",
			"root": root, "parent": nil, "max_model_len": s.config.MaxModelLen,
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": cards})
}

// apiError writes vLLM's error body.
func apiError(w http.ResponseWriter, status int, kind, format string, args ...any) {
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": fmt.Sprintf(format, args...), "type": kind, "param": nil, "code": status,
	}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client disconnected
}
